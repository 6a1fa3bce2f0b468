#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "convert/cluster_feed.h"
#include "kube/mailbox.h"
#include "live/call_queue.h"
#include "live/retry_times.h"
#include "obs/log.h"

namespace strata::live {

// Makes the two queues that every cluster has, `root` and the default one, where they are missing.
// When the server refuses, it is tried again later and later. On the thread that schedules.
class DefaultQueues {
 public:
  struct Tools {
    CallQueue& calls;
    const obs::Log& log;
    std::function<net::SteadyTime()> now;
    kube::Random random;
  };
  // All of it must outlive it; `mailbox` is where the answers come.
  DefaultQueues(Tools tools, std::shared_ptr<kube::Mailbox> mailbox, std::string default_queue);

  void Ensure(const ClusterFeed& feed);
  // When Ensure will have something to try again.
  [[nodiscard]] std::optional<net::SteadyTime> NextTry() const { return next_try_; }

 private:
  Tools tools_;
  std::shared_ptr<kube::Mailbox> mailbox_;
  RetryTimes retries_;
  std::string default_queue_;
  std::set<std::string> asked_for_;
  std::optional<net::SteadyTime> next_try_;
};

}  // namespace strata::live
