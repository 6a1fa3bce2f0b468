#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/resources.h"
#include "model/workload.h"
#include "objects/meta.h"

// Kubernetes resource lists in the units of the core.
namespace strata {

// The name under which the core counts a resource, or none when it does not: object counts
// (`count/...`), limits of quotas (`limits....`) and the device shares that deviceshare checks
// itself (nvidia.com/gpumem, gpumem-percentage, gpucores, and volcano.sh/vgpu-memory,
// vgpu-memory-percentage, vgpu-cores). `requests.cpu` counts as `cpu`.
[[nodiscard]] std::optional<std::string_view> CountedName(std::string_view name);

// Whether only quotas count it: limits.cpu, limits.memory, limits.ephemeral-storage, count/pods.
[[nodiscard]] bool IsQuotaName(std::string_view name);

// Adds the counted names of `list` to `names`. Interning the sorted names of all nodes first keeps
// resource ids, and so every internal order, independent of the order of the input.
void CollectNames(const objects::ResourceList& list,
                  std::set<std::string_view, std::less<>>& names);

// What a list of amounts is: what a node has, or what something asks for, may have or has used.
// Only names of nodes make resources known (ResourceNames).
enum class ListOf : std::uint8_t { kNode, kAsked };

// kInvalidArgument, naming the resource, when an amount does not fit into 64 bits of its unit.
// Where a list has both `cpu` and `requests.cpu`, `cpu` counts.
[[nodiscard]] Result<Resources> ToResources(const objects::ResourceList& list,
                                            ResourceNames& names,
                                            ListOf list_of = ListOf::kAsked);
// The same, with named zeros kept.
[[nodiscard]] Result<ResourceLimits> ToLimits(const objects::ResourceList& list,
                                              ResourceNames& names,
                                              ListOf list_of = ListOf::kAsked);

// The entries of which only quotas know (IsQuotaName).
[[nodiscard]] Result<ResourceLimits> ToQuotaLimits(const objects::ResourceList& list,
                                                   ResourceNames& names);

// The same list with GPUs by the name that they are counted by: volcano.sh/vgpu-number is
// nvidia.com/gpu, unless the list has that already.
[[nodiscard]] objects::ResourceList CountedInGpus(const objects::ResourceList& list);

// The other way: 1500 of cpu is "1500m", a GPU of 1000 is "1".
[[nodiscard]] Quantity ToQuantity(std::string_view resource_name, Amount amount);

}  // namespace strata
