#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "inspect/live_cluster.h"
#include "kube/delta.h"
#include "kube/informers.h"

namespace strata::inspect {

// Everything of a snapshot, kept up to date by informers. For one thread.
class ClusterWatch {
 public:
  // Starts to follow what the server serves. `cluster` must outlive it.
  [[nodiscard]] static Result<std::unique_ptr<ClusterWatch>> Start(LiveCluster& cluster);

  // Waits, without end, until something has changed; the first time until all that is there has
  // been seen. What comes within `settle` after that comes along.
  void Wait(Duration settle);

  // The objects, valid until the next Wait.
  [[nodiscard]] std::vector<std::string_view> Texts() const;
  // The same of one kind.
  [[nodiscard]] std::vector<std::string_view> TextsOf(const kube::Resource& resource) const;

 private:
  explicit ClusterWatch(LiveCluster& cluster) : informers_(cluster.client(), queue_, {}) {}

  // True when something changed.
  bool Take(std::vector<kube::Delta> deltas);

  struct Key {
    int source = 0;
    kube::ObjectKey object;
    auto operator<=>(const Key&) const = default;
  };
  kube::DeltaQueue queue_;
  std::vector<kube::Resource> kinds_;  // by the number of their informer
  std::map<Key, std::string> texts_;
  int unsynced_ = 0;
  kube::Informers informers_;  // last: pushes into the queue until it is gone
};

}  // namespace strata::inspect
