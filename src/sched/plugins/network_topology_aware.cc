#include "sched/plugins/network_topology_aware.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "base/check.h"
#include "sched/gang_search.h"
#include "sched/plugins/argument_rules.h"
#include "sched/plugins/binpack_weights.h"
#include "sched/plugins/hypernode_gradient.h"
#include "sched/plugins/tier_scores.h"

#include <cmath>
#include <cstdlib>
namespace strata {
namespace {
int Var(const char* n) { const char* v = std::getenv(n); return v ? std::atoi(v) : 0; }
int PodVar() { static const int v = Var("NTA_POD"); return v; }
int HnVar() { static const int v = Var("NTA_HN"); return v; }
std::optional<double> Tight(std::span<const ResourceWeight> weights, const Resources& request, std::span<const Amount> used, std::span<const Amount> alloc, int v) {
  double sum = 0; double wsum = 0;
  for (const auto& [resource, weight] : weights) {
    const Amount asked = request.Get(resource);
    if (asked <= 0) continue;
    wsum += weight;
    const Amount free = alloc[resource.index()] - used[resource.index()];
    if (asked > free) return std::nullopt;
    double x = static_cast<double>(asked) / static_cast<double>(free);
    if (v == 2) x = std::sqrt(x);
    if (v == 3) x = 0.25 * x;
    if (v == 4) x = 1 - static_cast<double>(free) / 64000.0;
    if (v == 5) x = 0.25 * (1 - static_cast<double>(free) / 64000.0);
    if (v == 6) x = 0.1 * (1 - static_cast<double>(free) / 64000.0);
    sum += x * weight;
  }
  return wsum > 0 ? sum / wsum : 0;
}

struct Settings {
  std::int64_t weight = 1;
  std::vector<ResourceWeight> resources;
  bool scores_normal_pods = true;
  double fading = 0.8;
  GangSearchSettings gang_search;
};

// A number per HyperNode that is forgotten at once, so that a call pays only for those it touches.
class HyperNodeMemo {
 public:
  void Forget(std::size_t hypernodes) {
    if (entries_.size() != hypernodes) entries_.assign(hypernodes, {});
    ++round_;
  }
  // The number of `id`, made by `make` when it is not there yet.
  template <typename Make>
  double Get(HyperNodeId id, const Make& make) {
    Entry& entry = entries_[id.index()];
    if (entry.round != round_) entry = {round_, make()};
    return entry.value;
  }
  void Add(HyperNodeId id, double value) {
    Entry& entry = entries_[id.index()];
    if (entry.round != round_) entry = {round_, 0};
    entry.value += value;
  }

 private:
  struct Entry {
    std::uint64_t round = 0;
    double value = 0;
  };
  std::vector<Entry> entries_;
  std::uint64_t round_ = 0;
};

// The fullness of HyperNodes with one more pod, kept from pod to pod as long as they ask for the
// same and the HyperNode does not change.
class FullnessCache {
 public:
  void Begin(const Resources& request, std::size_t hypernodes) {
    if (entries_.size() == hypernodes && request_ == request) return;
    entries_.assign(hypernodes, {});
    request_ = request;
  }
  // What `make` gives, unless it is known.
  template <typename Make>
  double Get(const ClusterState& state, HyperNodeId id, const Make& make) {
    Entry& entry = entries_[id.index()];
    const std::uint64_t version = state.sums().Version(id);
    if (entry.version != version) entry = {version, make()};
    return entry.value;
  }

