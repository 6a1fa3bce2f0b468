#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/gpu_links.h"

// The GPUs that a node registers, what a pod asks of them, and what it was given.
namespace strata {

// Which agent hands GPUs out, and by which names nodes and pods speak of them.
enum class GpuDialect : std::uint8_t { kHami, kVolcano };
inline constexpr std::array<GpuDialect, 2> kGpuDialects = {GpuDialect::kHami, GpuDialect::kVolcano};

// Where a MIG instance sits on its GPU, in memory slices.
struct MigPlacement {
  std::int32_t start = 0;
  std::int32_t size = 0;

  auto operator<=>(const MigPlacement&) const = default;
};

struct MigProfile {
  std::string name;  // "1g.10gb"
  std::int64_t memory_mib = 0;
  std::int32_t cores = 0;
  std::vector<MigPlacement> placements;

  auto operator<=>(const MigProfile&) const = default;
};

struct Gpu {
  std::string uuid;
  std::int32_t index = 0;
  std::int32_t slots = 0;  // containers that may share it
  std::int64_t memory_mib = 0;
  std::int32_t cores = 0;  // percent of its compute units
  std::string type;        // the model
  std::int32_t numa = 0;
  std::string mode;  // "hami-core", "mig", "mps"
  bool healthy = false;
  bool cordoned = false;  // gives nothing to new pods
  std::vector<MigProfile> mig_profiles;
  bool in_hami = true;      // pods of HAMi's dialect may have it
  bool in_volcano = false;  // and those of Volcano's; one GPU may be in both

  [[nodiscard]] bool IsMig() const { return mode == "mig"; }
  [[nodiscard]] bool IsIn(GpuDialect dialect) const {
    return dialect == GpuDialect::kHami ? in_hami : in_volcano;
  }
  bool operator==(const Gpu&) const = default;
};

// What a node says about GPUs in one dialect.
struct GpuOffer {
  bool registered = false;
  std::string problem;  // why it offers none although it registers some; "" if it does

  bool operator==(const GpuOffer&) const = default;
};

struct NodeGpus {
  std::vector<Gpu> gpus;  // ascending by index, then UUID; one that is in both dialects once
  PairScores scores;
  GpuOffer hami = {.registered = true, .problem = ""};
  GpuOffer volcano = {};

  [[nodiscard]] const GpuOffer& OfferIn(GpuDialect dialect) const {
    return dialect == GpuDialect::kHami ? hami : volcano;
  }
  [[nodiscard]] std::optional<std::size_t> Find(const std::string& uuid) const;
  bool operator==(const NodeGpus&) const = default;
};

// ---- what a pod asks for ----

struct ContainerGpuRequest {
  std::string container;
  bool init = false;  // ends before those behind it start; a sidecar does not
  std::int32_t count = 0;
  std::int64_t memory_mib = 0;        // of each GPU; 0: by percent
  std::int32_t memory_percent = 100;  // of each GPU, where memory_mib is 0
  std::int32_t cores = 0;             // percent of each GPU; 100: nobody else on it

  auto operator<=>(const ContainerGpuRequest&) const = default;
};

enum class GpuOrder : std::uint8_t {
  kBinpack,       // HAMi's: the fullest first, by the weights of the pod
  kSpread,        // HAMi's: the emptiest first
  kNuma,          // the highest NUMA node first
  kByUsedMemory,  // Volcano's binpack: most used memory first
  kByShares,      // Volcano's spread: fewest shares in use first
  kLastToFirst,   // Volcano's without a policy: the highest position first
};

// hami.io/gpu-scheduler-policy.
struct GpuPolicy {
  std::vector<GpuOrder> order;  // the first decides; empty: what the configuration says
  bool chain = false;           // written as a list: NUMA is a key only where it is named
  bool unused_only = false;     // mutex
  bool topology_aware = false;

  auto operator<=>(const GpuPolicy&) const = default;
};

struct GpuScoreWeights {
  std::int64_t slot = 1;
  std::int64_t core = 1;
  std::int64_t memory = 1;

