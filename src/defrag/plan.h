#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "objects/pod.h"
#include "sched/config.h"
#include "whatif/cluster.h"

// Which running pods would have to move, and where to, so that a gang has room or whole HyperNodes
// become free. No job loses its place, and nothing is changed: a plan is for people to read.
namespace strata {

// What the room is for.
struct RoomForJob {
  std::string group;  // "ns/podgroup" of a job that waits
};
// A gang of pods that does not exist yet.
struct RoomForPods {
  objects::Pod pod;  // its annotations say queue and topology, as those of any pod
  std::int32_t count = 1;
};
// So many HyperNodes of a tier without pods, apart from those of DaemonSets.
struct FreeHyperNodes {
  std::int32_t tier = 1;
  std::int32_t count = 1;
};
using DefragGoal = std::variant<RoomForJob, RoomForPods, FreeHyperNodes>;

struct DefragLimits {
  std::optional<std::int64_t> max_gangs;  // that move as a whole
  std::optional<std::int64_t> max_pods;   // that move
  bool allow_higher_tier = false;         // jobs with a topology may end up further apart
};

struct DefragPlan {
  // The lowest HyperNode that holds some pods; "" for the cluster as a whole.
  struct Place {
    std::string hypernode;
    std::int32_t tier = 0;

    bool operator==(const Place&) const = default;
  };
  struct PodMove {
    std::string pod;   // "ns/pod"
    std::string from;  // nodes
    std::string to;

    bool operator==(const PodMove&) const = default;
  };
  // One step: pods of one job leave their nodes, and the scheduler places them anew.
  struct Move {
    std::string group;           // "ns/podgroup"
    bool whole_gang = false;     // else pods that the gang can spare while they move
    std::vector<PodMove> pods;   // ascending by name
    Place from;                  // of all pods of the job, before the step
    Place to;                    // and after it
    std::int64_t lost_work = 0;  // seconds since start or last checkpoint, x thousandths of GPUs

    bool operator==(const Move&) const = default;
  };
  // How many pods of one shape the best HyperNode of a tier has room for.
  struct LargestGang {
    std::int32_t tier = 0;
    std::string tier_name;
    std::int64_t before = 0;
    std::int64_t after = 0;  // once all steps are done, before anybody new starts

    bool operator==(const LargestGang&) const = default;
  };

  bool possible = false;
  std::string reason;         // one sentence: why there is no plan; "" where there is one
  std::vector<Place> target;  // where the gang then starts, or the HyperNodes that are free then
  // The room is made on these nodes, ascending. They are cordoned until the last step is done, so
  // that nobody else takes it.
  std::vector<std::string> nodes;
  std::vector<Move> moves;           // in an order in which each finds its place free
  objects::ResourceList pod;         // the shape that is counted
  std::vector<LargestGang> largest;  // ascending by tier; the last is the cluster

  [[nodiscard]] std::int64_t GangCount() const;  // that move as a whole
  [[nodiscard]] std::int64_t PodCount() const;
  [[nodiscard]] std::int64_t LostWork() const;
};

struct DefragQuery {
  DefragGoal goal;
  DefragLimits limits;
  std::optional<Time> now;                           // none: the latest time in the objects
  std::function<void(const std::string&)> on_stage;  // told what is tried, for progress
};

// So many targets are tried, those with most room first.
inline constexpr std::size_t kMaxDefragTargets = 32;

// Lets the scheduler start what can start as things are, then looks for moves. The plugins that
// keep pods from eviction decide who has to stay, pdb and conformance in any case; priorities say
// nothing. It takes the plan that moves the fewest gangs, then the fewest pods, then loses the
// least work.
//
// Pure apart from `on_stage`. kNotFound when there is no such job or tier, kInvalidArgument when
// objects or configuration cannot be used.
// COST: a load of all objects, and a cycle for each job that is tried in each target.
[[nodiscard]] Result<DefragPlan> PlanDefrag(CompletedObjects objects,
                                            SchedulerConfig config,
                                            const DefragQuery& query);

}  // namespace strata
