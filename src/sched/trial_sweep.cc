// The part of Trial that scores every node: for a listener, for scores that are scaled over all
// nodes, and for tasks that wait.
#include <map>
#include <string>

#include "sched/trial.h"

namespace strata {
namespace {

// One row of scores per plugin, and their sum, over the candidate nodes.
struct ScoreSheet {
  std::map<std::string, std::vector<Score>> by_plugin;
  std::vector<Score> total;

  explicit ScoreSheet(std::size_t nodes) : total(nodes, 0) {}
  void Add(const std::string& plugin, const std::vector<Score>& scores) {
    std::vector<Score>& row = by_plugin[plugin];
    row.resize(total.size(), 0);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      row[i] += scores[i];
      total[i] += scores[i];
    }
  }
};

}  // namespace

std::optional<Trial::Choice> Trial::ChooseBySweep(TaskId task) {
  const ClusterState& state = session_.state();
  const ClassId class_id = state.task(task).class_id;
  ClassView& view = session_.View(class_id);
  if (session_.tracing() && traced_.insert(class_id).second) TraceRejections(task);

  std::vector<std::size_t> positions;
  const auto collect = [&](const auto& takes) {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      groups_[g].feasible = 0;
      for (std::size_t i = shape_.groups[g].begin; i < shape_.groups[g].end; ++i) {
        if (!takes(shape_.nodes[i])) continue;
        positions.push_back(i);
        ++groups_[g].feasible;
      }
    }
  };
  collect([&](NodeId node) { return view.Slots(node) > 0; });
  const bool idle = !positions.empty();
  if (!idle && request_.pass == Pass::kWaiting)
    collect([&](NodeId node) { return view.FitsFuture(node); });
  if (positions.empty()) return std::nullopt;

  std::vector<NodeId> nodes;
  for (const std::size_t position : positions) nodes.push_back(shape_.nodes[position]);
  ScoreSheet sheet(nodes.size());
  std::vector<Score> row(nodes.size());
  for (const auto& score : view.points().scores) {
    score.point->ScoreNodes(state, view.spec(), nodes, row);
    sheet.Add(score.plugin, row);
  }
  for (const auto& scaled : view.points().scaled) {
    scaled.point->ScoreFeasible(state, view.spec(), nodes, row);
    sheet.Add(scaled.plugin, row);
  }
  const Placement placement{
      .job = &job_, .sub_job = &sub_job_, .spec = &view.spec(), .allocated = allocated_};
  for (const auto& chains : session_.points().chains) {
    chains.point->ScoreChains(state, placement, groups_, scratch_);
    std::size_t i = 0;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      for (std::uint32_t k = 0; k < groups_[g].feasible; ++k) row[i++] = scratch_[g];
    }
    sheet.Add(chains.plugin, row);
  }

  std::size_t best = 0;
  for (std::size_t i = 1; i < positions.size(); ++i) {
    if (Better(sheet.total[i], positions[i], sheet.total[best], positions[best])) best = i;
  }
  if (session_.tracing()) {
    NodeScoreRecord record;
    record.job = job_.spec.name;
    record.pod = state.task(task).name;
    record.hypernode = session_.tree().at(request_.domain).name;
    record.chosen = state.node(nodes[best]).name;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::string& name = state.node(nodes[i]).name;
      record.total[name] = sheet.total[i];
      for (const auto& [plugin, scores] : sheet.by_plugin) record.scores[plugin][name] = scores[i];
    }
    session_.Trace(std::move(record));
  }
  return Choice{.position = positions[best], .idle = idle};
}

void Trial::TraceRejections(TaskId task) {
  const ClusterState& state = session_.state();
  ClassView& view = session_.View(state.task(task).class_id);
  for (const NodeId node : shape_.nodes) {
    if (view.Slots(node) > 0) continue;
    const Rejection why = view.WhyNot(node);
    session_.Trace(RejectRecord{.job = job_.spec.name,
                                .pod = state.task(task).name,
                                .node = state.node(node).name,
                                .plugin = why.plugin,
                                .reason = why.reason});
  }
}

}  // namespace strata
