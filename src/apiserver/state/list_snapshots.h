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
// last page was read, for five minutes after the latest, or until others need its room: there are
// 64 at most, with objects of 256 MiB together (a single one may have more). Moments are those of
// Timers::Elapsed.
class ListSnapshots {
 public:
  // What a list is of: resource, namespace and selectors, as one text.
  struct List {
    std::string of;
    std::shared_ptr<const Snapshot> snapshot;
  };
  // Keeps it and gives its id.
  std::uint64_t Keep(List list, Duration now);
  // nullptr when it is no longer kept.
  [[nodiscard]] const List* Find(std::uint64_t id, Duration now);
  void Drop(std::uint64_t id);

 private:
  struct Entry {
    std::uint64_t id = 0;
    Duration used{};
    std::size_t bytes = 0;  // of its objects
    List list;
  };
  static constexpr std::size_t kMax = 64;
  static constexpr std::size_t kMaxBytes = std::size_t{256} << 20U;

  void MakeRoom(std::size_t bytes, Duration now);

  std::vector<Entry> entries_;  // by id
  std::uint64_t next_ = 1;
};

}  // namespace strata::apiserver
