#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace strata {

// Things in the order in which they changed: every change has the next version number. A reader
// that remembers a version asks what changed since, with repetitions, and looks at no more.
//
// Memory is bounded: who slept through very many changes is told so, and looks at everything.
template <typename IdType>
class TouchLog {
 public:
  // The version of this change, never 0.
  std::uint64_t Touch(IdType id) {
    constexpr std::size_t kRemembered = std::size_t{1} << 20U;
    if (ids_.size() >= kRemembered) {
      first_ += ids_.size();
      ids_.clear();
    }
    ids_.push_back(id);
    return Next() - 1;
  }
  // The version that the next change will have.
  [[nodiscard]] std::uint64_t Next() const { return first_ + ids_.size(); }
  // What changed in `version` and later; none when that is too long ago. Valid until the next
  // change.
  [[nodiscard]] std::optional<std::span<const IdType>> Since(std::uint64_t version) const {
    if (version < first_) return std::nullopt;
    return std::span(ids_).subspan(version - first_);
  }

 private:
  std::vector<IdType> ids_;  // that of version first_ + i
  std::uint64_t first_ = 1;
};

}  // namespace strata
