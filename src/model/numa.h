#pragma once

#include <compare>
#include <cstdint>
#include <vector>

// CPUs by NUMA node: what a node has of them, and what a pod asks.
namespace strata {

// The topology manager's policies.
enum class NumaPolicy : std::uint8_t { kNone, kBestEffort, kRestricted, kSingleNumaNode };
// "single-numa-node"
[[nodiscard]] const char* ToString(NumaPolicy policy);

// The NUMA rules of a pod; empty unless the pod is Guaranteed.
struct NumaRules {
  NumaPolicy policy = NumaPolicy::kNone;
  std::vector<std::int32_t> cpus;  // whole CPUs that each container will hold alone, in order

  auto operator<=>(const NumaRules&) const = default;
  [[nodiscard]] bool empty() const { return policy == NumaPolicy::kNone && cpus.empty(); }
};

struct NumaCell {
  std::int32_t cpus = 0;  // all of its CPUs
  std::int32_t free = 0;  // those nobody held alone when the kubelet's state was reported

  bool operator==(const NumaCell&) const = default;
};

// The NUMA cells of a node, by its Numatopology.
struct NumaSpec {
  NumaPolicy policy = NumaPolicy::kNone;
  bool static_cpus = false;     // the CPU manager gives out whole CPUs
  std::vector<NumaCell> cells;  // ascending by id

  bool operator==(const NumaSpec&) const = default;
  // True when the kubelet turns away pods whose CPUs it cannot align.
  [[nodiscard]] bool Aligns() const { return static_cpus && policy != NumaPolicy::kNone; }
};

}  // namespace strata
