#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "replay/trace.h"

namespace strata::replay {

// Traces that are made up. Jobs come at random (Poisson) and run for random times (exponential).
struct GenerateTraceSpec {
  struct Share {
    std::int32_t gpus = 1;    // of the job
    std::int32_t weight = 1;  // relative to the others
    double duration = 0;      // seconds, the mean of these jobs; 0: that of all
  };
  std::int32_t jobs = 1000;
  double rate = 0.01;      // jobs per second
  double duration = 3600;  // seconds, the mean
  std::int32_t gpus_per_pod = 8;
  std::vector<Share> sizes = {{}};
};

// "jobs=N,rate=R,duration=S[,sizes=GPUS:WEIGHT[:S]+GPUS:WEIGHT[:S]...][,pods-of=G]", in any order.
// Errors are one line that names the key.
[[nodiscard]] Result<GenerateTraceSpec> ParseGenerateTraceSpec(std::string_view text);

// The parameters and the seed are in the comments of the trace. The same seed, the same trace.
[[nodiscard]] Trace GenerateTrace(const GenerateTraceSpec& spec, std::uint64_t seed);

}  // namespace strata::replay
