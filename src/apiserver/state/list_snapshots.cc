#include "apiserver/state/list_snapshots.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace strata::apiserver {
namespace {

constexpr Duration kKept = std::chrono::minutes(5);

}  // namespace

void ListSnapshots::MakeRoom(std::size_t bytes, Duration now) {
  std::erase_if(entries_, [&](const Entry& entry) { return now - entry.used > kKept; });
  for (const Entry& entry : entries_) bytes += entry.bytes;
  while (!entries_.empty() && (entries_.size() >= kMax || bytes > kMaxBytes)) {
    const auto oldest =
        std::min_element(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
          return a.used < b.used;
        });
    bytes -= oldest->bytes;
    entries_.erase(oldest);
  }
}

std::uint64_t ListSnapshots::Keep(List list, Duration now) {
  std::size_t bytes = 0;
  for (const ObjectRef& object : list.snapshot->objects) bytes += object->body.size();
  MakeRoom(bytes, now);
  entries_.push_back({next_, now, bytes, std::move(list)});
  return next_++;
}

const ListSnapshots::List* ListSnapshots::Find(std::uint64_t id, Duration now) {
  for (Entry& entry : entries_) {
    if (entry.id != id || now - entry.used > kKept) continue;
    entry.used = now;
    return &entry.list;
  }
  return nullptr;
}

void ListSnapshots::Drop(std::uint64_t id) {
  std::erase_if(entries_, [&](const Entry& entry) { return entry.id == id; });
}

}  // namespace strata::apiserver
