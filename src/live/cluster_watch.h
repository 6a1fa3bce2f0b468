#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "convert/cluster_feed.h"
#include "kube/client.h"
#include "kube/delta.h"
#include "kube/informers.h"
#include "kube/mailbox.h"
#include "obs/log.h"

namespace strata::live {

// Brings what informers see of the cluster into a feed (watched_kinds.h). An object that cannot be
// used is left out, with a line of the log.
//
// On the thread that schedules, but for synced().
class ClusterWatch {
 public:
  using OnConfMap = std::function<void(const kube::Delta&)>;

  // All of it must outlive it; `mailbox` is woken when something was seen, `random` spreads
  // retries.
  ClusterWatch(kube::Client& client,
               ClusterFeed& feed,
               const obs::Log& log,
               std::shared_ptr<kube::Mailbox> mailbox,
               kube::Random random);

  // `on_conf_map` gets the ConfigMap `conf_map` ("namespace/name"); empty: not needed. A cluster
  // without it is a line of the log.
  void Start(OnConfMap on_conf_map, std::string conf_map);
  void Stop() { informers_.reset(); }
  // Called for each version of a PodGroup that the watch shows, by TakeDeltas.
  using OnGroup = std::function<void(const objects::PodGroup&)>;
  void FollowGroups(OnGroup on_group) { on_group_ = std::move(on_group); }
  // The same for queues.
  using OnQueue = std::function<void(const objects::Queue&)>;
  void FollowQueues(OnQueue on_queue) { on_queue_ = std::move(on_queue); }
  // Called for each change of a node that the feed has taken in, with the version of the node.
  using OnNode = std::function<void(const std::string& node, const std::string& version)>;
  void FollowNodes(OnNode on_node) { on_node_ = std::move(on_node); }
  // The same for pods ("namespace/name").
  using OnPod = std::function<void(const std::string& pod)>;
  void FollowPods(OnPod on_pod) { on_pod_ = std::move(on_pod); }
  // caught_up() is false from now on, until everything that the server has now has been seen.
  void CatchUp();
  // Puts what was seen since the last time into the feed.
  void TakeDeltas();
  // The version of a pod ("namespace/name") that waits for a node, as last seen; "" of any other.
  [[nodiscard]] std::string VersionOf(const std::string& pod) const;
  // Whether everything that the server had at the last CatchUp has been seen; false before.
  [[nodiscard]] bool caught_up() const { return behind_ && behind_->empty(); }
  // Whether everything that was there at the start has been seen. From any thread.
  [[nodiscard]] bool synced() const { return synced_; }
  // The same, and no watch is overdue. From any thread.
  [[nodiscard]] bool current() const { return synced_ && !blind_; }

 private:
  void TakeTrouble(const kube::WatchTrouble& trouble);
  void TakeSight(int source, kube::Reflector::Sight sight);
  void TakeDelta(const kube::Delta& delta);
  // False when the object cannot be used; the feed then has its previous version.
  bool Apply(const kube::Delta& delta);
  void Tell(const kube::Resource& resource, const kube::Delta& delta) const;
  void NoteVersion(const kube::Delta& delta);

  kube::Client& client_;
  ClusterFeed& feed_;
  const obs::Log& log_;
  std::shared_ptr<kube::Mailbox> mailbox_;
  kube::Random random_;
  OnConfMap on_conf_map_;
  std::string conf_map_;
  bool conf_map_seen_ = false;
  OnGroup on_group_;
  OnQueue on_queue_;
  OnNode on_node_;
  OnPod on_pod_;
  int conf_source_ = -1;
  std::set<int> sources_;
  std::set<int> waited_for_;                     // informers that have not given everything yet
  std::optional<std::set<int>> behind_;          // the same, since CatchUp
  std::map<std::string, std::string> versions_;  // of pods without a node
  std::atomic<bool> synced_{false};
  std::set<int> overdue_;  // informers
  std::atomic<bool> blind_{false};
  kube::DeltaQueue queue_;
  std::optional<kube::Informers> informers_;  // last: they feed the queue
};

}  // namespace strata::live
