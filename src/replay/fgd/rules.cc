#include "replay/fgd/rules.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/fragmentation.h"

namespace strata::replay::fgd {
namespace {

constexpr std::int64_t kMaxScore = 100;
// The largest node of the study, to which rules relate what is left.
constexpr double kMaxCpu = 128'000;
constexpr std::int64_t kMaxGpu = 8000;

// Rounded down, within 0 to 100.
std::int64_t Whole(double score) {
  return static_cast<std::int64_t>(std::clamp(score, 0.0, static_cast<double>(kMaxScore)));
}

// The GPU with least idle that holds the share, the first of equals.
std::int32_t TightestGpu(const PodKind& kind, const Machine& machine) {
  std::int32_t best = -1;
  for (std::size_t i = 0; i < machine.idle.size(); ++i) {
    if (machine.idle[i] < kind.milli) continue;
    if (best < 0 || machine.idle[i] < machine.idle[static_cast<std::size_t>(best)]) {
      best = static_cast<std::int32_t>(i);
    }
  }
  return best;
}

// What is left after the pod, of the largest node.
std::int64_t BestFit(const PodKind& kind, const Machine& machine) {
  const auto cpu = static_cast<double>(machine.cpu_milli - kind.cpu_milli);
  const auto gpu = static_cast<double>(machine.idle_sum - kind.TotalMilli());
  return Whole(kMaxScore * (1 - cpu / (2 * kMaxCpu) - gpu / (2.0 * kMaxGpu)));
}

std::int64_t DotProduct(const PodKind& kind, const Machine& machine) {
  const double cpu = static_cast<double>(machine.cpu_milli) / kMaxCpu *
                     (static_cast<double>(kind.cpu_milli) / kMaxCpu);
  const double gpu = static_cast<double>(machine.idle_sum) / kMaxGpu *
                     (static_cast<double>(kind.TotalMilli()) / kMaxGpu);
  return Whole(kMaxScore * (1 - (cpu + gpu) / 2));
}

// GPUs in part use, then idle GPUs of a used node, then a node that nobody uses, smaller ones
// first.
std::int64_t Packing(const PodKind& kind, const Machine& machine) {
  constexpr std::int64_t kHalf = kMaxScore / 2;
  constexpr std::int64_t kThird = kMaxScore / 3;
  if (kind.gpus == 0) return 0;
  const std::int64_t whole = machine.GpusWith(kWholeGpu);
  if (whole == static_cast<std::int64_t>(machine.idle.size())) {
    return std::max(kThird - whole, whole);
  }
  if (!kind.Shares()) return std::max(kHalf - kind.gpus, kThird);
  const std::int32_t idle = machine.idle[static_cast<std::size_t>(TightestGpu(kind, machine))];
  if (idle == kWholeGpu) return kHalf - 1;
  return std::max(kMaxScore - std::int64_t{idle} * 100 / kWholeGpu / 10, kHalf);
}

// Nodes with nothing but pods of this kind, then with others too, then empty ones.
std::int64_t Clustering(const PodKind& kind, const Machine& machine) {
  constexpr std::int64_t kQuarter = kMaxScore / 4;
  if (kind.gpus == 0) return 0;
  const std::int64_t used = std::max<std::int64_t>(kMaxGpu - machine.idle_sum, 0);
  const std::int64_t fullness = kQuarter * used / kMaxGpu;
  const auto& holds = machine.holds;
  if (std::find(holds.begin(), holds.end(), AffinityOf(kind)) != holds.end()) {
    return fullness + (holds.size() == 1 ? 3 : 2) * kQuarter;
  }
  return fullness + (holds.empty() ? kQuarter : 0);
}

// By how much fragmentation falls, weighted, as a score.
std::int64_t FgdScore(Rule rule, std::int64_t gained, const PodList& list) {
  // More than the fragmentation of any node, so that no score is negative.
  constexpr std::int64_t kAboveAll = std::int64_t{1} << 60U;
  if (rule == Rule::kFgdExact) return kAboveAll + gained;
  return WholeFgdScore(gained, list.typical_weight);
}

Choice Fgd(Rule rule, const PodKind& kind, const Machine& machine, const PodList& list) {
  const std::int64_t before = WeightedFragmentation(machine, list);
  Machine after = machine;
  if (!kind.Shares()) {
    after.Take(kind, 0);
    return {.score = FgdScore(rule, before - WeightedFragmentation(after, list), list)};
  }
  Choice best;
  after.cpu_milli -= kind.cpu_milli;
  after.idle_sum -= kind.milli;
  for (std::size_t i = 0; i < after.idle.size(); ++i) {
    if (after.idle[i] < kind.milli) continue;
    // GPUs with as much idle have the same score, and the first of them is taken.
    const auto end = machine.idle.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(machine.idle.begin(), end, machine.idle[i]) != end) continue;
    after.idle[i] -= kind.milli;
    const std::int64_t score = FgdScore(rule, before - WeightedFragmentation(after, list), list);
    after.idle[i] += kind.milli;
    if (score > best.score) best = {.score = score, .gpu = static_cast<std::int32_t>(i)};
  }
  return best;
}

}  // namespace

const std::vector<RuleInfo>& KnownRules() {
  static const std::vector<RuleInfo> rules = {
      {Rule::kRandom, "rule:random", "Random", "any node that fits, and any GPU for a share"},
      {Rule::kDotProduct,
       "rule:dot-product",
       "DotProd",
       "the node with the least product of what is left and what is asked for"},
      {Rule::kClustering,
       "rule:clustering",
       "GpuClustering",
       "nodes with pods of as many GPUs, as Gandiva does"},
      {Rule::kPacking,
       "rule:packing",
       "GpuPacking",
       "GPUs in part use, then used nodes, then small empty ones"},
      {Rule::kBestFit, "rule:best-fit", "BestFit", "the node with least left of CPU and GPUs"},
      {Rule::kFgd, "rule:fgd", "FGD", "the node whose fragmentation falls most, in whole scores"},
      {Rule::kFgdExact, "rule:fgd,scores=exact", "", "the same without rounding the scores"}};
  return rules;
}

Result<RuleInfo> ChooseRule(std::string_view name) {
  std::vector<std::string_view> known;
  known.reserve(KnownRules().size());
  for (const RuleInfo& info : KnownRules()) {
    if (info.name == name) return info;
    known.emplace_back(info.name);
  }
  return Fail(Code::kInvalidArgument,
              fmt::format("unknown policy \"{}\"; known are {}", name, fmt::join(known, ", ")));
}

Choice Score(Rule rule, const PodKind& kind, const Machine& machine, const PodList& list) {
  if (!machine.Fits(kind)) return {};
  if (rule == Rule::kFgd || rule == Rule::kFgdExact) return Fgd(rule, kind, machine, list);
  Choice choice{.score = 0};
  if (kind.Shares()) choice.gpu = TightestGpu(kind, machine);
  if (rule == Rule::kDotProduct) choice.score = DotProduct(kind, machine);
  if (rule == Rule::kClustering) choice.score = Clustering(kind, machine);
  if (rule == Rule::kPacking) choice.score = Packing(kind, machine);
  if (rule == Rule::kBestFit) choice.score = BestFit(kind, machine);
  return choice;
}

}  // namespace strata::replay::fgd
