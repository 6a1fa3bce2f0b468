#include "sched/plugins/nodeorder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "sched/plugins/argument_rules.h"
#include "sched/plugins/inter_pod_affinity.h"
#include "sched/plugins/kube_scores.h"
#include "sched/plugins/pod_spread.h"

namespace strata {
namespace {

// A sum of preferred weights has no limit of its own. This keeps it within what a Score can hold,
// and is far beyond what any weight makes of the other parts.
constexpr std::int64_t kMaxAffinity = 1'000'000'000;

// part * 100 / whole, rounded down. REQUIRES: 0 <= part <= whole, whole > 0.
std::int64_t Percent(Amount part, Amount whole) {
  __extension__ using Wide = __int128;
  return static_cast<std::int64_t>(Wide{part} * kMaxNodeScore / whole);
}

struct Weights {
  std::int64_t least = 1;
  std::int64_t max = 0;
  std::int64_t balanced = 1;
  std::int64_t node_affinity = 2;
  std::int64_t taints = 3;
  std::int64_t pod_affinity = 2;
  std::int64_t spread = 2;
};

// The same weight for both, as Volcano sets it, so that the mean is a plain one.
std::int64_t MeanScore(std::span<const ResourceUse> uses,
                       std::int64_t (*score)(const ResourceUse&)) {
  std::int64_t sum = 0;
  std::int64_t count = 0;
  for (const ResourceUse& use : uses) {
    if (use.capacity <= 0) continue;
    sum += score(use);
    ++count;
  }
  return count == 0 ? 0 : sum / count;
}

bool ToleratesEveryPreference(const std::vector<Toleration>& tolerations) {
  return std::any_of(tolerations.begin(), tolerations.end(), [](const Toleration& toleration) {
    return toleration.key.empty() && toleration.op == Toleration::Op::kExists &&
           toleration.effect.value_or(TaintEffect::kPreferNoSchedule) ==
               TaintEffect::kPreferNoSchedule;
  });
}

class Nodeorder final : public Plugin,
                        public NodeScorePoint,
                        public ScaledScorePoint,
                        public PeerScorePoint {
 public:
  Nodeorder(const Weights& weights, ResourceId gpu) : weights_(weights), gpu_(gpu) {}

  void ScoreNodes(const ClusterState& state,
                  const ClassSpec& spec,
                  std::span<const NodeId> nodes,
                  std::span<Score> out) const override {
    const Resources& request = state.classes().CountedOf(spec);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::int64_t sum = Allocation(state, spec, nodes[i]) +
                               Balance(state, request, nodes[i]) + Affinity(state, spec, nodes[i]);
      out[i] = sum * kScoreUnit;
    }
  }

  [[nodiscard]] bool IsUniform(const ClusterState& state, const ClassSpec& spec) const override {
    return weights_.taints == 0 || state.nodes().with_preferences() == 0 ||
           ToleratesEveryPreference(spec.tolerations);
  }

  void ScoreFeasible(const ClusterState& state,
                     const ClassSpec& spec,
                     std::span<const NodeId> feasible,
                     std::span<Score> out) const override {
    std::int64_t worst = 0;
    for (std::size_t i = 0; i < feasible.size(); ++i) {
      const std::vector<Taint>& taints = state.nodes().spec(feasible[i]).taints;
      out[i] = taints.empty() ? 0 : CountUntoleratedPreferences(taints, spec.tolerations);
      worst = std::max(worst, out[i]);
    }
    for (Score& score : out.first(feasible.size())) {
      score = TaintScore(score, worst) * weights_.taints * kScoreUnit;
    }
  }

  void ScorePeers(const PeerCounts& peers,
                  std::span<const NodeId> feasible,
                  std::span<Score> out) const override {
    const std::span<Score> totals = out.first(feasible.size());
    std::fill(totals.begin(), totals.end(), 0);
    std::vector<std::int64_t> parts(feasible.size());
    const auto add = [&](std::int64_t weight) {
      for (std::size_t i = 0; i < parts.size(); ++i) totals[i] += parts[i] * weight * kScoreUnit;
    };
    if (weights_.pod_affinity != 0 && !peers.attraction().empty()) {
      ScoreAffinity(peers, feasible, parts);
      add(weights_.pod_affinity);
    }
    if (weights_.spread != 0 && PrefersSpread(peers)) {
      ScoreSpread(peers, feasible, parts);
      add(weights_.spread);
    }
  }

 private:
  // Least and most allocated: cpu and memory, with kube-scheduler's defaults for containers that
  // request neither.
  [[nodiscard]] std::int64_t Allocation(const ClusterState& state,
                                        const ClassSpec& spec,
                                        NodeId node) const {
    if (weights_.least == 0 && weights_.max == 0) return 0;
    const auto allocatable = state.nodes().Allocatable(node);
    const std::array uses = {
        ResourceUse{state.nodes().NonzeroCpu(node) + spec.nonzero_cpu, allocatable[kCpu.index()]},
        ResourceUse{state.nodes().NonzeroMemory(node) + spec.nonzero_memory,
                    allocatable[kMemory.index()]}};
    std::int64_t sum = 0;
    if (weights_.least != 0) sum += weights_.least * MeanScore(uses, LeastAllocatedScore);
    if (weights_.max != 0) sum += weights_.max * MeanScore(uses, MostAllocatedScore);
    return sum;
  }

