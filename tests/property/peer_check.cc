#include "tests/property/peer_check.h"

#include <algorithm>
#include <map>

namespace strata::testing {

PeerCheck::PeerCheck(const ClusterState& state, const std::vector<TaskId>& placed)
    : state_(state), placed_(placed.begin(), placed.end()) {
  for (const TaskId id : state.workload().AllTasks()) {
    if (state.workload().task(id).node.valid()) there_.push_back(id);
  }
}

const ClassSpec& PeerCheck::SpecOf(TaskId id) const {
  return state_.classes().spec(state_.workload().task(id).class_id);
}

bool PeerCheck::Together(TaskId a, TaskId b, const std::string& key) const {
  const NodeLabels& left = state_.nodes().spec(state_.workload().task(a).node).labels;
  const NodeLabels& right = state_.nodes().spec(state_.workload().task(b).node).labels;
  return left.contains(key) && right.contains(key) && *left.find(key) == *right.find(key);
}

bool PeerCheck::HasCompany(TaskId id, const PodTerm& term) const {
  return std::any_of(there_.begin(), there_.end(), [&](TaskId other) {
    return other != id && SpecOf(id).rules.AllAffinityMatches(SpecOf(other).identity) &&
           Together(id, other, term.topology_key);
  });
}

bool PeerCheck::IsFirst(TaskId id) const {
  const PodRules& rules = SpecOf(id).rules;
  if (!rules.AllAffinityMatches(SpecOf(id).identity)) return false;
  return std::none_of(there_.begin(), there_.end(), [&](TaskId other) {
    if (placed_.contains(other) || !rules.AllAffinityMatches(SpecOf(other).identity)) return false;
    return std::any_of(rules.affinity.begin(), rules.affinity.end(), [&](const PodTerm& term) {
      return state_.nodes()
          .spec(state_.workload().task(other).node)
          .labels.contains(term.topology_key);
    });
  });
}

bool PeerCheck::IsTooMany(TaskId id, const SpreadRule& rule) const {
  const ClassSpec& spec = SpecOf(id);
  std::map<std::string, std::int64_t> pods;  // by domain
  for (const NodeId node : state_.nodes().all()) {
    const NodeSpec& the_node = state_.nodes().spec(node);
    if (!the_node.labels.contains(rule.topology_key)) continue;
    if (!MatchesNode(spec.node_selector, spec.affinity, the_node.name, the_node.labels)) continue;
    std::int64_t& count = pods[std::string(the_node.labels.find(rule.topology_key)->second)];
    for (const TaskId other : state_.nodes().TasksOn(node)) {
      const bool leaves = state_.workload().task(other).status == TaskStatus::kReleasing;
      if (!leaves && rule.Matches(spec.identity, SpecOf(other).identity)) ++count;
    }
  }
  std::int64_t least = pods.begin()->second;
  for (const auto& [domain, count] : pods) least = std::min(least, count);
  if (static_cast<std::int64_t>(pods.size()) < rule.min_domains) least = 0;
  const NodeLabels& labels = state_.nodes().spec(state_.workload().task(id).node).labels;
  return pods.at(std::string(labels.find(rule.topology_key)->second)) - least > rule.max_skew;
}

std::vector<std::string> PeerCheck::FaultsOf(TaskId id) const {
  std::vector<std::string> faults;
  const ClassSpec& spec = SpecOf(id);
  const NodeLabels& labels = state_.nodes().spec(state_.workload().task(id).node).labels;
  for (const PodTerm& term : spec.rules.affinity) {
    if (!labels.contains(term.topology_key)) faults.emplace_back("no domain for its affinity");
    if (!HasCompany(id, term) && !IsFirst(id)) faults.emplace_back("its affinity is not met");
  }
  for (const TaskId other : there_) {
    if (other == id) continue;
    for (const auto& [from, to] : {std::pair(id, other), std::pair(other, id)}) {
      for (const PodTerm& term : SpecOf(from).rules.anti_affinity) {
        if (term.Matches(SpecOf(to).identity) && Together(id, other, term.topology_key)) {
          faults.push_back("it is beside " + state_.workload().task(other).name +
                           " against anti-affinity");
        }
      }
    }
  }
  for (const SpreadRule& rule : spec.rules.spread) {
    if (rule.when_unsatisfiable != SpreadRule::Unsatisfiable::kDoNotSchedule) continue;
    if (!labels.contains(rule.topology_key)) {
      faults.emplace_back("no domain to spread over");
    } else if (IsTooMany(id, rule)) {
      faults.emplace_back("its spread is uneven");
    }
  }
  return faults;
}

}  // namespace strata::testing