  auto operator<=>(const GpuScoreWeights&) const = default;
};

enum class GpuNodePolicy : std::uint8_t { kBinpack, kSpread, kAsConfigured };

struct GpuRequest {
  GpuDialect dialect = GpuDialect::kHami;
  // All of the pod, init containers first; in Volcano's dialect without init containers.
  std::vector<ContainerGpuRequest> containers;
  GpuPolicy policy;
  GpuNodePolicy node_policy = GpuNodePolicy::kBinpack;
  GpuScoreWeights weights;
  std::vector<std::string> use_types, avoid_types;  // lower case, parts of model names
  std::vector<std::string> use_uuids, avoid_uuids;
  bool numa_bind = false;
  // The GPU's mode must be a part of it, in Volcano's dialect the same; "": any.
  std::string mode;
  // "namespace/name" of its PodGroup, if no two pods of that may share a GPU; else "".
  std::string spread_group;
  // Its namespace, where a quota there limits GPUs; else "", so that pods of many namespaces stay
  // one class.
  std::string quota_namespace;
  std::string problem;  // why no node can take it: an invalid number in the request; "" if none

  // True when a container takes less than whole GPUs, on some GPU at least.
  [[nodiscard]] bool TakesShares() const;
  // True when a pod may count as something else than the amounts that it requests: as a part of a
  // GPU, or by the name that all GPUs are counted by.
  [[nodiscard]] bool CountsApart() const { return dialect != GpuDialect::kHami || TakesShares(); }
  auto operator<=>(const GpuRequest&) const = default;
};

// ---- what a pod was given ----

struct GpuShare {
  std::string uuid;
  std::int64_t memory_mib = 0;
  std::int32_t cores = 0;
  std::string mig_profile;  // "" unless a MIG instance
  MigPlacement mig_placement;

  bool operator==(const GpuShare&) const = default;
};

// Per container as in GpuRequest; a container without GPUs has an empty list.
struct GpuClaim {
  GpuDialect dialect = GpuDialect::kHami;
  std::vector<std::vector<GpuShare>> containers;
  std::vector<std::size_t> init_containers;  // positions of those that are `init`; ascending
  bool proven = true;  // when it was chosen by links: the search for a better set came to its end

  [[nodiscard]] bool empty() const { return containers.empty(); }
  [[nodiscard]] bool IsInit(std::size_t container) const;
  bool operator==(const GpuClaim&) const = default;
};

// ---- what a namespace has, and may have ----

struct GpuTotals {
  std::int64_t gpus = 0;  // shares count in full
  std::int64_t memory_mib = 0;
  std::int64_t cores = 0;

  void Add(const GpuTotals& other, int sign = 1);
  bool operator==(const GpuTotals&) const = default;
};

// What a pod holds: its containers together, or its largest init container, with the sidecars
// before it, where that is more.
[[nodiscard]] GpuTotals TotalOf(const GpuClaim& claim);

// The GPU limits of a ResourceQuota; none: no limit.
struct GpuLimits {
  std::optional<std::int64_t> gpus;
  std::optional<std::int64_t> memory_mib;
  std::optional<std::int64_t> cores;

  [[nodiscard]] bool empty() const { return !gpus && !memory_mib && !cores; }
  bool operator==(const GpuLimits&) const = default;
};

// What can be limited, by the resource that a pod asks for it with.
struct GpuPart {
  std::string_view resource;
  std::int64_t GpuTotals::*total;
  std::optional<std::int64_t> GpuLimits::*limit;
};
inline constexpr std::array<GpuPart, 3> kGpuParts = {{
    {"nvidia.com/gpu", &GpuTotals::gpus, &GpuLimits::gpus},
    {"nvidia.com/gpumem", &GpuTotals::memory_mib, &GpuLimits::memory_mib},
    {"nvidia.com/gpucores", &GpuTotals::cores, &GpuLimits::cores},
}};

// ---- what is taken of the GPUs of a node ----

struct GpuUsage {
  std::int32_t slots = 0;
  std::int64_t memory_mib = 0;
  std::int32_t cores = 0;
  std::vector<MigPlacement> mig;  // in use
  bool by_own_group = false;      // a pod of the PodGroup in question has a share

  // One more share: what a container holds of the GPU.
  void Add(const GpuShare& share);
  // At least what `other` is, part by part.
  void RaiseTo(const GpuUsage& other);
  bool operator==(const GpuUsage&) const = default;
};

// Adds what a pod holds, by the positions of `node`: its containers together, or its largest init
// container, with the sidecars before it, where that is more. Shares of GPUs that the node does not
// have are left out.
// REQUIRES: `usage` has an entry per GPU.
void AddClaim(const NodeGpus& node, const GpuClaim& claim, std::vector<GpuUsage>& usage);

}  // namespace strata