  [[nodiscard]] std::int64_t Balance(const ClusterState& state,
                                     const Resources& counted,
                                     NodeId node) const {
    if (weights_.balanced == 0) return 0;
    const std::span<const Amount> request = counted.amounts();
    const auto used = state.nodes().Used(node);
    const auto allocatable = state.nodes().Allocatable(node);
    std::array<ResourceUse, 3> without{};
    std::array<ResourceUse, 3> with{};
    std::size_t count = 0;
    for (const ResourceId resource : {kCpu, kMemory, gpu_}) {
      const Amount asked = resource.index() < request.size() ? request[resource.index()] : 0;
      const bool scalar = resource == gpu_;
      if (resource.index() >= allocatable.size() || (scalar && asked == 0)) continue;
      const Amount capacity = allocatable[resource.index()];
      without[count] = {used[resource.index()], capacity};
      with[count] = {used[resource.index()] + asked, capacity};
      ++count;
    }
    return weights_.balanced *
           BalancedScore(std::span(without).first(count), std::span(with).first(count));
  }

  [[nodiscard]] std::int64_t Affinity(const ClusterState& state,
                                      const ClassSpec& spec,
                                      NodeId id) const {
    if (weights_.node_affinity == 0 || spec.affinity.preferred.empty()) return 0;
    const NodeSpec& node = state.nodes().spec(id);
    const std::int64_t wish =
        std::min(PreferredWeight(spec.affinity, node.name, node.labels), kMaxAffinity);
    return std::clamp(wish * weights_.node_affinity, -kMaxAffinity, kMaxAffinity);
  }

  Weights weights_;
  ResourceId gpu_;
};

}  // namespace

std::int64_t LeastAllocatedScore(const ResourceUse& use) {
  if (use.capacity <= 0 || use.requested > use.capacity) return 0;
  return Percent(use.capacity - use.requested, use.capacity);
}

std::int64_t MostAllocatedScore(const ResourceUse& use) {
  if (use.capacity <= 0) return 0;
  return Percent(std::min(use.requested, use.capacity), use.capacity);
}

std::int64_t EvennessScore(std::span<const ResourceUse> uses) {
  std::array<double, 3> shares{};
  CHECK(uses.size() <= shares.size());
  std::size_t count = 0;
  double total = 0;
  for (const ResourceUse& use : uses) {
    if (use.capacity <= 0) continue;
    const double share = static_cast<double>(use.requested) / static_cast<double>(use.capacity);
    shares[count] = std::min(share, 1.0);
    total += shares[count];
    ++count;
  }
  double deviation = 0;
  if (count == 2) {
    deviation = std::abs((shares[0] - shares[1]) / 2);
  } else if (count > 2) {
    const double mean = total / static_cast<double>(count);
    double squares = 0;
    for (std::size_t i = 0; i < count; ++i) squares += (shares[i] - mean) * (shares[i] - mean);
    deviation = std::sqrt(squares / static_cast<double>(count));
  }
  return static_cast<std::int64_t>((1 - deviation) * static_cast<double>(kMaxNodeScore));
}

std::int64_t BalancedScore(std::span<const ResourceUse> without_pod,
                           std::span<const ResourceUse> with_pod) {
  constexpr std::int64_t kHalf = kMaxNodeScore / 2;
  return kHalf + (kHalf + EvennessScore(with_pod) - EvennessScore(without_pod)) / 2;
}

std::int64_t TaintScore(std::int64_t count, std::int64_t worst) {
  return worst == 0 ? kMaxNodeScore : kMaxNodeScore - kMaxNodeScore * count / worst;
}

Result<MadePlugin> MakeNodeorder(const PluginConfig& config, ResourceNames& resources) {
  struct Argument {
    const char* key;
    std::int64_t fallback;
    std::int64_t* weight;  // nullptr: nothing to weigh in this version
  };
  Weights weights;
  const std::array arguments = {
      Argument{"leastrequested.weight", weights.least, &weights.least},
      Argument{"mostrequested.weight", weights.max, &weights.max},
      Argument{"balancedresource.weight", weights.balanced, &weights.balanced},
      Argument{"nodeaffinity.weight", weights.node_affinity, &weights.node_affinity},
      Argument{"tainttoleration.weight", weights.taints, &weights.taints},
      Argument{"podaffinity.weight", weights.pod_affinity, &weights.pod_affinity},
      Argument{"podtopologyspread.weight", weights.spread, &weights.spread},
      Argument{"imagelocality.weight", 0, nullptr},
  };
  std::vector<std::string_view> known;
  std::vector<std::string> without_effect;
  for (const auto& [key, fallback, weight] : arguments) {
    known.emplace_back(key);
    TRY_ASSIGN(const std::int64_t value,
               WeightArgument(config.arguments, key, fallback, IfNegative::kKeep));
    if (weight != nullptr) {
      *weight = value;
    } else if (value != 0) {
      without_effect.push_back(ArgumentWarning(config.name, key, "has no effect in this version"));
    }
  }
  MadePlugin made{
      .plugin = std::make_unique<Nodeorder>(weights, resources.Intern("nvidia.com/gpu")),
      .warnings = WarnOfUnknown(config, known)};
  made.warnings.insert(made.warnings.end(), without_effect.begin(), without_effect.end());
  return made;
}

}  // namespace strata
