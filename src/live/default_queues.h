#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "convert/cluster_feed.h"
#include "live/call_queue.h"
#include "live/mailbox.h"
#include "obs/log.h"

namespace strata::live {

// Makes the two queues that every cluster has, `root` and the default one, where they are missing.
// On the thread that schedules.
class DefaultQueues {
 public:
  // All of it must outlive it; `mailbox` is where the answers come.
  DefaultQueues(CallQueue& calls,
                std::shared_ptr<Mailbox> mailbox,
                const obs::Log& log,
                std::string default_queue);

  void Ensure(const ClusterFeed& feed);
  // One could not be made since this was last asked, and is still to be.
  [[nodiscard]] bool TakeUnfinished() { return std::exchange(unfinished_, false); }

 private:
  CallQueue& calls_;
  std::shared_ptr<Mailbox> mailbox_;
  const obs::Log& log_;
  std::string default_queue_;
  std::set<std::string> asked_for_;
  bool unfinished_ = false;
};

}  // namespace strata::live