 private:
  struct Entry {
    std::uint64_t version = 0;  // of the HyperNode's sums
    double value = 0;
  };
  Resources request_;
  std::vector<Entry> entries_;
};

class NetworkTopologyAware final : public Plugin,
                                   public ChainScorePoint,
                                   public HyperNodeScorePoint,
                                   public GradientPoint {
 public:
  explicit NetworkTopologyAware(Settings settings)
      : settings_(std::move(settings)), scale_(100.0 * static_cast<double>(settings_.weight)) {}

  void Open(const ClusterState& state, Time /*now*/) override {
    tier_weights_ = WeighTiers(state.tree().tiers(), settings_.fading);
  }

  [[nodiscard]] Gradient Find(const ClusterState& state,
                              const GradientQuery& query) const override {
    return FindGradient(state, query);
  }
  [[nodiscard]] bool IsEligible(const ClusterState& state,
                                const Resources& need,
                                HyperNodeId hypernode) const override {
    return HasSumsFor(state, need, hypernode);
  }
  [[nodiscard]] GangSearchSettings GangSearch() const override { return settings_.gang_search; }

  void ScoreHyperNodes(const ClusterState& state,
                       const HyperNodeScoreQuery& query,
                       std::span<const HyperNodeId> hypernodes,
                       std::span<Score> out) const override;

  [[nodiscard]] bool ScoresAlone(const HyperNodeScoreQuery& query) const override {
    return *query.pending == *query.need && HasNothingPlaced(*query.sub_job);
  }
  [[nodiscard]] bool ScoresByKind(const Placement& placement) const override {
    return placement.sub_job->topology.present() || !Packs();
  }
  [[nodiscard]] bool SumsTiers(const Placement& placement) const override {
    return !placement.sub_job->topology.present();
  }
  void SumTiers(const ClusterState& state,
                const Placement& placement,
                std::size_t tiers,
                std::span<const ChainId> chains,
                std::span<double> out) const override;
  void ScoreChains(const ClusterState& state,
                   const Placement& placement,
                   std::span<const ChainGroup> groups,
                   std::span<Score> out) const override {
    if (placement.sub_job->topology.present()) {
      ScoreNearness(state, placement, groups, out);
    } else {
      ScorePacking(state, placement, groups, out);
    }
  }

 private:
  [[nodiscard]] bool Packs() const {
    return settings_.scores_normal_pods && tier_weights_.total > 0;
  }
  void ScoreNearness(const ClusterState& state,
                     const Placement& placement,
                     std::span<const ChainGroup> groups,
                     std::span<Score> out) const;
  void ScorePacking(const ClusterState& state,
                    const Placement& placement,
                    std::span<const ChainGroup> groups,
                    std::span<Score> out) const;
  // The weighted sum over the first `tiers` tiers for nodes of `chain`: that of `base`, and the
  // rest on top of it.
  [[nodiscard]] double Packing(const ClusterState& state,
                               const Resources& request,
                               ChainId chain,
                               const ChainGroup::Base& base,
                               std::size_t tiers) const;
  [[nodiscard]] ChainGroup::Base Bottom() const {
    return {.tiers = 0, .sum = tier_weights_.between, .crown = 0};
  }
  [[nodiscard]] std::optional<double> FullnessOf(const ClusterState& state,
                                                 const Resources& request,
                                                 HyperNodeId id) const {
    return Fullness(settings_.resources,
                    request,
                    state.sums().Used(id),
                    state.sums().Allocatable(id),
                    IfNoneThere::kDoesNotFit);
  }
  // Whether any of the HyperNodes holds `request`; `out` gets the fullness of each, 0 where not.
  bool FillFullness(const ClusterState& state,
                    const Resources& request,
                    std::span<const HyperNodeId> hypernodes,
                    std::vector<double>& out) const;
  // Counts the sub-job's tasks that have a node into memo_, for each HyperNode above them.
  void CountTasks(const ClusterState& state, const SubJob& sub_job) const;

  Settings settings_;
  double scale_;
  TierWeights tier_weights_;
  mutable HyperNodeMemo memo_;        // scratch of one call
  mutable FullnessCache fullnesses_;  // of what was packed last
};

bool NetworkTopologyAware::FillFullness(const ClusterState& state,
                                        const Resources& request,
                                        std::span<const HyperNodeId> hypernodes,
                                        std::vector<double>& out) const {
  bool any = false;
  out.clear();
  for (const HyperNodeId id : hypernodes) {
    const auto fullness = HnVar() > 0 ? Tight(settings_.resources, request, state.sums().Used(id), state.sums().Allocatable(id), HnVar()) : FullnessOf(state, request, id);
    any = any || fullness.has_value();
    out.push_back(fullness.value_or(0));
  }
  return any;
}

void NetworkTopologyAware::CountTasks(const ClusterState& state, const SubJob& sub_job) const {
  const HyperNodeTree& tree = state.tree();
  memo_.Forget(tree.hypernodes().size());
  for (const TaskId id : sub_job.tasks) {
    const NodeId node = state.workload().task(id).node;
    if (!node.valid()) continue;
    for (const HyperNodeId above : tree.HyperNodesOf(tree.ChainOf(node))) memo_.Add(above, 1);
  }
}

void NetworkTopologyAware::ScoreHyperNodes(const ClusterState& state,
                                           const HyperNodeScoreQuery& query,
                                           std::span<const HyperNodeId> hypernodes,
                                           std::span<Score> out) const {
  std::vector<double> fullness;
  fullness.reserve(hypernodes.size());
  if (!FillFullness(state, *query.pending, hypernodes, fullness)) {
    FillFullness(state, *query.need, hypernodes, fullness);
  }
  Score best = kNoScore;
  std::size_t sharing = 0;
  for (std::size_t i = 0; i < hypernodes.size(); ++i) {
    out[i] = ToScore(fullness[i]);
    if (out[i] > best) {
      best = out[i];
      sharing = 0;
    }
    if (out[i] == best) ++sharing;
  }
  const SubJob& sub_job = *query.sub_job;
  const bool shared = sharing >= 2 && !HasNothingPlaced(sub_job);
  if (shared) CountTasks(state, sub_job);
  for (std::size_t i = 0; i < hypernodes.size(); ++i) {
    double value = fullness[i];
    if (shared && out[i] == best) {
      value +=
          memo_.Get(hypernodes[i], [] { return 0.0; }) / static_cast<double>(sub_job.tasks.size());
    }
    out[i] = ToScore(value * scale_);
  }
}

void NetworkTopologyAware::ScoreNearness(const ClusterState& state,
                                         const Placement& placement,
                                         std::span<const ChainGroup> groups,
                                         std::span<Score> out) const {
  if (!placement.allocated.valid()) {
    std::fill(out.begin(), out.end(), 0);
    return;
  }
  const HyperNodeTree& tree = state.tree();
  const std::int32_t lowest = tree.tiers().front();
  const std::int32_t highest = tree.tiers().back();
  // A node in no HyperNode has only the top, which says nothing about where it is.
  const HyperNodeId outside = lowest == highest ? HyperNodeId{} : tree.top();
  // This runs once per pod of a gang over all chains: neighbours mostly share their tier, so the
  // last answer is kept.
  std::int32_t last_tier = std::numeric_limits<std::int32_t>::min();
  double last = 0;
  const auto nearness = [&](const ChainGroup& group) {
    if (group.leaf == outside) return 0.0;
    if (group.same_as_allocated) return 1.0;
    if (group.lca_tier != last_tier) {
      last_tier = group.lca_tier;
      last = NearnessOfTier(last_tier, lowest, highest);
    }
    return last;
  };
  double best = -1;
  std::uint64_t sharing = 0;
  double rounded = 0;
  Score rounded_score = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].feasible == 0) continue;
    const double value = nearness(groups[i]);
    if (value != rounded) {
      rounded = value;
      rounded_score = ToScore(value * scale_);
    }
    out[i] = rounded_score;
    if (value > best) {
      best = value;
      sharing = 0;
    }
    if (value == best) sharing += groups[i].feasible;
  }
  if (sharing < 2) return;
  const auto tasks = static_cast<double>(placement.sub_job->tasks.size());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const ChainGroup& group = groups[i];
    if (group.tasks_on_leaf == 0 || group.feasible == 0 || group.leaf == outside) continue;
    if (nearness(group) == best) out[i] = ToScore((best + group.tasks_on_leaf / tasks) * scale_);
  }
}

