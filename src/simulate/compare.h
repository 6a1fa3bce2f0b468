#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "objects/object_set.h"
#include "report/gpu_sums.h"
#include "sched/config.h"
#include "whatif/answer.h"
#include "whatif/what_if.h"

// Two runs side by side: what `strata compare` shows.
namespace strata {

// What one side is made of; all of it must outlive the call.
struct ComparedSide {
  std::string name;                     // as the user called it
  const objects::ObjectSet* objects{};  // before any cycle
  const SchedulerConfig* config{};
  const Outcome* outcome{};
  NameOfGroup name_of;  // what people call a PodGroup "ns/podgroup"
};

// Everything is as the run left it.
struct SideFigures {
  std::string name;
  std::int64_t nodes = 0;
  GpuSums gpus;
  std::int64_t jobs = 0;
  std::int64_t placed = 0;
  // Placed jobs by the tier of the lowest HyperNode that holds them; 0: only the cluster does.
  std::map<std::int32_t, std::int64_t> placed_by_tier;
  std::int64_t waiting = 0;
  std::map<std::string, std::int64_t> waiting_by_reason;  // by words of docs/reasons.md
  std::int64_t pods_bound = 0;
  std::int64_t pods_evicted = 0;
};

struct Comparison {
  struct Setting {
    std::string name;  // "actions", "plugins", "binpack.arguments.binpack.weight"
    std::string a;     // "" when it is not set
    std::string b;

    bool operator==(const Setting&) const = default;
  };
  struct Objects {
    std::string kind;
    std::vector<std::string> only_a;  // names, ascending
    std::vector<std::string> only_b;
  };

  SideFigures a;
  SideFigures b;
  std::vector<JobDifference> jobs;  // that stand otherwise, by name
  std::vector<Setting> settings;    // of the scheduler's configuration, by name
  std::vector<Objects> objects;     // kinds of which one side has objects that the other lacks
};

// Pure. COST: O(nodes + pods + jobs) of both sides.
[[nodiscard]] Comparison Compare(const ComparedSide& a, const ComparedSide& b);

}  // namespace strata
