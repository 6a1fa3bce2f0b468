#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "convert/cluster_feed.h"
#include "kube/client.h"
#include "kube/delta.h"
#include "kube/informers.h"
#include "live/mailbox.h"
#include "obs/log.h"

namespace strata::live {

// Brings what informers see of the cluster into a feed (watched_kinds.h). An object that cannot be
// used is left out, with a line of the log.
//
// On the thread that schedules, but for synced().
class ClusterWatch {
 public:
  using OnConfMap = std::function<void(const kube::Delta&)>;

  // All of it must outlive it; `mailbox` is woken when something was seen.
  ClusterWatch(kube::Client& client,
               ClusterFeed& feed,
               const obs::Log& log,
               std::shared_ptr<Mailbox> mailbox);

  // `on_conf_map` is told of the scheduler's ConfigMap; empty: nobody looks at that.
  void Start(OnConfMap on_conf_map);
  void Stop() { informers_.reset(); }
  // Puts what was seen since the last time into the feed.
  void TakeDeltas();
  // Whether everything that was there at the start has been seen. From any thread.
  [[nodiscard]] bool synced() const { return synced_; }

 private:
  void TakeTrouble(const std::string& line);
  void TakeDelta(const kube::Delta& delta);

  kube::Client& client_;
  ClusterFeed& feed_;
  const obs::Log& log_;
  std::shared_ptr<Mailbox> mailbox_;
  OnConfMap on_conf_map_;
  int conf_source_ = -1;
  std::set<int> waited_for_;  // informers that have not given everything yet
  std::atomic<bool> synced_{false};
  kube::DeltaQueue queue_;
  std::optional<kube::Informers> informers_;  // last: they feed the queue
};

}  // namespace strata::live
