#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "kube/json_text.h"

namespace strata::kube {

// One change of what an informer sees. For each object the consumer gets kAdded, any number of
// kModified, kDeleted, and so on: never the same version twice, and nothing that it does not know
// changes or goes, whatever happened to connections and lists in between. An object that was
// replaced by another of its name is kDeleted, then kAdded.
struct Delta {
  enum class Type : std::uint8_t {
    kAdded,
    kModified,
    kDeleted,
    kSynced,    // once per informer: what was there at the start has been given. No object
    kCaughtUp,  // once per Informers::CatchUp: what was there when it was called, too. No object
  };
  Type type = Type::kSynced;
  int source = 0;  // which informer, as Informers::Add numbered it
  ObjectKey key;
  std::string uid;
  std::string version;  // of kDeleted: where known, the deletion's own
  // JSON, with kind and apiVersion. "" for kDeleted when the end was seen in a list only.
  std::string text;
};

// From many informers to one consumer, in the order in which they came. Thread-safe; one consumer
// at a time, which drains it on a thread of its own (not in the wake: that is an informer's thread)
// and takes everything there is with each call. Holds what nobody takes: nothing is ever left out.
class DeltaQueue {
 public:
  void Push(std::vector<Delta> deltas);

  // What is there, waiting for something at most `limit`; nothing when that is over or the queue is
  // closed and empty.
  [[nodiscard]] std::vector<Delta> Wait(Duration limit);
  [[nodiscard]] std::vector<Delta> Take() { return Wait(Duration(0)); }

  // Wakes who waits, for good.
  void Close();

  // Called after each push, on the pusher's thread, and once in here when something is there
  // already: for consumers that wait for other things, too. When this returns, the wake before has
  // been called for the last time. A wake must not block, and must not call SetWake.
  void SetWake(std::function<void()> wake);

 private:
  Mutex mutex_;
  CondVar changed_;
  std::vector<Delta> deltas_ GUARDED_BY(mutex_);
  bool closed_ GUARDED_BY(mutex_) = false;

  Mutex wake_mutex_;  // held while wake_ runs; taken before mutex_
  std::function<void()> wake_ GUARDED_BY(wake_mutex_);
};

}  // namespace strata::kube
