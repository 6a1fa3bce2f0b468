#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace strata {

// Things in the order in which they changed: every change has the next version number. A reader
// that remembers a version asks what changed since, with repetitions, and looks at no more.
//
// Memory is bounded by how many things there are: a reader that is more changes behind than that is
// told so, and rescans everything.
template <typename IdType>
class TouchLog {
 public:
  // The version of this change, never 0.
  std::uint64_t Touch(IdType id) {
    constexpr std::size_t kChangesOfEach = 8;
    things_ = std::max<std::size_t>(things_, id.index() + 1);
    if (ids_.size() >= kChangesOfEach * things_) {  // the older half is forgotten
      const std::size_t half = ids_.size() / 2;
      ids_.erase(ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(half));
      first_ += half;
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
  std::size_t things_ = 64;  // as many as ids were seen, and some
};

}  // namespace strata
