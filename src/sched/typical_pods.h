#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/cluster_state.h"
#include "model/fragmentation.h"
#include "model/gpu.h"

namespace strata {

// A kind of pod that stands for many: what fragmentation is measured by.
struct TypicalPod {
  Amount cpu_milli = 0;
  std::int64_t gpus = 0;
  std::int32_t milli = 0;           // of each GPU, in thousandths
  std::vector<std::string> models;  // lower case, parts of names; empty: every model
  // What a pod of the cluster asks for, where it asks for registered GPUs; then `milli` and
  // `models` follow from it.
  std::optional<GpuRequest> request;

  auto operator<=>(const TypicalPod&) const = default;
};

struct TypicalPods {
  struct Weighted {
    TypicalPod pod;
    std::int64_t weight = 1;  // how many pods it stands for

    bool operator==(const Weighted&) const = default;
  };
  std::vector<Weighted> pods;

  [[nodiscard]] bool empty() const { return pods.empty(); }
  [[nodiscard]] std::int64_t Weight() const;
  bool operator==(const TypicalPods&) const = default;
};

// "gpus=1,milli=500,cpu=8,models=T4|P100,weight=12; gpus=8,...": what is left out is 0 CPU, 0 GPUs,
// whole GPUs, every model and weight 1. CPU in cores, or in thousandths as "500m".
// kInvalidArgument, one line, for anything else.
[[nodiscard]] Result<TypicalPods> ParseTypicalPods(std::string_view text);

// The most frequent kinds among the last `count` pods of the state, by creation, that together are
// 95 % of them. A function of the state alone. COST: O(pods).
[[nodiscard]] TypicalPods LearnTypicalPods(const ClusterState& state, std::size_t count);

// What the pod asks of a node whose GPUs are of this kind; null: of GPUs that the node does not
// register. None where it does not accept them.
[[nodiscard]] std::optional<GpuAsk> AskOf(const TypicalPod& pod, const Gpu* kind);

}  // namespace strata
