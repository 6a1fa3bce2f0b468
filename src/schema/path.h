#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace strata::schema {

// A message about an object must not be much longer than the object, so keys in it are cut.
inline constexpr std::size_t kShownKey = 256;

// Where a walk is in an object: a chain through the stack frames of the walk, spelled out only when
// somebody asks. A path must not outlive its parent, nor the key it was made with.
class Path {
 public:
  Path() = default;
  [[nodiscard]] Path Key(std::string_view key) const { return Path(this, key, 0); }
  [[nodiscard]] Path Index(std::size_t index) const { return Path(this, {}, index); }

  // "spec.containers[0].name", "" at the root. A long key is cut after kShownKey bytes.
  [[nodiscard]] std::string ToString() const;

 private:
  Path(const Path* parent, std::string_view key, std::size_t index)
      : parent_(parent), key_(key), index_(index) {}

  void AppendTo(std::string& text) const;

  const Path* parent_ = nullptr;
  std::string_view key_;  // with a null data(): an index
  std::size_t index_ = 0;
};

}  // namespace strata::schema
