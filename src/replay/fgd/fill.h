#pragma once

#include <cstdint>
#include <optional>
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

// Where a pod lies.
struct Placed {
  NodeIndex node = 0;
  std::vector<std::int32_t> gpus;
};

// Decides in the place of a rule. It keeps its own books of what is in use.
class Placer {
 public:
  Placer() = default;
  Placer(const Placer&) = delete;
  Placer& operator=(const Placer&) = delete;
  virtual ~Placer() = default;
  // Where a pod of the kind goes; none: it is dropped.
  virtual std::optional<Placed> Place(std::uint32_t kind) = 0;
};

// The nodes in the order drawn from a seed.
[[nodiscard]] std::vector<NodeIndex> NodeOrder(const Fabric& fabric, std::uint64_t seed);

// One run of the study. Equal scores go to the first node of an order drawn from the seed. Pure and
// deterministic.
[[nodiscard]] FillResult Fill(const PodList& list,
                              const Fabric& fabric,
                              Rule rule,
                              const FillOptions& options);
// The same with the decisions of `placer`, which is fresh and made for these.
[[nodiscard]] FillResult Fill(const PodList& list,
                              const Fabric& fabric,
                              Placer& placer,
                              const FillOptions& options);

}  // namespace strata::replay::fgd
