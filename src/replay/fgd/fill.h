#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replay/fabric.h"
#include "replay/fgd/pod_list.h"
#include "replay/fgd/rules.h"

namespace strata::replay::fgd {

// The means over all arrivals after which the GPUs asked for were so many per cent of the capacity,
// rounded. Shares of the capacity.
struct FillPoint {
  std::int64_t arrivals = 0;  // 0: there was none, the rest says nothing
  double allocated = 0;
  double fragmented = 0;  // idle, and of no use to typical pods
};

struct FillResult {
  std::vector<FillPoint> points;  // by per cent asked for, from 0
  std::int64_t arrived = 0;
  std::int64_t dropped = 0;
  // The recount of `check`: what does not agree with the books, the first few.
  std::vector<std::string> faults;
};

struct FillOptions {
  std::uint64_t seed = 0;
  double target = 1.3;  // of the capacity
  bool check = false;   // recount after every arrival: slow
};

// One run of the study. Equal scores go to the first node of an order drawn from the seed. Pure and
// deterministic.
[[nodiscard]] FillResult Fill(const PodList& list,
                              const Fabric& fabric,
                              Rule rule,
                              const FillOptions& options);

}  // namespace strata::replay::fgd
