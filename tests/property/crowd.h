#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include <rapidcheck.h>

#include "sched/config.h"
#include "tests/support/cluster_builder.h"

// Small clusters that are full or nearly so, with jobs that want room. Like world.h: plain numbers,
// 0 is the simplest choice, a number that names something is taken modulo what there is.
namespace strata::testing {

struct CrowdPod {
  int node = 0, size = 0;  // cores: 1, 2 or 4
  int kept = 0;            // 1 not preemptable, 2 of the system, 3 just started, else neither
  int since = 0, grace = 0;
  bool ps = false;  // role
};

struct CrowdJob {
  int queue = 0, priority = 0, slack = 0;
  bool group_kept = false;
  int ps_minimum = 0;
  int parts = 0;  // sub-groups that its pods are dealt to; one of them is enough. Below 2: none
  std::vector<CrowdPod> pods;  // those that find room run
};

struct CrowdGang {
  int queue = 0, priority = 0, pods = 0, size = 0, slack = 0;
  int topology = 0;  // none, hard 1, hard 2, soft
  int parts = 0;     // 1 and 2: sub-groups of two pods, with 2 each in one rack; else none
};

struct Crowd {
  std::vector<int> racks;  // by node: 0 or 1; both below one spine
  int policies = 0;        // of the queues: which is not reclaimable, what they deserve
  std::vector<CrowdJob> jobs;
  std::vector<CrowdGang> gangs;
};

void showValue(const Crowd& crowd, std::ostream& os);  // NOLINT(readability-identifier-naming)

// At most `jobs` jobs that run, and `gangs` that wait.
[[nodiscard]] rc::Gen<Crowd> AnyCrowd(int jobs, int gangs);
// The same without sub-groups.
void RemoveSubGroups(Crowd& crowd);

inline constexpr Amount kCrowdNodeCores = 4;
[[nodiscard]] Time CrowdNow();
[[nodiscard]] TopologySpec CrowdTopology(const CrowdGang& gang);
[[nodiscard]] Amount CrowdCores(int size);

// Jobs are j0, j1 ...; gangs g0, g1 ...; queues q0, q1, q2. `seed` decides the order in which
// things are put in.
[[nodiscard]] std::unique_ptr<ClusterBuilder> Build(const Crowd& crowd, unsigned seed);

// Actions enqueue, allocate and this one; cdp; capacity with reclaim, else no quota.
[[nodiscard]] SchedulerConfig CrowdConfig(const std::string& action, bool dry_run = false);

}  // namespace strata::testing
