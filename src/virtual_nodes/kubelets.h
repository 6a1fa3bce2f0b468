#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "kube/call.h"
#include "kube/delta.h"
#include "kube/work_queue.h"
#include "net/transport.h"
#include "virtual_nodes/agents.h"
#include "virtual_nodes/decide.h"
#include "virtual_nodes/seen.h"

namespace strata::virtual_nodes {

// What VirtualNodes knows and decides, without any effect: objects as they are seen go in, writes
// come out, and what became of them goes in again. At most one write per object is under way; after
// one that counted, nothing is decided about the object until its next version has been seen.
//
// Pods that need nothing more, whatever becomes of their node, are not kept.
class Kubelets {
 public:
  explicit Kubelets(Reach reach) : reach_(reach) {}

  // By which numbers informers are known here.
  enum Source : int { kNodeSource = 0, kPodSource = 1, kSources = 2 };

  struct Moment {
    Time wall;
    net::SteadyTime steady;
  };

  // kInvalidArgument for an object that cannot be read; it is left alone.
  Status Take(const kube::Delta& delta);

  struct Work {
    std::string key;
    kube::Call call;
  };
  // The next write that is due. It is under way until Finish.
  [[nodiscard]] std::optional<Work> Next(Moment now);

  enum class Outcome : std::uint8_t {
    kDone,
    kStale,   // 404, 409: the object has changed, and will be seen so
    kFailed,  // to be tried again, each time later
  };
  void Finish(const std::string& key, Outcome outcome, Moment now);

  // When there may be something to do that is not due yet.
  [[nodiscard]] std::optional<net::SteadyTime> NextDue() const { return queue_.NextDue(); }
  // Everything has been seen once, nothing is to be written now and nothing is under way.
  [[nodiscard]] bool IsSettled() const {
    return synced_ == kSources && queue_.size() == 0 && under_way_.empty();
  }
  [[nodiscard]] std::size_t pods_kept() const { return pods_.size(); }
  [[nodiscard]] const Agents& agents() const { return agents_; }

 private:
  struct Node {
    SeenNode seen;
    std::string decided;  // the version that the last write was decided on
  };
  struct Pod {
    SeenPod seen;
    std::string decided;
    std::optional<Time> started;
  };

  Status TakeNode(const kube::Delta& delta);
  Status TakePod(const kube::Delta& delta);
  void PutPod(const std::string& key, SeenPod seen);
  void DropPod(const std::string& key);
  void LookAtPodsOf(const std::string& node);

  [[nodiscard]] std::optional<kube::Call> Decide(const std::string& key, Moment now);
  [[nodiscard]] std::optional<kube::Call> DecideNodeKey(Node& node, Moment now);
  [[nodiscard]] std::optional<kube::Call> DecidePodKey(const std::string& key,
                                                       Pod& pod,
                                                       Moment now);
  // What the agent of its node has to say before the pod starts, if that is a write.
  [[nodiscard]] std::optional<kube::Call> AskAgent(const Pod& pod, const SeenNode& node, Time now);
  [[nodiscard]] PodCircumstances CircumstancesOf(const Pod& pod) const;

  Reach reach_;
  int synced_ = 0;
  std::map<std::string, Node> nodes_;                     // by key
  std::map<std::string, Pod> pods_;                       // by key
  std::map<std::string, std::set<std::string>> by_node_;  // keys of pods_
  Agents agents_;
  kube::WorkQueueState queue_{
      {.first = std::chrono::milliseconds(100), .max = std::chrono::seconds(30)}};
  std::set<std::string> under_way_;
};

}  // namespace strata::virtual_nodes
