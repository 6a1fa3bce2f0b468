#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/store/object_store.h"
#include "base/clock.h"

namespace strata::apiserver {

// The lists that clients are reading page by page. A page token names one; it is kept until its
// last page was read, for five minutes after the latest, or until so many others were begun.
class ListSnapshots {
 public:
  // Keeps `objects` (what is left to show, in order) and gives its id.
  std::uint64_t Keep(std::shared_ptr<const Snapshot> snapshot, Time now);
  // nullptr when it is no longer kept.
  [[nodiscard]] std::shared_ptr<const Snapshot> Find(std::uint64_t id, Time now);
  void Drop(std::uint64_t id);

 private:
  struct Entry {
    std::uint64_t id = 0;
    Time used;
    std::shared_ptr<const Snapshot> snapshot;
  };
  static constexpr std::size_t kMost = 64;

  std::vector<Entry> entries_;  // by id
  std::uint64_t next_ = 1;
};

}  // namespace strata::apiserver
