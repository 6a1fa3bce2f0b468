#include "wire/message_to_json.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>
#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "base/timestamp.h"
#include "json/parse.h"

namespace strata::wire {
namespace {

using Json = nlohmann::json;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;

constexpr std::size_t kMaxEmbeddedDepth = 100;
constexpr int kMaxUnknownDepth = 10;

// Messages whose fields JSON has in the object around them.
constexpr std::array<std::string_view, 5> kInlined = {"ephemeralContainerCommon",
                                                      "handler",
                                                      "localObjectReference",
                                                      "persistentVolumeSource",
                                                      "volumeSource"};

bool IsInlined(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE &&
         std::find(kInlined.begin(), kInlined.end(), field.name()) != kInlined.end();
}

tl::unexpected<Error> Unreadable(std::string message) {
  return Fail(Code::kInvalidArgument, std::move(message));
}

bool IsEmptySet(const UnknownFieldSet& fields, int levels);

// Clients send fields that are not set, too; those of a newer client say nothing.
bool IsEmptyField(const UnknownField& field, int levels) {
  switch (field.type()) {
    case UnknownField::TYPE_VARINT:
      return field.varint() == 0;
    case UnknownField::TYPE_FIXED32:
      return field.fixed32() == 0;
    case UnknownField::TYPE_FIXED64:
      return field.fixed64() == 0;
    case UnknownField::TYPE_LENGTH_DELIMITED: {
      const std::string& bytes = field.length_delimited();
      if (bytes.empty()) return true;
      UnknownFieldSet inner;
      return levels > 0 && inner.ParseFromString(bytes) && IsEmptySet(inner, levels - 1);
    }
    case UnknownField::TYPE_GROUP:
      return false;
  }
  return false;
}

bool IsEmptySet(const UnknownFieldSet& fields, int levels) {
  for (int i = 0; i < fields.field_count(); ++i) {
    if (!IsEmptyField(fields.field(i), levels)) return false;
  }
  return true;
}

Status CheckUnknown(const Message& message) {
  const UnknownFieldSet& fields = message.GetReflection()->GetUnknownFields(message);
  for (int i = 0; i < fields.field_count(); ++i) {
    if (IsEmptyField(fields.field(i), kMaxUnknownDepth)) continue;
    return Unreadable(fmt::format("{} has field {}, which this server does not read as protobuf",
                                  message.GetDescriptor()->name(),
                                  fields.field(i).number()));
  }
  return {};
}

struct Moment {
  std::int64_t seconds;
  std::int32_t nanos;
};

Moment MomentOf(const Message& message) {
  const Descriptor& type = *message.GetDescriptor();
  const Reflection& reflection = *message.GetReflection();
  return {reflection.GetInt64(message, type.field(0)), reflection.GetInt32(message, type.field(1))};
}

Result<Json> TimeToJson(const Message& message) {
  constexpr std::int64_t kFirst = -62'135'596'800;  // year 1
  constexpr std::int64_t kLast = 253'402'300'799;   // year 9999
  constexpr std::int32_t kNanosPerSecond = 1'000'000'000;
  const Moment moment = MomentOf(message);
  if (moment.seconds == 0 && moment.nanos == 0) return Json();
  if (moment.seconds < kFirst || moment.seconds > kLast || moment.nanos < 0 ||
      moment.nanos >= kNanosPerSecond) {
    return Unreadable("a time is out of range");
  }
  std::string text = FormatTimestamp(Time(std::chrono::seconds(moment.seconds)));
  if (message.GetDescriptor()->name() == "MicroTime") {
    text.pop_back();
    text += fmt::format(".{:06}Z", moment.nanos / 1000);
  }
  return Json(std::move(text));
}

Json IntOrStringToJson(const Message& message) {
  const Descriptor& type = *message.GetDescriptor();
  const Reflection& reflection = *message.GetReflection();
  if (reflection.GetInt64(message, type.FindFieldByNumber(1)) == 0) {
    return reflection.GetInt32(message, type.FindFieldByNumber(2));
  }
  return reflection.GetString(message, type.FindFieldByNumber(3));
}

std::string FirstText(const Message& message) {
  return message.GetReflection()->GetString(message, message.GetDescriptor()->field(0));
}

// One value of a field: element `index` of a repeated one, or the only one where that is -1.
class FieldValue {
 public:
  FieldValue(const Message& message, const FieldDescriptor& field, int index)
      : message_(message), reflection_(*message.GetReflection()), field_(field), index_(index) {}

