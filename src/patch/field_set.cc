#include "patch/field_set.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "patch/limits.h"

namespace strata::patch {
namespace {

using Json = nlohmann::json;
using Child = FieldSet::Child;

bool ComesBefore(const Child& child, std::string_view element) {
  return child.element < element;
}

std::string Text(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The one form of a path element; none when it is no element.
std::optional<std::string> Canonical(const std::string& element) {
  if (element.size() < 2 || element[1] != ':') return std::nullopt;
  const std::string_view rest = std::string_view(element).substr(2);
  if (element[0] == 'f') return element;
  if (element[0] == 'i') {
    const auto index = WholeNumber(rest, std::numeric_limits<std::int64_t>::max());
    return index ? std::optional("i:" + std::to_string(*index)) : std::nullopt;
  }
  if (element[0] != 'k' && element[0] != 'v') return std::nullopt;
  const Json value = Json::parse(rest, nullptr, false);
  if (value.is_discarded() || !CheckDepth(value)) return std::nullopt;
  if (element[0] == 'k' && (!value.is_object() || value.empty())) return std::nullopt;
  return element.substr(0, 2) + Text(value);
}

void AppendElement(const std::string& element, std::string& path) {
  const std::string_view rest = std::string_view(element).substr(2);
  if (element[0] == 'f') {
    path += '.';
    path += rest;
    return;
  }
  path += '[';
  if (element[0] == 'v') path += '=';
  if (element[0] != 'k') {
    path += rest;
  } else {
    const Json keys = Json::parse(rest, nullptr, false);
    bool first = true;
    for (const auto& [key, value] : keys.items()) {
      if (!first) path += ',';
      first = false;
      path += key + "=" + Text(value);
    }
  }
  path += ']';
}

void CollectPaths(const FieldSet& set, std::string& path, std::vector<std::string>& out) {
  if (set.IsMember()) out.push_back(path);
  const std::size_t length = path.size();
  for (const Child& child : set.Children()) {
    AppendElement(child.element, path);
    CollectPaths(child.below, path, out);
    path.resize(length);
  }
}

Result<FieldSet> Read(const Json& fields, std::size_t levels) {
  if (!fields.is_object() || levels == 0) {
    return Fail(Code::kInvalidArgument, "fieldsV1 is no tree of fields");
  }
  FieldSet set;
  for (const auto& [key, below] : fields.items()) {
    if (key == ".") {
      set.AddSelf();
      continue;
    }
    std::optional<std::string> element = Canonical(key);
    if (!element) return Fail(Code::kInvalidArgument, "fieldsV1: no path element: " + key);
    TRY_ASSIGN(FieldSet child, Read(below, levels - 1));
    if (below.empty()) child.AddSelf();
    set.Attach(*std::move(element), std::move(child));
  }
  return set;
}

Json Write(const FieldSet& set) {
  Json fields = Json::object();
  auto& map = fields.get_ref<Json::object_t&>();
  if (set.IsMember() && !set.Children().empty()) map.emplace_hint(map.end(), ".", Json::object());
  for (const Child& child : set.Children()) {
    map.emplace_hint(map.end(), child.element, Write(child.below));
  }
  return fields;
}

}  // namespace

const FieldSet* FieldSet::Find(std::string_view element) const {
  const auto at = std::lower_bound(children_.begin(), children_.end(), element, ComesBefore);
  return at != children_.end() && at->element == element ? &at->below : nullptr;
}

FieldSet& FieldSet::Below(std::string_view element) {
  if (children_.empty() || children_.back().element < element) {
    return children_.emplace_back(Child{std::string(element), {}}).below;
  }
  const auto at = std::lower_bound(children_.begin(), children_.end(), element, ComesBefore);
  if (at != children_.end() && at->element == element) return at->below;
  return children_.insert(at, Child{std::string(element), {}})->below;
}

void FieldSet::Attach(std::string element, FieldSet below) {
  if (below.IsEmpty()) return;
  if (children_.empty() || children_.back().element < element) {
    children_.push_back(Child{std::move(element), std::move(below)});
    return;
  }
  FieldSet& place = Below(element);
  place = place.IsEmpty() ? std::move(below) : place.Union(below);
}

FieldSet FieldSet::Union(const FieldSet& other) const {
  FieldSet result;
  result.is_member_ = is_member_ || other.is_member_;
  auto mine = children_.begin();
  auto theirs = other.children_.begin();
  while (mine != children_.end() && theirs != other.children_.end()) {
    const int order = mine->element.compare(theirs->element);
    if (order < 0) {
      result.children_.push_back(*mine++);
    } else if (order > 0) {
      result.children_.push_back(*theirs++);
    } else {
      result.children_.push_back(Child{mine->element, mine->below.Union(theirs->below)});
      ++mine;
      ++theirs;
    }
  }
  result.children_.insert(result.children_.end(), mine, children_.end());
  result.children_.insert(result.children_.end(), theirs, other.children_.end());
  return result;
}

FieldSet FieldSet::Difference(const FieldSet& other) const {
  FieldSet result;
  result.is_member_ = is_member_ && !other.is_member_;
  for (const Child& child : children_) {
    const FieldSet* theirs = other.Find(child.element);
    if (theirs == nullptr) {
      result.children_.push_back(child);
    } else {
      result.Attach(child.element, child.below.Difference(*theirs));
    }
  }
  return result;
}

FieldSet FieldSet::Intersection(const FieldSet& other) const {
  FieldSet result;
  result.is_member_ = is_member_ && other.is_member_;
  for (const Child& child : children_) {
    if (const FieldSet* theirs = other.Find(child.element)) {
      result.Attach(child.element, child.below.Intersection(*theirs));
    }
  }
  return result;
}

bool FieldSet::operator==(const FieldSet& other) const {
  return is_member_ == other.is_member_ && children_ == other.children_;
}

Json FieldSet::ToJson() const {
  Json fields = Write(*this);
  if (is_member_ && children_.empty()) fields["."] = Json::object();
  return fields;
}

Result<FieldSet> FieldSet::FromJson(const Json& fields_v1) {
  return Read(fields_v1, kMaxDepth);
}

std::vector<std::string> FieldSet::Paths() const {
  std::vector<std::string> paths;
  std::string path;
  CollectPaths(*this, path, paths);
  return paths;
}

}  // namespace strata::patch
