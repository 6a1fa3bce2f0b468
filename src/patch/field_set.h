#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"

namespace strata::patch {

// A set of places in an object, as metadata.managedFields names them: a tree of path elements.
//
//   f:<name>           a field, or a key of a map
//   k:<keys as JSON>   the item of a list with these keys
//   v:<value as JSON>  an item of a list that is a set
//   i:<index>          an item of a list by its place
//
// A place can be in the set without what is inside it, and the other way round. A value type.
// Difference and intersection take time linear in the size of the one they are asked of, times the
// logarithm of the other.
class FieldSet {
 public:
  struct Child;

  [[nodiscard]] bool IsEmpty() const { return !is_member_ && children_.empty(); }
  // Whether the place this tree hangs at is itself in the set.
  [[nodiscard]] bool IsMember() const { return is_member_; }
  [[nodiscard]] const std::vector<Child>& Children() const { return children_; }
  // What is below one element; nullptr for nothing.
  [[nodiscard]] const FieldSet* Find(std::string_view element) const;

  // The set of these trees, in any order; those of one element are united, empty ones left out.
  [[nodiscard]] static FieldSet Of(std::vector<Child> children);

  void AddSelf() { is_member_ = true; }
  // The tree below `element`, made where it is missing. An empty one must not be left behind: see
  // Attach. Cheapest when elements come in ascending order.
  FieldSet& Below(std::string_view element);
  // Puts a tree below `element`, united with what is there; an empty one leaves no trace. Cheap in
  // ascending order only.
  void Attach(std::string element, FieldSet below);

  // Puts all of `other` into this set. Moves what is there: many small sets go into a large one for
  // little more than their own size.
  void Add(FieldSet other);
  [[nodiscard]] FieldSet Difference(const FieldSet& other) const;
  [[nodiscard]] FieldSet Intersection(const FieldSet& other) const;
  [[nodiscard]] bool operator==(const FieldSet& other) const;

  // The fieldsV1 form, {"f:data":{".":{},"f:a":{}}}. FromJson refuses what is none
  // (kInvalidArgument), and writes keys in one form, so that equal elements are equal texts.
  [[nodiscard]] nlohmann::json ToJson() const;
  [[nodiscard]] static Result<FieldSet> FromJson(const nlohmann::json& fields_v1);

  // The first places in the set, at most `max`, as messages name them:
  // ".spec.containers[name=\"a\"].image". Long names and values are cut.
  [[nodiscard]] std::vector<std::string> Paths(std::size_t max) const;
  // How many places are in the set.
  [[nodiscard]] std::size_t Count() const;

 private:
  bool is_member_ = false;
  std::vector<Child> children_;  // ascending by element; none is empty
};

struct FieldSet::Child {
  std::string element;
  FieldSet below;

  [[nodiscard]] bool operator==(const Child& other) const = default;
};

}  // namespace strata::patch
