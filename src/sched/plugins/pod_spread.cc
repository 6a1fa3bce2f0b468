#include "sched/plugins/pod_spread.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "sched/plugins/kube_scores.h"

namespace strata {
namespace {

constexpr std::string_view kHostname = "kubernetes.io/hostname";
using Unsatisfiable = SpreadRule::Unsatisfiable;

bool IsSoft(const SpreadRule& rule) {
  return rule.when_unsatisfiable == Unsatisfiable::kScheduleAnyway;
}

// One ScheduleAnyway rule against the nodes that may be chosen.
struct SoftRule {
  const SpreadRule* rule = nullptr;
  const SpreadTally* tally = nullptr;
  double weight = 0;

  [[nodiscard]] bool PerNode() const { return rule->topology_key == kHostname; }
  // Pods in the domain of the node, as far as they weigh.
  [[nodiscard]] double Score(NodeId node) const {
    const std::int64_t count = PerNode() ? tally->on_node[node.index()] : tally->In(node);
    return static_cast<double>(count) * weight + static_cast<double>(rule->max_skew - 1);
  }
};

std::vector<SoftRule> SoftRules(const PeerCounts& peers) {
  std::vector<SoftRule> soft;
  const std::vector<SpreadRule>& rules = peers.spec().rules.spread;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (IsSoft(rules[i])) soft.push_back({.rule = &rules[i], .tally = &peers.spread()[i]});
  }
  return soft;
}

// The more domains there are, the more a pod in one of them weighs.
double WeightOf(const SoftRule& soft, std::span<const NodeId> nodes) {
  if (soft.PerNode()) return NaturalLog(static_cast<double>(nodes.size()) + 2);
  std::set<std::uint32_t> domains;
  for (const NodeId node : nodes) domains.insert(soft.tally->domains->Of(node));
  return NaturalLog(static_cast<double>(domains.size()) + 2);
}

}  // namespace

double NaturalLog(double number) {
  constexpr double kLog2 = 0.69314718055994530942;
  int exponent = 0;
  const double mantissa = std::frexp(number, &exponent);  // in [0.5, 1)
  const double ratio = (mantissa - 1) / (mantissa + 1);   // of at most a third
  double power = ratio;
  double sum = 0;
  for (int i = 1; i < 40; i += 2) {
    sum += power / i;
    power *= ratio * ratio;
  }
  return 2 * sum + exponent * kLog2;
}

SpreadRefusal RefuseBySpread(const PeerCounts& peers, NodeId node) {
  const ClassSpec& spec = peers.spec();
  for (std::size_t i = 0; i < spec.rules.spread.size(); ++i) {
    const SpreadRule& rule = spec.rules.spread[i];
    if (IsSoft(rule)) continue;
    const SpreadTally& tally = peers.spread()[i];
    if (!tally.HasDomain(node)) return SpreadRefusal::kMissingLabel;
    const bool too_few = tally.domains_in_use < static_cast<std::uint32_t>(rule.min_domains);
    const std::int64_t least = too_few ? 0 : tally.least;
    const std::int64_t self = rule.Matches(spec.identity, spec.identity) ? 1 : 0;
    if (tally.In(node) + self - least > rule.max_skew) return SpreadRefusal::kSkew;
  }
  return SpreadRefusal::kNone;
}

const char* ToString(SpreadRefusal refusal) {
  switch (refusal) {
    case SpreadRefusal::kNone:
      return "";
    case SpreadRefusal::kMissingLabel:
      return "node(s) didn't match pod topology spread constraints (missing required label)";
    case SpreadRefusal::kSkew:
      return "node(s) didn't match pod topology spread constraints";
  }
  return "";
}

bool PrefersSpread(const PeerCounts& peers) {
  const std::vector<SpreadRule>& rules = peers.spec().rules.spread;
  return std::any_of(rules.begin(), rules.end(), IsSoft);
}

void ScoreSpread(const PeerCounts& peers,
                 std::span<const NodeId> nodes,
                 std::span<std::int64_t> out) {
  constexpr std::int64_t kIgnored = -1;
  std::vector<SoftRule> soft = SoftRules(peers);
  std::vector<NodeId> scored;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const bool has_keys = std::all_of(soft.begin(), soft.end(), [&](const SoftRule& rule) {
      return rule.tally->HasDomain(nodes[i]);
    });
    out[i] = has_keys ? 0 : kIgnored;
    if (has_keys) scored.push_back(nodes[i]);
  }
  for (SoftRule& rule : soft) rule.weight = WeightOf(rule, scored);
  std::int64_t low = std::numeric_limits<std::int64_t>::max();
  std::int64_t high = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (out[i] == kIgnored) continue;
    double score = 0;
    for (const SoftRule& rule : soft) score += rule.Score(nodes[i]);
    out[i] = static_cast<std::int64_t>(std::round(score));
    low = std::min(low, out[i]);
    high = std::max(high, out[i]);
  }
  for (std::int64_t& score : out.first(nodes.size())) {
    if (score == kIgnored) {
      score = 0;
    } else {
      score = high == 0 ? kMaxNodeScore : kMaxNodeScore * (high + low - score) / high;
    }
  }
}

}  // namespace strata
