#pragma once

#include <functional>
#include <map>
#include <string>

#include "kube/client.h"
#include "live/call_queue.h"

namespace strata::live {

// One pod that is to have one node.
struct BindOrder {
  kube::PodName pod;
  std::string node;
  std::map<std::string, std::string> annotations;  // written in the same step
};

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

 private:
  kube::Client& client_;
  CallQueue& calls_;
};

}  // namespace strata::live
