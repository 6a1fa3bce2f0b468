#include "sched/registry.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "sched/plugins/binpack.h"
#include "sched/plugins/capacity.h"
#include "sched/plugins/cdp.h"
#include "sched/plugins/conformance.h"
#include "sched/plugins/deviceshare.h"
#include "sched/plugins/drf.h"
#include "sched/plugins/fragmentation.h"
#include "sched/plugins/gang.h"
#include "sched/plugins/network_topology_aware.h"
#include "sched/plugins/nodegroup.h"
#include "sched/plugins/nodeorder.h"
#include "sched/plugins/numa_aware.h"
#include "sched/plugins/overcommit.h"
#include "sched/plugins/pdb.h"
#include "sched/plugins/predicates.h"
#include "sched/plugins/priority.h"
#include "sched/plugins/proportion.h"
#include "sched/plugins/resourcequota.h"
#include "sched/plugins/sla.h"
#include "sched/plugins/task_topology.h"

namespace strata {
namespace {

struct Entry {
  std::string_view name;
  Result<MadePlugin> (*make)(const PluginConfig&, ResourceNames&);
};

constexpr std::array kPlugins = {
    // ascending by name
    Entry{"binpack", MakeBinpack},
    Entry{"capacity", MakeCapacity},
    Entry{"cdp", MakeCdp},
    Entry{"conformance", MakeConformance},
    Entry{"deviceshare", MakeDeviceshare},
    Entry{"drf", MakeDrf},
    Entry{"fragmentation", MakeFragmentation},
    Entry{"gang", MakeGang},
    Entry{"network-topology-aware", MakeNetworkTopologyAware},
    Entry{"nodegroup", MakeNodegroup},
    Entry{"nodeorder", MakeNodeorder},
    Entry{"numa-aware", MakeNumaAware},
    Entry{"overcommit", MakeOvercommit},
    Entry{"pdb", MakePdb},
    Entry{"predicates", MakePredicates},
    Entry{"priority", MakePriority},
    Entry{"proportion", MakeProportion},
    Entry{"resourcequota", MakeResourcequota},
    Entry{"sla", MakeSla},
    Entry{"task-topology", MakeTaskTopology},
};

constexpr std::array<std::string_view, 5> kVolcanoPlugins = {
    "extender",
    "rescheduling",
    "resource-strategy-fit",
    "tdm",
    "usage",
};

const Entry* Find(std::string_view name) {
  const auto* it = std::find_if(
      kPlugins.begin(), kPlugins.end(), [&](const Entry& entry) { return entry.name == name; });
  return it == kPlugins.end() ? nullptr : it;
}

}  // namespace

Result<MadePlugin> MakePlugin(const PluginConfig& config, ResourceNames& resources) {
  const Entry* entry = Find(config.name);
  CHECK(entry != nullptr);
  auto made = entry->make(config, resources);
  if (!made) return tl::unexpected<Error>(std::move(made).error().Context(config.name));
  return made;
}

bool IsPlugin(std::string_view name) {
  return Find(name) != nullptr;
}

std::vector<std::string_view> PluginNames() {
  std::vector<std::string_view> names;
  names.reserve(kPlugins.size());
  for (const Entry& entry : kPlugins) names.push_back(entry.name);
  return names;
}

bool IsVolcanoPlugin(std::string_view name) {
  return std::find(kVolcanoPlugins.begin(), kVolcanoPlugins.end(), name) != kVolcanoPlugins.end();
}

}  // namespace strata
