#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "apiserver/store/object_store.h"
#include "base/clock.h"
#include "base/result.h"
#include "net/event_loop.h"
#include "store/journal.h"

namespace strata::apiserver {

// How much history is kept for watchers, per resource. Beyond that the oldest events are dropped.
struct HistoryLimits {
  std::size_t events = 100'000;
  std::size_t bytes = std::size_t{64} << 20;  // of the states that events carry
  Duration age = std::chrono::minutes(10);    // looked at when something is written
};

// Nothing outlives the process. Writes are done when Put and Delete return.
[[nodiscard]] std::unique_ptr<ObjectStore> MakeMemoryObjectStore(HistoryLimits limits = {});

// The version at which a store over a folder begins, `stored` being the last one in it: at least
// the microseconds since 1970. A store gives out less than a million versions a second, so this is
// beyond every version that it ever gave out, also when the folder was restored from a backup, as
// long as the clock of the machine does not go back. Pure.
[[nodiscard]] std::int64_t FirstVersion(std::int64_t stored, Time now);

// Over a folder. Reads everything; then a thread of the store's own commits writes, those that come
// during a commit together in the next. When a commit fails, everything that is not durable fails
// with its error, as if never asked for; on a full disk deletions are tried again without the rest.
// The loop must outlive the store; a store that is destroyed calls no callback.
[[nodiscard]] Result<std::unique_ptr<ObjectStore>> OpenObjectStore(
    net::EventLoop& loop,
    std::unique_ptr<store::Journal> journal,
    Time now,
    HistoryLimits limits = {});

}  // namespace strata::apiserver
