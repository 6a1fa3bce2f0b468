#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "replay/fabric.h"
#include "replay/policies/policy.h"
#include "replay/workload.h"

// Virtual time: a trace played against a cluster, by the decisions of one policy.
namespace strata::replay {

// kFifo: the head of the queue blocks the others. kSkip: a job that does not fit lets the next one
// try. kEasy: later jobs may start while the head waits, as long as its start, known from the
// promised lengths (walltime) of what runs, is not delayed.
enum class Discipline : std::uint8_t { kFifo, kSkip, kEasy };

struct EngineOptions {
  Discipline discipline = Discipline::kFifo;
  Millis startup = 0;  // a job holds its GPUs this long before it begins to work
  // The work of a gang that lies in several leaves takes this much longer; 1: no difference.
  double crossing_slowdown = 1;
  bool check = false;        // recount everything at every moment: slow
  bool keep_places = false;  // the nodes of every job, after it has ended
  // Called from time to time with the number of jobs that are over; false: stop.
  std::function<bool(std::size_t)> go_on = {};
};

// Where and when a job ran.
struct JobRun {
  static constexpr Millis kNever = -1;

  Millis start = kNever;  // kNever: it never got a place
  Millis end = kNever;
  std::int32_t leaves = 0;        // domains of the lowest level that it touched
  std::int32_t crossings = 0;     // edges of the ring of its pods, by rank, that leave a leaf
  std::uint16_t level = 0;        // the lowest level with a domain that holds all its pods
  std::uint16_t level_could = 0;  // the lowest at which the policy could have placed it then

  bool operator==(const JobRun&) const = default;
};

// Why jobs wait while the cluster has free GPUs enough for them. kOrder: they would fit, and wait
// behind another job. kFragmentation: they would not, were nodes exchangeable. kTopology: they
// would without their limit. kCapacity: the GPUs are in use.
enum class BlockedBy : std::uint8_t { kCapacity, kFragmentation, kTopology, kOrder };
inline constexpr std::size_t kBlockedKinds = 4;

// What is true from `at` on.
struct Moment {
  Millis at = 0;
  std::int64_t held = 0;      // GPUs
  std::int64_t stranded = 0;  // free GPUs of nodes that are partly used
  std::int64_t waiting = 0;   // jobs
  std::int64_t queued = 0;    // GPUs that these ask for
};

// Gangs of so many whole nodes for which `placeable` is counted.
inline constexpr std::array<std::int32_t, 4> kPlaceable = {1, 2, 4, 8};

struct EngineResult {
  std::vector<JobRun> runs;                    // by job
  std::vector<std::vector<NodeIndex>> places;  // by job and rank; empty unless they are kept
  std::vector<Moment> moments;      // ascending; one for each moment at which something changed
  std::size_t decisions = 0;        // questions to the policy
  bool stopped = false;             // go_on said so: the rest is not complete
  std::vector<std::string> faults;  // what the checks found, the first few
  // GPU-milliseconds that waiting jobs asked for, by BlockedBy.
  std::array<std::int64_t, kBlockedKinds> blocked{};
  // Integrals over time of how many gangs of kPlaceable[i] whole nodes could start, each in one
  // leaf.
  std::array<std::int64_t, kPlaceable.size()> placeable{};
  // Likewise of the share of wholly free nodes that these gangs cannot use, and of the Gini
  // coefficient of wholly free nodes over leaves (model/fragmentation.h).
  std::array<double, kPlaceable.size()> rack_loss{};
  double gini = 0;
};

// Pure and deterministic. At one instant: ends, then arrivals, then places until nobody gets one.
// A job starts whole or not at all. REQUIRES: `policy` is fresh and made for these.
[[nodiscard]] EngineResult Replay(const Workload& workload,
                                  const Fabric& fabric,
                                  const EngineOptions& options,
                                  Policy& policy);

}  // namespace strata::replay
