#pragma once

#include <cstddef>
#include <memory>

#include "apiserver/store/object_store.h"
#include "base/result.h"
#include "net/event_loop.h"
#include "store/journal.h"

namespace strata::apiserver {

// How much of the past is kept for watchers, per resource. What is larger goes, oldest first.
struct HistoryLimits {
  std::size_t events = 100'000;
  std::size_t bytes = std::size_t{64} << 20;  // of the states that events carry
};

// Nothing outlives the process. Writes are done when Put and Delete return.
[[nodiscard]] std::unique_ptr<ObjectStore> MakeMemoryObjectStore(HistoryLimits limits = {});

// Over a folder. Reads everything; then each write is committed by a thread of the store's own,
// those that come while a commit is under way all together in the next. When a commit fails,
// everything that was not durable by then fails with its error and is as if it had never been asked
// for. The loop must outlive the store; a store that goes calls nobody back.
[[nodiscard]] Result<std::unique_ptr<ObjectStore>> OpenObjectStore(
    net::EventLoop& loop, std::unique_ptr<store::Journal> journal, HistoryLimits limits = {});

}  // namespace strata::apiserver
