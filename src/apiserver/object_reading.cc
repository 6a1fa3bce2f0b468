#include "apiserver/object_reading.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <nlohmann/json.hpp>

#include "apiserver/json_view.h"
#include "base/ascii.h"
#include "objects/value.h"

namespace strata::apiserver {
namespace {

// "spec.weight: found 0, want ..." and its two halves.
struct FieldError {
  std::string field;
  std::string message;
};

FieldError SplitError(const std::string& field, std::string_view error) {
  const std::size_t colon = error.find(": ");
  if (colon == std::string_view::npos) return {field, std::string(error)};
  const std::string_view path = error.substr(0, colon);
  const std::string below = field.empty() || path.empty() ? "" : ".";
  return {field + below + std::string(path), std::string(error.substr(colon + 2))};
}

// The value at a path of keys and indexes such as "spec.tasks[0].name"; null when there is none.
nlohmann::json ValueAt(const nlohmann::json& object, std::string_view path) {
  const nlohmann::json* at = &object;
  while (!path.empty()) {
    const bool index = path.front() == '[';
    const std::size_t end = index ? path.find(']') : path.find_first_of(".[");
    const std::string_view key = path.substr(index ? 1 : 0, end - (index ? 1 : 0));
    path.remove_prefix(end == std::string_view::npos ? path.size() : end + (index ? 1 : 0));
    if (!path.empty() && path.front() == '.') path.remove_prefix(1);
    if (index && at->is_array()) {
      const auto place = WholeNumber(key, INT32_MAX);
      if (!place || static_cast<std::size_t>(*place) >= at->size()) return nullptr;
      at = &(*at)[static_cast<std::size_t>(*place)];
    } else {
      at = FindAt(*at, {key});
      if (at == nullptr) return nullptr;
    }
  }
  // Lists and objects are too long for a message; a real server names their type, too.
  if (at->is_structured()) return at->type_name();
  return *at;
}

}  // namespace

bool ReadWith(const nlohmann::json& object,
              const std::string& field,
              const std::function<void(const objects::Cursor&)>& read,
              Problems& problems) {
  const auto document = objects::Document::ParseJson(Shown(object));
  if (!document) {
    problems.Invalid(field, nullptr, document.error().message);
    return false;
  }
  objects::ReadLog log;
  const objects::Cursor cursor(document->root(), log);
  read(cursor);
  if (log.error.empty()) return true;
  const FieldError error = SplitError(field, log.error);
  const std::string below =
      field.empty() ? error.field
                    : error.field.substr(std::min(error.field.size(), field.size() + 1));
  if (error.message == "is required") {
    problems.Required(error.field);
  } else {
    problems.Invalid(error.field, ValueAt(object, below), error.message);
  }
  return false;
}

}  // namespace strata::apiserver
