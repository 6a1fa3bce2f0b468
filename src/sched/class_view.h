#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "model/cluster_state.h"
#include "sched/extension.h"
#include "sched/score.h"

namespace strata {

// The node-local points of the configuration, with the names of the plugins behind them.
struct NodePoints {
  template <typename Point>
  struct Named {
    std::string plugin;
    const Point* point = nullptr;
  };
  std::vector<Named<NodeFilterPoint>> filters;
  std::vector<Named<NodeScorePoint>> scores;
  std::vector<Named<ScaledScorePoint>> scaled;
  std::vector<Named<PeerFilterPoint>> peer_filters;
  std::vector<Named<PeerScorePoint>> peer_scores;
};

// Why a node does not take a task now.
struct Rejection {
  std::string plugin;  // "resources" when there is no room
  std::string reason;  // in kube-scheduler's words
};

// What one class of tasks finds on each node: whether the node takes it, how many of it fit, what
// the node-local plugins give. Worked out when asked for and remembered until the node changes,
// across trials, rollbacks and cycles. What depends on pods on other nodes (affinity, spread, a
// quota of GPUs, what a queue may have of a node group) is a second step, never remembered: Takes.
class ClassView {
 public:
  // What a task may have of the node now: what is idle, less what others wait for there.
  [[nodiscard]] static Amount Free(const ClusterState& state, NodeId node, ResourceId resource) {
    return std::min(state.Idle(node)[resource.index()], state.FutureIdle(node)[resource.index()]);
  }

  ClassView(const ClusterState& state, const NodePoints& points, ClassId class_id);

  // How many tasks of the class the free resources of the node take; 0 when a filter refuses it.
  // Pods on other nodes are not looked at.
  [[nodiscard]] std::uint32_t Slots(NodeId node);
  // A task of the class may go there now: it has a slot, and the pods around do not mind.
  [[nodiscard]] bool Takes(NodeId node) {
    return Slots(node) > 0 && PeersAdmit(node) && AdmitsInAll(node);
  }
  // The sum of the node-local scores, or kNoScore where not one fits. `out[i]` belongs to
  // `nodes[i]`.
  void Scores(std::span<const NodeId> nodes, std::span<Score> out);
  // One task fits what is idle once everything that is being released there is gone.
  [[nodiscard]] bool FitsFuture(NodeId node);
  // True when a filter that looks at the spec of the node alone takes the class.
  [[nodiscard]] bool AdmitsSpec(NodeId node);
  // True when no filter refuses it now, resources and pods on other nodes aside.
  [[nodiscard]] bool Admits(NodeId node);
  // REQUIRES: !Takes(node).
  [[nodiscard]] Rejection WhyNot(NodeId node);
  // True when node-local scores and filters alone make the choice.
  [[nodiscard]] bool IsUniform();
  // True when a filter looks at more than the node and the pods around.
  [[nodiscard]] bool LooksBeyondNodes() const { return !beyond_.empty(); }
  // The counts of the pods around, up to date; null when rules about pods do not concern the class.
  [[nodiscard]] const PeerCounts* Peers();

  [[nodiscard]] const ClassSpec& spec() const { return spec_; }
  [[nodiscard]] const NodePoints& points() const { return points_; }

 private:
  struct Fact {
    std::uint64_t spec_version = 0;  // that admits_spec is about
    std::uint64_t version = 0;       // that the others are about
    Score score = kNoScore;          // once there is one
    std::uint32_t slots = 0;
    bool has_score = false;
    bool admits_spec = false;
  };
  Fact& FactOf(NodeId node);
  [[nodiscard]] bool PeersAdmit(NodeId node);
  [[nodiscard]] bool AdmitsInAll(NodeId node) const;
  [[nodiscard]] std::uint32_t CountSlots(NodeId node) const;
  void ScoreSome(std::span<const NodeId> nodes, std::span<Score> out);

  const ClusterState& state_;
  const NodePoints& points_;
  const ClassSpec& spec_;
  bool takes_only_one_ = false;
  using Filters = std::vector<const NodePoints::Named<NodeFilterPoint>*>;
  Filters filters_;  // that the class concerns
  Filters beyond_;   // of these, those that look beyond the node
  std::vector<const NodeScorePoint*> scores_;
  PeerCounts peers_;
  std::vector<Fact> facts_;
  std::vector<NodeId> stale_nodes_;
  std::vector<std::size_t> stale_positions_;
  std::vector<Score> stale_totals_;
  std::vector<Score> stale_scores_;
};

}  // namespace strata
