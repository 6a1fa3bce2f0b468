#include "apiserver/store/index.h"

#include <simdjson.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/ascii.h"

namespace strata::apiserver {
namespace {

using simdjson::dom::element;

// The member of that name, none when `of` is not an object or has none.
std::optional<element> Member(element of, std::string_view name) {
  element found;
  if (of[name].get(found) != simdjson::SUCCESS) return std::nullopt;
  return found;
}

// A string's text, or a number or boolean as JSON writes it; none for everything else.
std::optional<std::string> ScalarText(element value) {
  switch (value.type()) {
    case simdjson::dom::element_type::STRING:
      return std::string(value.get_string().value_unsafe());
    case simdjson::dom::element_type::BOOL:
    case simdjson::dom::element_type::INT64:
    case simdjson::dom::element_type::UINT64:
    case simdjson::dom::element_type::DOUBLE:
      return simdjson::minify(value);
    default:
      return std::nullopt;
  }
}

std::optional<std::string> FieldText(element root, std::string_view path) {
  std::optional<element> at = root;
  for (const std::string_view name : Split(path, '.')) {
    at = Member(*at, name);
    if (!at) return std::nullopt;
  }
  return ScalarText(*at);
}

Pairs LabelsOf(element metadata) {
  Pairs labels;
  const std::optional<element> found = Member(metadata, "labels");
  simdjson::dom::object members;
  if (!found || found->get(members) != simdjson::SUCCESS) return labels;
  for (const auto member : members) {
    std::string_view value;
    if (member.value.get(value) != simdjson::SUCCESS) continue;
    labels.emplace_back(member.key, value);
  }
  std::sort(labels.begin(), labels.end());
  return labels;
}

}  // namespace

struct ObjectIndexer::Impl {
  simdjson::dom::parser parser;
};

ObjectIndexer::ObjectIndexer() : impl_(std::make_unique<Impl>()) {}

ObjectIndexer::~ObjectIndexer() = default;

Status ObjectIndexer::Index(const std::vector<std::string>& paths, StoredObject& object) {
  element root;
  if (impl_->parser.parse(object.body).get(root) != simdjson::SUCCESS || !root.is_object()) {
    return Fail(Code::kInvalidArgument, "not a JSON object, or nested too deep");
  }
  object.uid.clear();
  object.labels.clear();
  object.fields.clear();
  if (const std::optional<element> metadata = Member(root, "metadata")) {
    object.uid = FieldText(*metadata, "uid").value_or("");
    object.labels = LabelsOf(*metadata);
  }
  for (const std::string& path : paths) {
    if (std::optional<std::string> text = FieldText(root, path)) {
      object.fields.emplace_back(path, std::move(*text));
    }
  }
  std::sort(object.fields.begin(), object.fields.end());
  return {};
}

}  // namespace strata::apiserver
