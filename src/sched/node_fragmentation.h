#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "model/cluster_state.h"
#include "model/fragmentation.h"
#include "sched/typical_pods.h"

namespace strata {

// What is idle of a node's GPUs, with the data that IdleNode points to.
struct IdleGpus {
  Amount cpu_milli = 0;
  std::vector<std::int32_t> gpus;  // thousandths, by GPU
  const Gpu* kind = nullptr;       // the first of those that the node registers

  [[nodiscard]] std::int64_t Sum() const;
};

// What is taken of the GPUs of a node, also by pods that go or that wait there.
// REQUIRES: the node registers them.
[[nodiscard]] std::vector<GpuUsage> GpuUsageOn(const ClusterState& state, NodeId node);

// What of registered GPUs is free of memory and cores, the smaller part, and nothing of one
// that is cordoned, out of order or shared by as many as may; else whole GPUs by number.
[[nodiscard]] IdleGpus IdleGpusOf(const ClusterState& state, NodeId node);
// What would be idle if a pod of the class were there, too; none where its GPUs do not serve it.
[[nodiscard]] std::optional<IdleGpus> IdleGpusAfter(const ClusterState& state,
                                                    NodeId node,
                                                    const ClassSpec& pod);

// FGD's measure by typical pods: how much of what is idle on a node they cannot use, in thousandths
// of GPUs, times their weight. The GPUs of a node count as being of the kind of the first.
class FragmentationMeter {
 public:
  explicit FragmentationMeter(TypicalPods pods);

  [[nodiscard]] const TypicalPods& pods() const { return pods_; }
  [[nodiscard]] std::int64_t weight() const { return weight_; }  // of all of them
  // COST: O(typical pods x GPUs).
  [[nodiscard]] std::int64_t Of(const IdleGpus& idle) const;

 private:
  // What makes a difference to a pod.
  using Kind = std::tuple<std::string, std::int64_t, std::int32_t, std::string, bool, bool>;
  // The pods that accept GPUs of a kind.
  struct Row {
    std::vector<std::pair<GpuAsk, std::int64_t>> asks;
    std::int64_t refused = 0;  // the weight of the others
  };
  [[nodiscard]] const Row& RowOf(const Gpu* kind) const;
  [[nodiscard]] Row MakeRow(const Gpu* kind) const;

  TypicalPods pods_;
  std::int64_t weight_ = 0;
  mutable std::optional<Row> counted_;  // where nodes do not register their GPUs
  mutable std::map<Kind, Row> registered_;
};

}  // namespace strata
