#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "kube/client.h"
#include "live/call_queue.h"
#include "model/cluster_state.h"
#include "sched/cycle_result.h"

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

// For an order with GPUs that is carried out some time after it was made.
void SetBindTime(BindOrder& order, Time now);

// The condition of a pod whose bind had no answer; a write of it makes the bind void.
inline constexpr const char* kBindUnanswered = "strata.sh/BindUnanswered";

// The key under which writes to a pod wait for each other.
[[nodiscard]] std::string PodKey(const std::string& ns, const std::string& name);

// Carries bind orders out. A bind names the version of the pod, so that it is carried out only as
// long as nobody has written to the pod since.
//
// A bind that failed is looked into. After a refusal the pod is read: it may have a node already,
// or have changed, and is bound again by its new version then. After a bind without an answer,
// which the server may still carry out, the pod is written to: the answer says whether it has a
// node, and if it has none, the bind that is still on its way names a version that is gone.
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

  // All must outlive it.
  Binder(kube::Client& client, CallQueue& calls, const Clock& clock);
  Binder(const Binder&) = delete;
  Binder& operator=(const Binder&) = delete;
  // No outcome is told afterwards.
  ~Binder();

  void Bind(BindOrder order, OnOutcome on_outcome);
  // A bind that was sent has no answer, and nobody could say yet what came of it: it may still be
  // done.
  [[nodiscard]] bool IsUnsure() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace strata::live
