#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "apiserver/store/object_store.h"
#include "apiserver/store/object_store_factory.h"
#include "base/clock.h"
#include "base/result.h"

namespace strata::apiserver {

// The changes of one resource, newest last, as far back as the limits allow. Each has an index that
// it keeps; the first ever has 0.
class History {
 public:
  // Nothing is known of what happened up to version `start`.
  History(HistoryLimits limits, std::int64_t start) : limits_(limits), floor_(start) {}

  // `now` is the time of a clock that nobody sets. REQUIRES: a version higher than all before.
  void Append(Change change, Duration now);

  // The index of the first change after `version`, of the next one if there is none yet. kGone
  // when there may have been changes after `version` that are no longer here.
  [[nodiscard]] Result<std::uint64_t> IndexAfter(std::int64_t version) const;
  [[nodiscard]] bool Reaches(std::uint64_t index) const { return index >= first_; }
  // Null when it has not come yet. Good until the next Append. REQUIRES: Reaches(index).
  [[nodiscard]] const Change* At(std::uint64_t index) const;

 private:
  struct Entry {
    Change change;
    Duration when;
  };

  HistoryLimits limits_;
  std::deque<Entry> changes_;
  std::uint64_t first_ = 0;  // the index of changes_.front()
  std::size_t bytes_ = 0;
  std::int64_t floor_;  // changes up to here are not, or not all, in changes_
};

}  // namespace strata::apiserver