double NetworkTopologyAware::Packing(const ClusterState& state,
                                     const Resources& request,
                                     ChainId chain,
                                     const ChainGroup::Base& base,
                                     std::size_t tiers) const {
  const HyperNodeTree& tree = state.tree();
  const std::span<const std::int32_t> all = tree.tiers();
  CHECK(tier_weights_.of_tier.size() == all.size());  // Open saw this tree
  double sum = base.sum;
  std::size_t next = base.tiers;  // the tier to come
  const auto fill_up_to = [&](std::size_t end) {
    for (; next < end; ++next) sum += tier_weights_.of_tier[next];  // nothing there counts as full
  };
  for (const HyperNodeId id : tree.HyperNodesOf(chain)) {  // ascending by tier and name
    const std::int32_t its_tier = tree.at(id).tier;
    if (next > 0 && its_tier <= all[next - 1]) continue;  // in the base, or of another tree
    std::size_t tier = next;
    while (tier < tiers && all[tier] < its_tier) ++tier;
    if (tier == tiers) break;
    fill_up_to(tier);
    const auto fullness = [&] { return (PodVar() > 0 ? Tight(settings_.resources, request, state.sums().Used(id), state.sums().Allocatable(id), PodVar()) : FullnessOf(state, request, id)).value_or(0); };
    sum += tier_weights_.of_tier[tier] * fullnesses_.Get(state, id, fullness);
    ++next;
  }
  fill_up_to(tiers);
  return sum;
}

