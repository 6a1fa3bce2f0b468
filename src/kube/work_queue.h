#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "net/transport.h"

namespace strata::kube {

// Keys that want work, as values: what WorkQueue decides, with time as an argument.
//
// A key is in the line at most once, however often it is added, and with one worker at a time: what
// is added while its worker is busy comes again when that is done. So every Add is followed by a
// look at the key, and the looks at one key never overlap.
class WorkQueueState {
 public:
  struct Limits {
    Duration first = std::chrono::milliseconds(5);
    Duration max = std::chrono::seconds(1000);
  };
  explicit WorkQueueState(Limits limits) : limits_(limits) {}

  void Add(const std::string& key);
  // Adds it at `due`, beside what else is added; of several such times the earliest counts.
  void AddAt(const std::string& key, net::SteadyTime due);
  // After first, twice, four times the first delay..., until Forget.
  void AddRateLimited(const std::string& key, net::SteadyTime now);
  void Forget(const std::string& key) { failures_.erase(key); }

  // The key that waited longest; it is with a worker until Done.
  [[nodiscard]] std::optional<std::string> Next(net::SteadyTime now);
  void Done(const std::string& key);

  // When the next delayed key is due.
  [[nodiscard]] std::optional<net::SteadyTime> NextDue() const;
  // Takes no more and forgets what is delayed; what is in the line is still given.
  void Close();
  [[nodiscard]] bool closed() const { return closed_; }
  // Nothing in the line, nothing that will come back from a worker.
  [[nodiscard]] bool IsDrained() const { return line_.empty() && again_.empty(); }
  [[nodiscard]] std::size_t size() const { return line_.size(); }

 private:
  void MoveDue(net::SteadyTime now);

  Limits limits_;
  bool closed_ = false;
  std::deque<std::string> line_;
  std::set<std::string> in_line_;
  std::set<std::string> busy_;
  std::set<std::string> again_;  // busy, and wanted since
  std::map<std::string, net::SteadyTime> due_;
  std::set<std::pair<net::SteadyTime, std::string>> by_due_;
  std::map<std::string, int> failures_;
};

// WorkQueueState for threads. All but Get return at once.
class WorkQueue {
 public:
  using Now = std::function<net::SteadyTime()>;
  WorkQueue(WorkQueueState::Limits limits, Now now);

  void Add(const std::string& key);
  void AddAfter(const std::string& key, Duration delay);
  void AddRateLimited(const std::string& key);
  void Forget(const std::string& key);

  // Waits for a key; nothing once the queue is closed and empty. The caller says Done afterwards.
  [[nodiscard]] std::optional<std::string> Get();
  // The same without waiting, for a caller that has a time of its own; nothing when none is due.
  [[nodiscard]] std::optional<std::string> TryGet();
  // When TryGet will have something, if nobody adds anything. Now: it has.
  [[nodiscard]] std::optional<net::SteadyTime> NextDue();
  void Done(const std::string& key);

  // Wakes the workers, who get what is in the line and then nothing.
  void Close();

 private:
  Mutex mutex_;
  CondVar changed_;
  WorkQueueState state_ GUARDED_BY(mutex_);
  const Now now_;
};

}  // namespace strata::kube
