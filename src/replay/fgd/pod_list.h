#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "replay/fabric.h"
#include "replay/trace.h"

// The study of "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation
// Gradient Descent" (ATC '23): pods come one after another until they ask for more than the cluster
// has; none of them ever ends, and one that finds no place is dropped.
namespace strata::replay::fgd {

inline constexpr std::int32_t kWholeGpu = 1000;  // thousandths

// Pods of one kind ask for the same.
struct PodKind {
  std::int64_t cpu_milli = 0;
  std::int64_t memory = 0;  // bytes; filters nodes, no rule scores it
  std::int32_t gpus = 0;
  std::int32_t milli = 0;          // of each GPU: 1000, or less for a share of one; 0 without GPUs
  std::vector<char> accepts = {};  // by model of PodList::models; empty: every model

  [[nodiscard]] bool Accepts(std::uint32_t model) const {
    return accepts.empty() || accepts[model] != 0;
  }
  [[nodiscard]] bool Shares() const { return gpus == 1 && milli < kWholeGpu; }
  [[nodiscard]] std::int64_t TotalMilli() const { return std::int64_t{gpus} * milli; }
  auto operator<=>(const PodKind&) const = default;
};

// A kind that stands for a part of the pods. Its memory is 0: two kinds that differ in nothing else
// are one.
struct TypicalPod {
  PodKind kind;
  std::int64_t weight = 0;  // how many pods it stands for
};

struct PodList {
  std::string name;
  std::vector<std::string> models;  // of the nodes, ascending
  std::vector<PodKind> kinds;
  std::vector<std::uint32_t> pods;  // the kind of each, by name of the pod
  // The most frequent kinds that together are 95 % of the pods; the first found of equals first.
  std::vector<TypicalPod> typical;
  std::int64_t typical_weight = 0;  // their sum

  [[nodiscard]] std::uint32_t ModelOf(const Fabric::Node& node) const;
};

// kInvalidArgument, one line with the name of the job or node, when a job has several pods or one
// of them more than 64 GPUs.
[[nodiscard]] Result<PodList> MakePodList(std::string name,
                                          const Trace& trace,
                                          const Fabric& fabric);

// Which pods come, as indices of kinds. Those of the list in an order drawn from `seed`; then pods
// drawn from the list until the next one would pass `target` times `capacity`, or, where the list
// asks for more than that, without pods drawn at random. `capacity` is in thousandths of GPUs.
[[nodiscard]] std::vector<std::uint32_t> Arrivals(const PodList& list,
                                                  std::int64_t capacity,
                                                  double target,
                                                  std::uint64_t seed);

}  // namespace strata::replay::fgd
