#include "apiserver/verbs/list_snapshots.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace strata::apiserver {
namespace {

constexpr Duration kKept = std::chrono::minutes(5);

}  // namespace

std::uint64_t ListSnapshots::Keep(std::shared_ptr<const Snapshot> snapshot, Time now) {
  std::erase_if(entries_, [&](const Entry& entry) { return now - entry.used > kKept; });
  if (entries_.size() >= kMost) {
    entries_.erase(
        std::min_element(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
          return a.used < b.used;
        }));
  }
  entries_.push_back({next_, now, std::move(snapshot)});
  return next_++;
}

std::shared_ptr<const Snapshot> ListSnapshots::Find(std::uint64_t id, Time now) {
  for (Entry& entry : entries_) {
    if (entry.id != id || now - entry.used > kKept) continue;
    entry.used = now;
    return entry.snapshot;
  }
  return nullptr;
}

void ListSnapshots::Drop(std::uint64_t id) {
  std::erase_if(entries_, [&](const Entry& entry) { return entry.id == id; });
}

}  // namespace strata::apiserver
