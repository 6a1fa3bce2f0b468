#include "admission/object_reading.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "json/access.h"
#include "json/dump.h"
#include "objects/value.h"

namespace strata::admission {
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

// One step of a path: a key, or a place in a list.
struct PathStep {
  bool is_index = false;
  std::string_view text;
};

// Takes the first step off a path such as "tasks[0].name". REQUIRES: it is not empty.
PathStep TakeStep(std::string_view& path) {
  const bool is_index = path.front() == '[';
  if (is_index) path.remove_prefix(1);
  const std::size_t end = std::min(path.find_first_of(is_index ? "]" : ".["), path.size());
  const PathStep step{is_index, path.substr(0, end)};
  path.remove_prefix(end);
  if (is_index && !path.empty()) path.remove_prefix(1);
  if (!path.empty() && path.front() == '.') path.remove_prefix(1);
  return step;
}

const nlohmann::json* Below(const nlohmann::json& value, const PathStep& step) {
  if (!step.is_index || !value.is_array()) return FindAt(value, {step.text});
  const auto place = WholeNumber(step.text, INT32_MAX);
  if (!place || static_cast<std::size_t>(*place) >= value.size()) return nullptr;
  return &value[static_cast<std::size_t>(*place)];
}

// The value at a path of keys and indexes such as "spec.tasks[0].name"; null when there is none.
nlohmann::json ValueAt(const nlohmann::json& object, std::string_view path) {
  const nlohmann::json* at = &object;
  while (!path.empty()) {
    at = Below(*at, TakeStep(path));
    if (at == nullptr) return nullptr;
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
  const auto document = objects::Document::ParseJson(DumpJson(object));
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

}  // namespace strata::admission
