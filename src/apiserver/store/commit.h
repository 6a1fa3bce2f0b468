#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"
#include "net/event_loop.h"
#include "store/journal.h"

namespace strata::apiserver {

// Makes batches durable, one at a time, beside the loop.
class CommitLog {
 public:
  CommitLog() = default;
  CommitLog(const CommitLog&) = delete;
  CommitLog& operator=(const CommitLog&) = delete;
  // Waits for a commit that is under way.
  virtual ~CommitLog() = default;

  // Calls `done` on the loop, never before this returns. The texts of `writes` must stay until
  // then. REQUIRES: no other commit is under way.
  virtual void Commit(std::vector<store::Write> writes,
                      std::int64_t last_version,
                      std::function<void(Status)> done) = 0;
};

// A thread that does nothing but commit. `loop` must outlive it.
[[nodiscard]] std::unique_ptr<CommitLog> MakeCommitThread(net::EventLoop& loop,
                                                          std::unique_ptr<store::Journal> journal);

}  // namespace strata::apiserver