void NetworkTopologyAware::SumTiers(const ClusterState& state,
                                    const Placement& placement,
                                    std::size_t tiers,
                                    std::span<const ChainId> chains,
                                    std::span<double> out) const {
  std::fill(out.begin(), out.end(), 0);
  if (!Packs()) return;
  const Resources& request = state.classes().CountedOf(*placement.spec);
  fullnesses_.Begin(request, state.tree().hypernodes().size());
  for (std::size_t i = 0; i < chains.size(); ++i) {
    out[i] = Packing(state, request, chains[i], Bottom(), tiers);
  }
}

void NetworkTopologyAware::ScorePacking(const ClusterState& state,
                                        const Placement& placement,
                                        std::span<const ChainGroup> groups,
                                        std::span<Score> out) const {
  std::fill(out.begin(), out.end(), 0);
  if (!Packs()) return;
  const Resources& request = state.classes().CountedOf(*placement.spec);
  const std::size_t tiers = state.tree().tiers().size();
  fullnesses_.Begin(request, state.tree().hypernodes().size());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].feasible == 0) continue;
    const ChainGroup::Base base = groups[i].base.value_or(Bottom());
    const double sum = Packing(state, request, groups[i].chain, base, tiers);
    out[i] = ToScore(sum / tier_weights_.total * scale_);
  }
}

Result<Settings> ReadSettings(const Arguments& arguments) {
  Settings settings;
  TRY_ASSIGN(settings.weight, WeightArgument(arguments, "weight", 1, IfNegative::kUseDefault));
  TRY_ASSIGN(settings.scores_normal_pods,
             arguments.Bool("hypernode.binpack.normal-pod.enable", true));
  TRY_ASSIGN(const double fading,
             arguments.Float("hypernode.binpack.normal-pod.fading", settings.fading));
  if (fading >= 0) settings.fading = fading;
  TRY(arguments.Int("hypernode.gradient.evict.max-hypernodes", 8));
  TRY_ASSIGN(const std::int64_t budget, arguments.Int(kSecondMaxSteps, 0));
  settings.gang_search.second_budget =
      static_cast<std::uint64_t>(std::max<std::int64_t>(budget, 0));
  TRY_ASSIGN(settings.gang_search.fewest_leaves, arguments.Bool(kFewLeaves, false));
  TRY_ASSIGN(settings.gang_search.rank_order, arguments.Bool(kRankOrder, false));
  return settings;
}

}  // namespace

Result<MadePlugin> MakeNetworkTopologyAware(const PluginConfig& config, ResourceNames& resources) {
  TRY_ASSIGN(Settings settings, ReadSettings(config.arguments));
  TRY_ASSIGN(BinpackWeights read, ReadBinpackWeights(config, "hypernode.binpack", resources));
  settings.resources = std::move(read.weights);
  std::vector<std::string_view> known(read.known.begin(), read.known.end());
  for (const char* key : {"weight",
                          "hypernode.binpack.normal-pod.enable",
                          "hypernode.binpack.normal-pod.fading",
                          "hypernode.gradient.evict.max-hypernodes",
                          kSecondMaxSteps,
                          kFewLeaves,
                          kRankOrder}) {
    known.emplace_back(key);
  }
  MadePlugin made{.plugin = std::make_unique<NetworkTopologyAware>(std::move(settings)),
                  .warnings = WarnOfUnknown(config, known)};
  made.warnings.insert(made.warnings.end(), read.warnings.begin(), read.warnings.end());
  return made;
}

}  // namespace strata
