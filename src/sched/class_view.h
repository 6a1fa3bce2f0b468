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

// The cache of what one class of tasks finds on each node: whether the node takes it, how many fit,
// what the node-local plugins score. Computed when asked for and kept until the node changes,
// across trials, rollbacks and cycles. What depends on more than the node (affinity, spread, a
// quota of GPUs, the share of a queue in a node group) is never cached; Takes asks for it as a
// second step.
class ClassView {
 public:
  // The amount that a task may use on the node now: what is idle, less what pipelined tasks wait
  // for.
  [[nodiscard]] static Amount Free(const ClusterState& state, NodeId node, ResourceId resource) {
    if (IsAbsent(resource)) return 0;
    return std::min(state.nodes().Idle(node)[resource.index()],
                    state.nodes().FutureIdle(node)[resource.index()]);
  }

  ClassView(const ClusterState& state, const NodePoints& points, ClassId class_id);

  // How many tasks of the class fit into the free resources of the node; 0 when a filter refuses
  // it. Ignores pods on other nodes.
  [[nodiscard]] std::uint32_t Slots(NodeId node);
  // True when a task of the class may go there now: it has a slot, and neither pods on other nodes
  // nor filters that look beyond the node refuse it.
  [[nodiscard]] bool Takes(NodeId node) {
    return Slots(node) > 0 && PeersAdmit(node) && AdmitsInAll(node);
  }
  // The sum of the node-local scores, or kNoScore where not one fits. `out[i]` belongs to
  // `nodes[i]`.
  void Scores(std::span<const NodeId> nodes, std::span<Score> out);
  // The same once everything that is being released there is gone. Not kept.
  void FutureScores(std::span<const NodeId> nodes, std::span<Score> out);
  // One task fits what is idle once everything that is being released there is gone.
  [[nodiscard]] bool FitsFuture(NodeId node);
  // True when no filter refuses the class by the spec of the node.
  [[nodiscard]] bool AdmitsSpec(NodeId node);
  // True when no filter refuses the node now; ignores resources and pods on other nodes.
  [[nodiscard]] bool Admits(NodeId node);
  // REQUIRES: !Takes(node).
  [[nodiscard]] Rejection WhyNot(NodeId node);
  // True when node-local scores and filters alone decide which node is best.
  [[nodiscard]] bool IsUniform();
  // True when nodes with the same amounts and specs have the same node-local scores.
  [[nodiscard]] bool ScoresByAmounts() const;
  // True when a filter must be asked with AdmitsInAll.
  [[nodiscard]] bool LooksBeyondNodes() const { return !beyond_.empty(); }
  // The counts of pods that matter to the class, up to date; null when no rule about other pods
  // concerns it.
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
  // Scores stale_nodes_ into stale_totals_.
  void ScoreStale();

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
