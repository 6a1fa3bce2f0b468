#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "model/cluster_state.h"

namespace strata {

// The pods that count for one rule, by node and by domain of the rule's topology key.
struct Tally {
  const TopologyDomains* domains = nullptr;
  std::vector<std::int64_t> on_node;    // by id
  std::vector<std::int64_t> in_domain;  // over the nodes that count
  std::int64_t total = 0;               // over all domains

  // In the domain of the node; 0 where it has none.
  [[nodiscard]] std::int64_t In(NodeId node) const {
    const std::uint32_t domain = domains->Of(node);
    return domain == TopologyDomains::kNone ? 0 : in_domain[domain];
  }
  [[nodiscard]] bool HasDomain(NodeId node) const {
    return domains->Of(node) != TopologyDomains::kNone;
  }
};

// The same for a spread rule, which leaves nodes out: those that lack a topology key of a rule of
// the same kind, and those that its policies exclude.
struct SpreadTally : Tally {
  std::vector<bool> counts_node;               // by id
  std::vector<std::uint32_t> nodes_in_domain;  // that count
  std::uint32_t domains_in_use = 0;            // with a node that counts
  std::int64_t least = 0;                      // pods in the emptiest of them, 0 without any
};

// Counts, for one class of tasks, the pods in the cluster that matter to it by rules about other
// pods (affinity, anti-affinity, spread), its own rules and theirs. Follows the state by its log of
// changed nodes, so that the counts are right after every placement and every rollback.
class PeerCounts {
 public:
  // REQUIRES: `state` outlives this.
  PeerCounts(const ClusterState& state, ClassId class_id);

  // True when a rule of the class selects other pods, or a rule of an existing pod selects pods of
  // the class. COST: nothing while no class has rules; else O(classes with rules) after one was
  // added, O(those that select this class) after one lost its last task.
  [[nodiscard]] bool Concerned();
  // Brings the counts up to date. COST: O(tasks on the nodes that changed), O(tasks) the first time
  // and after a change of nodes.
  void Refresh();

  // ---- after Refresh ----
  [[nodiscard]] const ClassSpec& spec() const { return spec_; }
  // Parallel to the rules of the class. A pod counts for affinity when it satisfies all terms.
  [[nodiscard]] std::span<const Tally> affinity() const { return affinity_; }
  [[nodiscard]] std::span<const Tally> anti_affinity() const { return anti_affinity_; }
  [[nodiscard]] std::span<const SpreadTally> spread() const { return spread_; }
  // Repulsion: one per topology key of anti-affinity terms of existing pods that select the class.
  // Attraction: one per topology key of preferred terms of either side; sums of weights.
  [[nodiscard]] std::span<const Tally> repulsion() const { return repulsion_; }
  [[nodiscard]] std::span<const Tally> attraction() const { return attraction_; }
  // Tasks anywhere that use a ReadWriteOncePod claim of the class.
  [[nodiscard]] std::int64_t claim_users() const { return claims_.empty() ? 0 : claims_[0].total; }

 private:
  // How much one task of another class adds to each tally, in the order in which Recount walks
  // them.
  using Shares = std::vector<std::int32_t>;

  void FindKeys();
  void Reset();
  void ResetSpread(std::size_t index);
  void Recount(NodeId node);
  void UpdateLeast();
  [[nodiscard]] bool CountsFor(const SpreadRule& rule, NodeId node) const;
  [[nodiscard]] const Shares& SharesOf(ClassId other);
  static void Set(Tally& tally, NodeId node, std::int64_t sum, bool counts);

  const ClusterState& state_;
  const ClassSpec& spec_;
  std::size_t classes_seen_ = 0;     // of state_.classes().with_rules()
  std::vector<ClassId> onlookers_;   // those whose rules select this class
  std::uint64_t rules_version_ = 0;  // as of the last question whether one of them has a task
  bool watched_ = false;             // the answer
  std::vector<std::string> repulsion_keys_, attraction_keys_;

  std::uint64_t node_epoch_ = 0;
  std::uint64_t version_ = 0;      // changes before this version are included
  TopologyDomains whole_cluster_;  // one domain
  std::vector<Tally> affinity_, anti_affinity_, repulsion_, attraction_;
  std::vector<Tally> claims_;  // one if the class has ReadWriteOncePod claims
  std::vector<SpreadTally> spread_;
  std::vector<Shares> shares_;           // by class; empty: not asked for yet
  std::vector<std::int64_t> node_sums_;  // scratch, in the order of Shares
};

}  // namespace strata
