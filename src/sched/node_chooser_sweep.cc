// The part of NodeChooser that scores every node.
#include <algorithm>
#include <string>

#include "sched/node_chooser.h"

namespace strata {

void ScoreSheet::Add(const std::string& plugin, std::span<const Score> scores) {
  std::vector<Score>& row = by_plugin[plugin];
  row.resize(total.size(), 0);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    row[i] += scores[i];
    total[i] += scores[i];
  }
}

std::vector<std::size_t> NodeChooser::Collect(const std::function<bool(NodeId)>& takes) {
  std::vector<std::size_t> positions;
  session_.Look(shape_.nodes.size());
  for (std::size_t g = 0; g < Groups().size(); ++g) {
    groups_[g].feasible = 0;
    for (std::size_t i = shape_.groups[g].begin; i < shape_.groups[g].end; ++i) {
      if (!takes(shape_.nodes[i])) continue;
      positions.push_back(i);
      ++groups_[g].feasible;
    }
  }
  return positions;
}

ScoreSheet NodeChooser::ScoreAll(TaskId task, std::span<const NodeId> nodes, bool idle) {
  const ClusterState& state = session_.state();
  ClassView& view = session_.views().Of(state.workload().task(task).class_id);
  ScoreSheet sheet(nodes.size());
  std::vector<Score> row(nodes.size());
  if (!session_.tracing() && idle) {
    view.Scores(nodes, row);  // cached; without a listener the sum over all plugins is enough
    sheet.Add("", row);
  } else {
    for (const auto& score : view.points().scores) {
      score.point->ScoreNodes(state, view.spec(), nodes, row);
      sheet.Add(score.plugin, row);
    }
  }
  for (const auto& scaled : view.points().scaled) {
    scaled.point->ScoreFeasible(state, view.spec(), nodes, row);
    sheet.Add(scaled.plugin, row);
  }
  if (const PeerCounts* peers = view.Peers()) {
    for (const auto& score : view.points().peer_scores) {
      score.point->ScorePeers(*peers, nodes, row);
      sheet.Add(score.plugin, row);
    }
  }
  for (const auto& score : session_.plugins().points().tasks) {
    if (!score.point->ScoresTasksOf(request_.job)) continue;
    score.point->ScoreForTask(state, task, nodes, row);
    sheet.Add(score.plugin, row);
  }
  const Placement placement{
      .job = &job_, .sub_job = &sub_job_, .spec = &view.spec(), .allocated = allocated_};
  scratch_.resize(groups_.size());
  for (const auto& chains : session_.plugins().points().chains) {
    chains.point->ScoreChains(state, placement, groups_, scratch_);
    auto next = row.begin();  // candidates come chain by chain
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      next = std::fill_n(next, groups_[g].feasible, scratch_[g]);
    }
    sheet.Add(chains.plugin, row);
  }
  return sheet;
}

std::optional<NodeChooser::Choice> NodeChooser::ChooseBySweep(TaskId task) {
  const ClassId class_id = session_.state().workload().task(task).class_id;
  ClassView& view = session_.views().Of(class_id);
  if (session_.tracing_nodes() && traced_.insert(class_id).second) TraceRejections(task);

  std::vector<std::size_t> positions = Collect([&](NodeId node) { return view.Takes(node); });
  const bool idle = !positions.empty();
  if (!idle && request_.pass == Pass::kWaiting) {
    positions = Collect([&](NodeId node) { return view.FitsFuture(node); });
  }
  if (positions.empty()) return std::nullopt;

  std::vector<NodeId> nodes(positions.size());
  for (std::size_t i = 0; i < positions.size(); ++i) nodes[i] = shape_.nodes[positions[i]];
  const ScoreSheet sheet = ScoreAll(task, nodes, idle);
  std::size_t best = 0;
  for (std::size_t i = 1; i < positions.size(); ++i) {
    if (Better(sheet.total[i], positions[i], sheet.total[best], positions[best])) best = i;
  }
  if (session_.tracing_nodes()) TraceChoice(task, sheet, nodes, nodes[best]);
  return Choice{.position = positions[best], .idle = idle};
}

void NodeChooser::TraceChoice(TaskId task,
                              const ScoreSheet& sheet,
                              std::span<const NodeId> nodes,
                              NodeId chosen) {
  const ClusterState& state = session_.state();
  NodeScoreRecord record;
  record.job = job_.spec.name;
  record.pod = state.workload().task(task).name;
  record.hypernode = session_.tree().at(request_.domain).name;
  record.chosen = state.nodes().spec(chosen).name;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::string& name = state.nodes().spec(nodes[i]).name;
    record.total[name] = sheet.total[i];
    for (const auto& [plugin, scores] : sheet.by_plugin) record.scores[plugin][name] = scores[i];
  }
  session_.Trace(std::move(record));
}

void NodeChooser::TraceRejections(TaskId task) {
  const ClusterState& state = session_.state();
  ClassView& view = session_.views().Of(state.workload().task(task).class_id);
  for (const NodeId node : shape_.nodes) {
    if (view.Takes(node)) continue;
    const Rejection why = view.WhyNot(node);
    session_.Trace(RejectRecord{.job = job_.spec.name,
                                .pod = state.workload().task(task).name,
                                .node = state.nodes().spec(node).name,
                                .plugin = why.plugin,
                                .reason = why.reason});
  }
}

}  // namespace strata
