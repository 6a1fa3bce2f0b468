#include "apiserver/store/history.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"

namespace strata::apiserver {
namespace {

// What an event keeps in memory that would otherwise go, at most.
std::size_t BytesOf(const Change& change) {
  return sizeof(Change) + sizeof(StoredObject) + change.after->body.size();
}

}  // namespace

void History::Append(Change change, Duration now) {
  CHECK(change.version > floor_);
  CHECK(changes_.empty() || change.version > changes_.back().change.version);
  bytes_ += BytesOf(change);
  changes_.push_back({std::move(change), now});
  while (changes_.size() > limits_.events || bytes_ > limits_.bytes ||
         now - changes_.front().when > limits_.age) {
    const Change& oldest = changes_.front().change;
    floor_ = oldest.version;
    bytes_ -= BytesOf(oldest);
    changes_.pop_front();
    ++first_;
    if (changes_.empty()) return;
  }
}

Result<std::uint64_t> History::IndexAfter(std::int64_t version) const {
  if (version < floor_) {
    return Fail(Code::kGone,
                "too old resource version: " + std::to_string(version) + " (" +
                    std::to_string(floor_) + ")");
  }
  const auto after = std::upper_bound(
      changes_.begin(), changes_.end(), version, [](std::int64_t than, const Entry& entry) {
        return than < entry.change.version;
      });
  return first_ + static_cast<std::uint64_t>(after - changes_.begin());
}

const Change* History::At(std::uint64_t index) const {
  CHECK(Reaches(index));
  const std::uint64_t offset = index - first_;
  return offset < changes_.size() ? &changes_[offset].change : nullptr;
}

}  // namespace strata::apiserver
