#include "sched/peer_counts.h"

#include <algorithm>
#include <limits>

namespace strata {
namespace {

void AddKey(std::vector<std::string>& keys, const std::string& key) {
  if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
}

void Clear(Tally& tally, const TopologyDomains& domains) {
  tally.domains = &domains;
  tally.on_node.assign(domains.of_node.size(), 0);
  tally.in_domain.assign(domains.count, 0);
  tally.total = 0;
}

// The terms of `other` against this pod, by one topology key.
std::int32_t Repulsion(const PodRules& other, const PodIdentity& self, std::string_view key) {
  return static_cast<std::int32_t>(
      std::count_if(other.anti_affinity.begin(), other.anti_affinity.end(), [&](const auto& term) {
        return term.topology_key == key && term.Matches(self);
      }));
}

std::int32_t Attraction(const PodRules& rules, const PodIdentity& pod, std::string_view key) {
  std::int32_t sum = 0;
  for (const PreferredPodTerm& preferred : rules.preferred) {
    if (preferred.term.topology_key == key && preferred.term.Matches(pod)) sum += preferred.weight;
  }
  return sum;
}

bool ShareClaim(const VolumeRules& a, const VolumeRules& b) {
  return std::any_of(a.exclusive.begin(), a.exclusive.end(), [&](const std::string& claim) {
    return std::binary_search(b.exclusive.begin(), b.exclusive.end(), claim);
  });
}

}  // namespace

PeerCounts::PeerCounts(const ClusterState& state, ClassId class_id)
    : state_(state), spec_(state.classes().spec(class_id)) {
  for (const PreferredPodTerm& preferred : spec_.rules.preferred) {
    AddKey(attraction_keys_, preferred.term.topology_key);
  }
}

bool PeerCounts::Concerned() {
  if (spec_.HasRules()) return true;
  if (rules_version_ == state_.classes().rules_version()) return watched_;
  rules_version_ = state_.classes().rules_version();
  if (classes_seen_ < state_.classes().with_rules().size()) FindKeys();
  return watched_ = std::any_of(onlookers_.begin(), onlookers_.end(), [&](ClassId id) {
           return state_.classes().HasTasks(id);
         });
}

// Which rules of classes that are new here select this one.
void PeerCounts::FindKeys() {
  for (const ClassId id : state_.classes().with_rules().subspan(classes_seen_)) {
    const PodRules& rules = state_.classes().spec(id).rules;
    bool looks = false;
    for (const PodTerm& term : rules.anti_affinity) {
      if (!term.Matches(spec_.identity)) continue;
      AddKey(repulsion_keys_, term.topology_key);
      looks = true;
    }
    for (const PreferredPodTerm& preferred : rules.preferred) {
      if (!preferred.term.Matches(spec_.identity)) continue;
      AddKey(attraction_keys_, preferred.term.topology_key);
      looks = true;
    }
    if (looks) onlookers_.push_back(id);
  }
  classes_seen_ = state_.classes().with_rules().size();
  node_epoch_ = 0;
}

void PeerCounts::Refresh() {
  if (version_ == state_.nodes().NextVersion() && node_epoch_ == state_.nodes().epoch() &&
      classes_seen_ == state_.classes().with_rules().size()) {
    return;
  }
  if (classes_seen_ < state_.classes().with_rules().size()) FindKeys();
  const auto touched = state_.nodes().TouchedSince(version_);
  const bool stale = node_epoch_ != state_.nodes().epoch();
  if (stale) Reset();
  if (stale || !touched || touched->size() > state_.nodes().all().size()) {
    for (const NodeId node : state_.nodes().all()) Recount(node);
  } else {
    for (const NodeId node : *touched) Recount(node);
  }
  version_ = state_.nodes().NextVersion();
  UpdateLeast();
}

void PeerCounts::Reset() {
  node_epoch_ = state_.nodes().epoch();
  shares_.clear();
  const auto clear = [&](std::vector<Tally>& tallies, const auto& rules, const auto& key_of) {
    tallies.resize(rules.size());
    for (std::size_t i = 0; i < rules.size(); ++i) {
      Clear(tallies[i], state_.nodes().Domains(key_of(rules[i])));
    }
  };
  const auto key_of_term = [](const PodTerm& term) -> const std::string& {
    return term.topology_key;
  };
  const auto key_itself = [](const std::string& key) -> const std::string& { return key; };
  clear(affinity_, spec_.rules.affinity, key_of_term);
  clear(anti_affinity_, spec_.rules.anti_affinity, key_of_term);
  clear(repulsion_, repulsion_keys_, key_itself);
  clear(attraction_, attraction_keys_, key_itself);
  claims_.resize(spec_.volumes.exclusive.empty() ? 0 : 1);
  whole_cluster_.count = 1;
  whole_cluster_.of_node.assign(state_.nodes().slots(), 0);
  for (Tally& tally : claims_) Clear(tally, whole_cluster_);
  spread_.resize(spec_.rules.spread.size());
  for (std::size_t i = 0; i < spread_.size(); ++i) ResetSpread(i);
}

void PeerCounts::ResetSpread(std::size_t index) {
  const SpreadRule& rule = spec_.rules.spread[index];
  SpreadTally& tally = spread_[index];
  Clear(tally, state_.nodes().Domains(rule.topology_key));
  tally.counts_node.assign(tally.on_node.size(), false);
  tally.nodes_in_domain.assign(tally.domains->count, 0);
  tally.domains_in_use = 0;
  for (const NodeId node : state_.nodes().all()) {
    if (!CountsFor(rule, node)) continue;
    tally.counts_node[node.index()] = true;
    if (tally.nodes_in_domain[tally.domains->Of(node)]++ == 0) ++tally.domains_in_use;
  }
}

bool PeerCounts::CountsFor(const SpreadRule& rule, NodeId id) const {
  const NodeSpec& node = state_.nodes().spec(id);
  const auto& all = spec_.rules.spread;
  const bool has_keys = std::all_of(all.begin(), all.end(), [&](const SpreadRule& other) {
    return other.when_unsatisfiable != rule.when_unsatisfiable ||
           node.labels.contains(other.topology_key);
  });
  if (!has_keys) return false;
  if (rule.node_affinity == SpreadRule::NodePolicy::kHonor &&
      !MatchesNode(spec_.node_selector, spec_.affinity, node.name, node.labels)) {
    return false;
  }
  return rule.node_taints == SpreadRule::NodePolicy::kIgnore ||
         FirstUntolerated(node.taints, spec_.tolerations) == nullptr;
}

const PeerCounts::Shares& PeerCounts::SharesOf(ClassId id) {
  if (id.index() >= shares_.size()) shares_.resize(state_.classes().count());
  Shares& shares = shares_[id.index()];
  if (!shares.empty()) return shares;
  const ClassSpec& other = state_.classes().spec(id);
  const std::int32_t wanted = spec_.rules.AllAffinityMatches(other.identity) ? 1 : 0;
  shares.assign(affinity_.size(), wanted);
  for (const PodTerm& term : spec_.rules.anti_affinity) {
    shares.push_back(term.Matches(other.identity) ? 1 : 0);
  }
  for (const std::string& key : repulsion_keys_) {
    shares.push_back(Repulsion(other.rules, spec_.identity, key));
  }
  for (const std::string& key : attraction_keys_) {
    shares.push_back(Attraction(spec_.rules, other.identity, key) +
                     Attraction(other.rules, spec_.identity, key));
  }
  if (!claims_.empty()) {
    shares.push_back(ShareClaim(spec_.volumes, other.volumes) ? 1 : 0);
  }
  for (const SpreadRule& rule : spec_.rules.spread) {
    shares.push_back(rule.Matches(spec_.identity, other.identity) ? 1 : 0);
  }
  return shares;
}

void PeerCounts::Recount(NodeId node) {
  const std::size_t spread_begin = affinity_.size() + anti_affinity_.size() + repulsion_.size() +
                                   attraction_.size() + claims_.size();
  node_sums_.assign(spread_begin + spread_.size(), 0);
  for (const TaskId id : state_.nodes().TasksOn(node)) {
    const Task& task = state_.workload().task(id);
    const Shares& shares = SharesOf(task.class_id);
    // Spread looks past pods that are on their way out.
    const bool leaves = task.status == TaskStatus::kReleasing;
    const std::size_t end = leaves ? spread_begin : shares.size();
    for (std::size_t i = 0; i < end; ++i) node_sums_[i] += shares[i];
  }
  auto sum = node_sums_.begin();
  for (auto* tallies : {&affinity_, &anti_affinity_, &repulsion_, &attraction_, &claims_}) {
    for (Tally& tally : *tallies) Set(tally, node, *sum++, /*counts=*/true);
  }
  for (SpreadTally& tally : spread_) Set(tally, node, *sum++, tally.counts_node[node.index()]);
}

void PeerCounts::Set(Tally& tally, NodeId node, std::int64_t sum, bool counts) {
  const std::int64_t difference = sum - tally.on_node[node.index()];
  tally.on_node[node.index()] = sum;
  const std::uint32_t domain = tally.domains->Of(node);
  if (!counts || domain == TopologyDomains::kNone) return;
  tally.in_domain[domain] += difference;
  tally.total += difference;
}

void PeerCounts::UpdateLeast() {
  for (SpreadTally& tally : spread_) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = 0; i < tally.in_domain.size(); ++i) {
      if (tally.nodes_in_domain[i] > 0) least = std::min(least, tally.in_domain[i]);
    }
    tally.least = tally.domains_in_use == 0 ? 0 : least;
  }
}

}  // namespace strata
