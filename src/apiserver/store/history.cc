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

void History::Append(Change change) {
  CHECK(change.version > floor_);
  CHECK(changes_.empty() || change.version > changes_.back().version);
  bytes_ += BytesOf(change);
  changes_.push_back(std::move(change));
  while (changes_.size() > limits_.events || bytes_ > limits_.bytes) {
    const Change& oldest = changes_.front();
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
      changes_.begin(), changes_.end(), version, [](std::int64_t than, const Change& change) {
        return than < change.version;
      });
  return first_ + static_cast<std::uint64_t>(after - changes_.begin());
}

const Change* History::At(std::uint64_t index) const {
  CHECK(Reaches(index));
  const std::uint64_t offset = index - first_;
  return offset < changes_.size() ? &changes_[offset] : nullptr;
}

}  // namespace strata::apiserver
