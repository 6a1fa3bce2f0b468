#include "objects/value_to_json.h"

#include <string>

#include <nlohmann/json.hpp>

namespace strata::objects {

nlohmann::json ToJson(const Value& value) {
  using Json = nlohmann::json;
  switch (value.type()) {
    case Value::Type::kNull:
      return nullptr;
    case Value::Type::kBool:
      return value.AsBool();
    case Value::Type::kInteger:
      return value.AsInteger();
    case Value::Type::kNumber:
      return value.AsNumber();
    case Value::Type::kString:
      return value.AsString();
    case Value::Type::kArray: {
      Json list = Json::array();
      for (const Value& item : value.Items()) list.push_back(ToJson(item));
      return list;
    }
    case Value::Type::kObject: {
      Json object = Json::object();
      for (const Value::Member& member : value.Members()) {
        object[std::string(member.key)] = ToJson(member.value);
      }
      return object;
    }
  }
  return nullptr;
}

}  // namespace strata::objects
