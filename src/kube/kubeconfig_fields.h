#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/result.h"
#include "objects/value.h"

namespace strata::kube {

// A place in a kubeconfig. Messages name it and never quote what is there.
class ConfigField {
 public:
  ConfigField(std::string where, const objects::Value& value)
      : where_(std::move(where)), value_(value) {}

  [[nodiscard]] tl::unexpected<Error> Bad(std::string_view want) const {
    const std::string where = where_.empty() ? "" : where_ + ": ";
    return Fail(Code::kInvalidArgument, where + "want " + std::string(want));
  }

  // Calls `read(key, field)` for each member that is not null.
  using ReadMember = std::function<Status(std::string_view, const ConfigField&)>;
  [[nodiscard]] Status ForEachMember(const ReadMember& read) const {
    if (value_.type() != objects::Value::Type::kObject) return Bad("an object");
    for (const auto& [key, value] : value_.Members()) {
      if (value.type() == objects::Value::Type::kNull) continue;
      const std::string where =
          where_.empty() ? std::string(key) : fmt::format("{}.{}", where_, key);
      TRY(read(key, ConfigField(where, value)));
    }
    return {};
  }

  [[nodiscard]] Status ForEachItem(const std::function<Status(const ConfigField&)>& read) const {
    if (value_.type() != objects::Value::Type::kArray) return Bad("a list");
    int index = 0;
    for (const objects::Value& item : value_.Items()) {
      TRY(read(ConfigField(fmt::format("{}[{}]", where_, index++), item)));
    }
    return {};
  }

  [[nodiscard]] Status Read(std::string& out) const {
    if (value_.type() != objects::Value::Type::kString) return Bad("a string");
    out = value_.AsString();
    return {};
  }
  [[nodiscard]] Status Read(bool& out) const {
    if (value_.type() != objects::Value::Type::kBool) return Bad("true or false");
    out = value_.AsBool();
    return {};
  }

 private:
  std::string where_;
  objects::Value value_;
};

}  // namespace strata::kube
