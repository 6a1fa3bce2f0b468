#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "replay/engine.h"
#include "replay/fabric.h"
#include "replay/trace.h"
#include "replay/workload.h"

// What a replay comes to in numbers.
namespace strata::replay {

// A set of spans in seconds. A percentile is the smallest value that so many per cent of all do not
// exceed.
struct Spread {
  std::int64_t count = 0;
  double mean_s = 0;
  double p50_s = 0;
  double p95_s = 0;
  double p99_s = 0;
  double max_s = 0;
};
[[nodiscard]] Spread SpreadOf(std::vector<Millis> spans);

// Classes of jobs by GPUs, as traces are usually described.
inline constexpr std::array<const char*, 6> kSizeNames = {
    "1", "2-7", "8", "9-64", "65-256", ">256"};
[[nodiscard]] std::size_t SizeClassOf(std::int64_t gpus);

// How gangs lie in the network.
struct GangFigures {
  std::int64_t count = 0;
  std::int64_t in_one_leaf = 0;
  std::int64_t as_few_leaves_as_possible = 0;  // as on an empty cluster
  std::int64_t above_possible_tier = 0;        // a lower tier had room for them as they started
  double leaves_mean = 0;
  double crossings_mean = 0;
  std::vector<std::int64_t> by_level;  // the lowest level first, then the cluster as a whole
};

// Points of a curve, for the report.
struct CurvePoint {
  double x = 0;
  double y = 0;
};

struct Figures {
  std::int64_t jobs = 0;  // that came
  std::int64_t finished = 0;
  std::int64_t never_fit = 0;  // larger than the empty cluster
  Spread wait;                 // of finished jobs, as are the next ones
  Spread gang_wait;            // of jobs of several pods
  Spread completion;           // from submission to end
  Spread gang_completion;
  std::vector<Spread> wait_by_size;  // by kSizeNames
  Spread window_wait;                // without the first tenth of all submissions
  double wait_by_gpu_time_s = 0;     // mean wait, weighted by GPU time
  double slowdown_mean = 0;          // bounded at 10 s
  GangFigures gangs;
  double makespan_s = 0;             // first submission to last end
  double utilization = 0;            // GPUs held, of all, over that time
  double window_utilization = 0;     // from the tenth part of submissions to the last one
  double effective_utilization = 0;  // GPU time at full speed, of all
  double gpu_hours = 0;              // held
  double stranded = 0;               // of free GPUs, those on nodes in part use; a mean over time
  double waiting_gpu_hours = 0;      // wait times GPUs, summed over all jobs
  std::vector<double> blocked_gpu_hours;  // by BlockedBy
  std::vector<double> placeable;          // by kPlaceable; means over time, as are the next two
  std::vector<double> rack_loss;          // by kPlaceable: wholly free nodes that they cannot use
  double gini = 0;                        // of wholly free nodes over leaves
  std::int64_t decisions = 0;
  std::vector<CurvePoint> wait_curve;   // seconds, share of jobs that waited at most so long
  std::vector<CurvePoint> held_curve;   // hours, share of GPUs in use
  std::vector<CurvePoint> queue_curve;  // hours, jobs waiting
};

// Pure. REQUIRES: the result is of this workload on this fabric, and complete.
[[nodiscard]] Figures MakeFigures(const Workload& workload,
                                  const Fabric& fabric,
                                  const EngineResult& result);

[[nodiscard]] const char* ToString(BlockedBy why);

}  // namespace strata::replay
