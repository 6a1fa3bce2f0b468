#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "replay/fgd/machine.h"

// The rules that the study compares: our reading of the authors' program.
namespace strata::replay::fgd {

// kFgdExact is FGD without rounding its scores to whole numbers: what the rounding is worth. kCore
// stands for the scheduler itself (Placer).
enum class Rule : std::uint8_t {
  kRandom,
  kDotProduct,
  kClustering,
  kPacking,
  kBestFit,
  kFgd,
  kFgdExact,
  kCore
};

struct RuleInfo {
  Rule rule = Rule::kRandom;
  std::string name;       // "rule:best-fit"
  std::string published;  // what the authors call it: "BestFit"
  std::string says;       // what it does
};
// In the order of their figures as published, kFgdExact last.
[[nodiscard]] const std::vector<RuleInfo>& KnownRules();
// kInvalidArgument with the known names when `name` is none of them.
[[nodiscard]] Result<RuleInfo> ChooseRule(std::string_view name);

// How a pod of a kind would lie on a node.
struct Choice {
  static constexpr std::int64_t kDoesNotFit = -1;

  std::int64_t score = kDoesNotFit;  // the higher the better, never negative
  std::int32_t gpu = 0;              // for a share
};
// kRandom: the score is 0 wherever the pod fits, and the GPU is drawn by its caller.
[[nodiscard]] Choice Score(Rule rule,
                           const PodKind& kind,
                           const Machine& machine,
                           const PodList& list);

}  // namespace strata::replay::fgd