  [[nodiscard]] Result<Json> ToJson() const {
    switch (field_.cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return MessageToJson(SubMessage());
      case FieldDescriptor::CPPTYPE_STRING: {
        std::string text = Text();
        if (field_.type() == FieldDescriptor::TYPE_BYTES) text = EncodeBase64(text);
        return Json(std::move(text));
      }
      case FieldDescriptor::CPPTYPE_BOOL:
        return Json(index_ < 0 ? reflection_.GetBool(message_, &field_)
                               : reflection_.GetRepeatedBool(message_, &field_, index_));
      case FieldDescriptor::CPPTYPE_INT32:
        return Json(index_ < 0 ? reflection_.GetInt32(message_, &field_)
                               : reflection_.GetRepeatedInt32(message_, &field_, index_));
      case FieldDescriptor::CPPTYPE_INT64:
        return Json(index_ < 0 ? reflection_.GetInt64(message_, &field_)
                               : reflection_.GetRepeatedInt64(message_, &field_, index_));
      default:  // our files have no other types
        return Fail(Code::kInternal, "protobuf type of " + field_.full_name());
    }
  }

 private:
  [[nodiscard]] const Message& SubMessage() const {
    return index_ < 0 ? reflection_.GetMessage(message_, &field_)
                      : reflection_.GetRepeatedMessage(message_, &field_, index_);
  }
  [[nodiscard]] std::string Text() const {
    return index_ < 0 ? reflection_.GetString(message_, &field_)
                      : reflection_.GetRepeatedString(message_, &field_, index_);
  }

  const Message& message_;
  const Reflection& reflection_;
  const FieldDescriptor& field_;
  int index_;
};

Result<Json> MapToJson(const Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  Json map = Json::object();
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    const Message& entry = reflection.GetRepeatedMessage(message, &field, i);
    TRY_ASSIGN(map[FirstText(entry)],
               FieldValue(entry, *entry.GetDescriptor()->field(1), -1).ToJson());
  }
  return map;
}

Result<Json> ListToJson(const Message& message, const FieldDescriptor& field) {
  Json list = Json::array();
  for (int i = 0; i < message.GetReflection()->FieldSize(message, &field); ++i) {
    TRY_ASSIGN(Json item, FieldValue(message, field, i).ToJson());
    list.push_back(std::move(item));
  }
  return list;
}

Result<Json> ValueToJson(const Message& message, const FieldDescriptor& field) {
  if (field.is_map()) return MapToJson(message, field);
  if (field.is_repeated()) return ListToJson(message, field);
  return FieldValue(message, field, -1).ToJson();
}

}  // namespace

Result<Json> MessageToJson(const Message& message) {
  const std::string& type = message.GetDescriptor()->name();
  if (type == "Time" || type == "MicroTime") return TimeToJson(message);
  if (type == "Quantity") return Json(FirstText(message));
  if (type == "IntOrString") return IntOrStringToJson(message);
  if (type == "FieldsV1") return ParseEmbeddedJson(FirstText(message));
  TRY(CheckUnknown(message));
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  Json object = Json::object();
  for (const FieldDescriptor* field : fields) {
    Result<Json> value = ValueToJson(message, *field);
    if (!value) return tl::unexpected(std::move(value).error().Context(field->name()));
    if (value->is_null()) continue;
    if (IsInlined(*field)) {
      object.update(*value);
    } else {
      object[field->name()] = *std::move(value);
    }
  }
  return object;
}

Result<Json> ParseEmbeddedJson(std::string_view text) {
  Result<Json> value = ParseJson(text, kMaxEmbeddedDepth);
  if (!value) return Unreadable("JSON that cannot be read");
  return value;
}

}  // namespace strata::wire
