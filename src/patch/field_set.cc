#include "patch/field_set.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "base/utf8.h"
#include "json/dump.h"
#include "json/parse.h"
#include "patch/limits.h"
#include "schema/path.h"

namespace strata::patch {
namespace {

using Json = nlohmann::json;
using Child = FieldSet::Child;

bool ComesBefore(const Child& child, std::string_view element) {
  return child.element < element;
}

// The one form of a path element; none when it is not an element.
std::optional<std::string> Canonical(const std::string& element) {
  if (element.size() < 2 || element[1] != ':') return std::nullopt;
  const std::string_view rest = std::string_view(element).substr(2);
  if (element[0] == 'f') return element;
  if (element[0] == 'i') {
    const auto index = WholeNumber(rest, std::numeric_limits<std::int64_t>::max());
    return index ? std::optional("i:" + std::to_string(*index)) : std::nullopt;
  }
  if (element[0] != 'k' && element[0] != 'v') return std::nullopt;
  const Result<Json> value = ParseJson(rest, kMaxDepth);
  if (!value || !CheckDepth(*value)) return std::nullopt;
  if (element[0] == 'k' && (!value->is_object() || value->empty())) return std::nullopt;
  return element.substr(0, 2) + DumpJson(*value);
}

void AppendElement(const std::string& element, std::string& path) {
  const auto shown = [](std::string_view text) { return CutUtf8(text, schema::kShownKey); };
  const std::string_view rest = std::string_view(element).substr(2);
  if (element[0] == 'f') {
    path += '.';
    path += shown(rest);
    return;
  }
  path += '[';
  if (element[0] == 'v') path += '=';
  if (element[0] != 'k') {
    path += shown(rest);
  } else {
    const Json keys = ParseJsonOrNull(rest);
    bool first = true;
    for (const auto& [key, value] : keys.items()) {
      if (!first) path += ',';
      first = false;
      path += shown(key);
      path += '=';
      path += shown(DumpJson(value));
    }
  }
  path += ']';
}

void CollectPaths(const FieldSet& set,
                  std::size_t max,
                  std::string& path,
                  std::vector<std::string>& out) {
  if (out.size() >= max) return;
  if (set.IsMember()) out.push_back(path);
  const std::size_t length = path.size();
  for (const Child& child : set.Children()) {
    if (out.size() >= max) return;
    AppendElement(child.element, path);
    CollectPaths(child.below, max, path, out);
    path.resize(length);
  }
}

Result<FieldSet> Read(const Json& fields, std::size_t levels) {
  if (!fields.is_object() || levels == 0) {
    return Fail(Code::kInvalidArgument, "fieldsV1 is not a tree of fields");
  }
  bool is_member = false;
  std::vector<Child> children;
  for (const auto& [key, below] : fields.items()) {
    if (key == ".") {
      is_member = true;
      continue;
    }
    std::optional<std::string> element = Canonical(key);
    if (!element) return Fail(Code::kInvalidArgument, "fieldsV1: no path element: " + key);
    TRY_ASSIGN(FieldSet child, Read(below, levels - 1));
    if (below.empty()) child.AddSelf();
    children.push_back(Child{*std::move(element), std::move(child)});
  }
  FieldSet set = FieldSet::Of(std::move(children));
  if (is_member) set.AddSelf();
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

FieldSet FieldSet::Of(std::vector<Child> children) {
  std::sort(children.begin(), children.end(), [](const Child& a, const Child& b) {
    return a.element < b.element;
  });
  FieldSet set;
  for (Child& child : children) set.Attach(std::move(child.element), std::move(child.below));
  return set;
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
  Below(element).Add(std::move(below));
}

void FieldSet::Add(FieldSet other) {
  is_member_ = is_member_ || other.is_member_;
  const std::size_t known = children_.size();
  auto at = children_.begin();
  std::vector<Child> fresh;
  for (Child& child : other.children_) {
    at = std::lower_bound(at, children_.end(), child.element, ComesBefore);
    if (at != children_.end() && at->element == child.element) {
      at->below.Add(std::move(child.below));
    } else {
      fresh.push_back(std::move(child));
    }
  }
  if (fresh.empty()) return;
  children_.insert(children_.end(),
                   std::make_move_iterator(fresh.begin()),
                   std::make_move_iterator(fresh.end()));
  std::inplace_merge(children_.begin(),
                     children_.begin() + static_cast<std::ptrdiff_t>(known),
                     children_.end(),
                     [](const Child& a, const Child& b) { return a.element < b.element; });
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

std::vector<std::string> FieldSet::Paths(std::size_t max) const {
  std::vector<std::string> paths;
  std::string path;
  CollectPaths(*this, max, path, paths);
  return paths;
}

std::size_t FieldSet::Count() const {
  std::size_t count = is_member_ ? 1 : 0;
  for (const Child& child : children_) count += child.below.Count();
  return count;
}

}  // namespace strata::patch
