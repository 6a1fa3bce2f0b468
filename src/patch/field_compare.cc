#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "patch/field_walk.h"

namespace strata::patch {
namespace {

using Json = nlohmann::json;
using schema::Schema;
using schema::Type;

// What an object that a server makes of nothing already has: a Go struct prints its plain fields,
// so these do not count as added with the object.
bool IsBornWith(const schema::Field* field) {
  if (field == nullptr || !field->required || !field->schema) return false;
  const Type type = field->schema->type;
  return type == Type::kObject || type == Type::kArray || type == Type::kMap;
}

bool IsBuiltIn(const Schema& schema) {
  return schema.type_name.starts_with("io.k8s.");
}

// The items of a list in the order of their elements; none when two are the same or one has none.
using SortedItems = std::vector<std::pair<std::string, const Json*>>;

std::optional<SortedItems> SortItems(const Schema& schema, Shape shape, const Json& list) {
  SortedItems items;
  items.reserve(list.size());
  for (const Json& item : list) {
    Result<std::string> element = ElementOf(schema, shape, item);
    if (!element) return std::nullopt;
    items.emplace_back(*std::move(element), &item);
  }
  std::sort(items.begin(), items.end());
  const auto same = std::adjacent_find(
      items.begin(), items.end(), [](const auto& a, const auto& b) { return a.first == b.first; });
  return same == items.end() ? std::optional(std::move(items)) : std::nullopt;
}

FieldSet Whole(const Schema* schema, const Json& value);

// Every place of an object or map that is new or gone, not the object itself.
FieldSet WholeMap(const Schema* schema, const Json& map) {
  FieldSet set;
  for (const auto& [name, value] : map.items()) {
    set.Attach(FieldElement(name), Whole(TypeOfField(schema, name).schema, value));
  }
  return set;
}

// Every place in a value that is new or gone, and itself.
FieldSet Whole(const Schema* schema, const Json& value) {
  FieldSet set;
  const Shape shape = ShapeOf(schema, value);
  if (shape == Shape::kFields) {
    set = WholeMap(schema, value);
  } else if (shape != Shape::kLeaf) {
    const std::optional<SortedItems> items = SortItems(*schema, shape, value);
    for (const auto& [element, item] : items.value_or(SortedItems())) {
      set.Attach(element, Whole(schema->items.get(), *item));
    }
  }
  set.AddSelf();
  return set;
}

// As Whole, of an object made of nothing.
FieldSet Born(const Schema* schema, const Json& map) {
  FieldSet set;
  for (const auto& [name, value] : map.items()) {
    const schema::Field* field = schema == nullptr ? nullptr : schema->Find(name);
    const Schema* type = TypeOfField(schema, name).schema;
    if (!IsBornWith(field) || value.empty() || ShapeOf(type, value) == Shape::kLeaf) {
      set.Attach(FieldElement(name), Whole(type, value));
      continue;
    }
    FieldSet below;
    if (value.is_object()) {
      below = Born(type, value);
    } else {
      const FieldSet whole = Whole(type, value);
      for (const FieldSet::Child& child : whole.Children()) {
        below.Attach(child.element, child.below);
      }
      if (below.IsEmpty()) below.AddSelf();
    }
    set.Attach(FieldElement(name), std::move(below));
  }
  return set;
}

void CompareValues(const Schema* schema, const Json& before, const Json& after, Comparison& out);

// Adds what was found below `element`.
void AttachBoth(const std::string& element, Comparison below, Comparison& out) {
  out.changed.Attach(element, std::move(below.changed));
  out.removed.Attach(element, std::move(below.removed));
}

void CompareItem(const Schema* schema,
                 const std::string& element,
                 const Json* before,
                 const Json* after,
                 Comparison& out) {
  if (before == nullptr || after == nullptr) {
    if (after != nullptr) out.changed.Attach(element, Whole(schema, *after));
    if (before != nullptr) out.removed.Attach(element, Whole(schema, *before));
    return;
  }
  Comparison below;
  CompareValues(schema, *before, *after, below);
  AttachBoth(element, std::move(below), out);
}

// Walks two objects in the order of their names.
template <typename Skip>
void CompareMaps(const Schema* schema,
                 const Json& before,
                 const Json& after,
                 Comparison& out,
                 const Skip& skip) {
  auto old = before.begin();
  auto now = after.begin();
  while (old != before.end() || now != after.end()) {
    const bool has_old = old != before.end() && (now == after.end() || old.key() <= now.key());
    const bool has_now = now != after.end() && (old == before.end() || now.key() <= old.key());
    const std::string& name = has_old ? old.key() : now.key();
    const bool same_scalar = has_old && has_now && !old->is_structured() && *old == *now;
    if (!same_scalar && !skip(name)) {
      CompareItem(TypeOfField(schema, name).schema,
                  FieldElement(name),
                  has_old ? &*old : nullptr,
                  has_now ? &*now : nullptr,
                  out);
    }
    if (has_old) ++old;
    if (has_now) ++now;
  }
}

void CompareLists(
    const Schema& schema, Shape shape, const Json& before, const Json& after, Comparison& out) {
  // Cheaper than to sort their items. Lists stand inside each other only as often as a schema says
  // so, unlike maps: to compare those whole at each level would take time quadratic in their depth.
  if (before == after) return;
  const std::optional<SortedItems> olds = SortItems(schema, shape, before);
  const std::optional<SortedItems> nows = SortItems(schema, shape, after);
  if (!olds || !nows) {
    out.changed.AddSelf();
    return;
  }
  auto old = olds->begin();
  auto now = nows->begin();
  while (old != olds->end() || now != nows->end()) {
    const bool has_old = old != olds->end() && (now == nows->end() || old->first <= now->first);
    const bool has_now = now != nows->end() && (old == olds->end() || now->first <= old->first);
    CompareItem(schema.items.get(),
                has_old ? old->first : now->first,
                has_old ? old->second : nullptr,
                has_now ? now->second : nullptr,
                out);
    if (has_old) ++old;
    if (has_now) ++now;
  }
}

bool IsNothing(const Json& value) {
  return value.is_null() || (value.is_structured() && value.empty());
}

void CompareValues(const Schema* schema, const Json& before, const Json& after, Comparison& out) {
  const Shape old_shape = ShapeOf(schema, before);
  const Shape shape = ShapeOf(schema, after);
  const bool both_nothing = IsNothing(before) && IsNothing(after);
  if (shape == old_shape && shape != Shape::kLeaf && !both_nothing) {
    if (shape != Shape::kFields) return CompareLists(*schema, shape, before, after, out);
    return CompareMaps(schema, before, after, out, [](std::string_view) { return false; });
  }
  if (before == after) return;
  if (old_shape != shape && !before.is_null()) out.removed = Whole(schema, before);
  out.changed = Whole(schema, after);
  // A place that is still there is not removed.
  out.removed = out.removed.Difference(out.changed);
}

Json TrackedMetadata(const Json& object) {
  Json tracked = Json::object();
  const auto found = object.find("metadata");
  if (found == object.end() || !found->is_object()) return tracked;
  for (const auto& [name, value] : found->items()) {
    if (!IsUntrackedMetadata(name)) tracked[name] = value;
  }
  return tracked;
}

// A field of the root that was not there.
FieldSet NewRootField(const Schema& schema, const std::string& name, const Json& value) {
  const Schema* type = TypeOfField(&schema, name).schema;
  const bool born_with = IsBuiltIn(schema) && (name == "spec" || name == "status");
  return born_with && value.is_object() ? Born(type, value) : Whole(type, value);
}

Comparison CompareWithNothing(const Schema& schema, const Json& after) {
  Comparison out;
  for (const auto& [name, value] : after.items()) {
    if (IsUntracked(name)) continue;
    FieldSet below = name == "metadata"
                         ? WholeMap(TypeOfField(&schema, name).schema, TrackedMetadata(after))
                         : NewRootField(schema, name, value);
    out.changed.Attach(FieldElement(name), std::move(below));
  }
  return out;
}

}  // namespace

Comparison Compare(const Schema& schema, const Json* before, const Json& after) {
  if (before == nullptr) return CompareWithNothing(schema, after);
  Comparison out;
  CompareMaps(&schema, *before, after, out, [before](const std::string& name) {
    return IsUntracked(name) || name == "metadata" || !before->contains(name);
  });
  for (const auto& [name, value] : after.items()) {
    if (IsUntracked(name) || name == "metadata" || before->contains(name)) continue;
    out.changed.Attach(FieldElement(name), NewRootField(schema, name, value));
  }
  Comparison metadata;
  const Json old_metadata = TrackedMetadata(*before);
  const Json metadata_now = TrackedMetadata(after);
  CompareMaps(TypeOfField(&schema, "metadata").schema,
              old_metadata,
              metadata_now,
              metadata,
              [](std::string_view) { return false; });
  AttachBoth("f:metadata", std::move(metadata), out);
  return out;
}

}  // namespace strata::patch
