#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "kube/client.h"
#include "live/call_queue.h"
#include "model/cluster_state.h"
#include "sched/scheduler.h"

namespace strata::live {

// One pod that is to have one node.
struct BindOrder {
  kube::PodName pod;
  std::string node;
  std::map<std::string, std::string> annotations;  // written in the same step
};

// What carries out a bind of a cycle: a pod with GPUs gets HAMi's annotations with its node. Pure.
[[nodiscard]] BindOrder MakeBindOrder(const ClusterState& state,
                                      const CycleResult::Bind& bind,
                                      Time now);

// The key under which writes to a pod wait for each other.
[[nodiscard]] std::string PodKey(const std::string& space, const std::string& name);

// Carries bind orders out. An order that failed is looked into: a bind whose answer got lost may
// have been done, and a conflict may mean that the pod has a node already.
class Binder {
 public:
  struct Outcome {
    enum class Kind {
      kBound,   // now or before: the informers show where
      kFailed,  // it has no node
    } kind = Kind::kBound;
    BindOrder order;
    std::string error;  // why it failed
  };
  // Called on a thread of the client; must not block.
  using OnOutcome = std::function<void(Outcome)>;

  // Both must outlive it.
  Binder(kube::Client& client, CallQueue& calls) : client_(client), calls_(calls) {}

  void Bind(BindOrder order, OnOutcome on_outcome);
  // A bind that was sent has no answer, and nobody could say yet what came of it: it may still be
  // done.
  [[nodiscard]] bool IsUnsure() const { return *unsure_ > 0; }

 private:
  kube::Client& client_;
  CallQueue& calls_;
  std::shared_ptr<std::atomic<int>> unsure_ = std::make_shared<std::atomic<int>>(0);  // binds
};

}  // namespace strata::live
