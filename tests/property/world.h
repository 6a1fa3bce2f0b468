#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include <rapidcheck.h>

#include "model/cluster_state.h"
#include "tests/property/objects.h"

// Random clusters as plain numbers, so that a failing one can be made smaller number by number: 0
// is always the simplest choice. A number that names something is taken modulo what there is.
namespace strata::testing {

// A taint that some pods tolerate.
inline const Taint kKeepOut{.key = "only", .value = "some", .effect = TaintEffect::kNoSchedule};

struct NodeGene {
  int cpu = 0, gpu = 0, hca = 0, pods = 0;
  int zone = 0, taint = 0;
  int leaf = 0, second = 0;  // HyperNodes it is in: 0 none, else the (n-1)th
  bool cordoned = false;
  bool shrunk = false;  // under the pods that run there
};

struct HyperNodeGene {
  int tier = 0, tier_name = 0;
  int parent = 0;    // 0 none, else the (n-1)th; only one of a higher tier takes it, but for...
  bool odd = false;  // ...odd ones, which make cycles and second parents
};

struct QueueGene {
  int weight = 0, capability = 0;
  bool closed = false;
};

struct TaskGene {
  int shape = 0;   // index into the shapes of world.cc
  int status = 0;  // 0..5 pending, else running, releasing, ...
  int node = 0, role = 0, priority = 0, part = 0, created = 0, uid = 0;
  bool gated = false, unranked = false;
};

struct JobGene {
  int queue = 0, priority = 0, created = 0, slack = 0;  // minAvailable is the task count - slack
  int mode = 0, tier = 0;
  int policy = 0, part_size = 0, min_parts = 0;
  int min_resources = 0, role_minimum = 0;
  std::vector<TaskGene> tasks;
};

// Something that happens between two cycles.
struct EventGene {
  int what = 0, which = 0, where = 0;
};

struct World {
  std::vector<NodeGene> nodes;
  std::vector<HyperNodeGene> hypernodes;
  std::vector<QueueGene> queues;
  std::vector<JobGene> jobs;
  std::vector<EventGene> events;
};

// As rapidcheck prints a case that fails.
void showValue(const World& world, std::ostream& os);  // NOLINT(readability-identifier-naming)

[[nodiscard]] rc::Gen<World> AnyWorld();

// The cluster at its beginning, its objects put in in an order that `seed` decides.
[[nodiscard]] std::unique_ptr<ClusterState> Build(const World& world, unsigned seed);

// The same as objects.
[[nodiscard]] Objects ObjectsOf(const World& world);

// The event happens; what it is depends on names alone.
void Happen(const World& world, const EventGene& event, ClusterState& state);

void SetLabel(NodeSpec& node, const std::string& key, const std::string& value);

}  // namespace strata::testing
