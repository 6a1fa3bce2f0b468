// What a search tells a listener.
#include <utility>

#include "sched/level_search.h"

namespace strata {

void TraceGradient(Session& session, const SearchLevel& level, const Gradient& gradient) {
  const HyperNodeTree& tree = session.tree();
  GradientRecord record;
  record.job = session.state().workload().job(level.job).spec.name;
  record.sub_job = level.sub_job;
  record.root = gradient.root.valid() ? tree.at(gradient.root).name : "";
  for (const Gradient::Tier& tier : gradient.tiers) {
    GradientRecord::Tier& entry = record.tiers.emplace_back();
    entry.tier = tier.tier;
    for (const HyperNodeId id : tier.eligible) entry.eligible.push_back(tree.at(id).name);
    for (const Gradient::Rejected& rejected : tier.rejected) {
      entry.rejected.push_back({tree.at(rejected.hypernode).name, rejected.reason});
    }
  }
  session.Trace(std::move(record));
}

void TraceScores(Session& session,
                 const SearchLevel& level,
                 const TierScores& scores,
                 const std::vector<std::size_t>& failed,
                 HyperNodeId chosen) {
  const HyperNodeTree& tree = session.tree();
  HyperNodeScoreRecord record;
  record.job = session.state().workload().job(level.job).spec.name;
  record.sub_job = level.sub_job;
  for (std::size_t i = 0; i < scores.hypernodes.size(); ++i) {
    const std::string& name = tree.at(scores.hypernodes[i]).name;
    record.total[name] = scores.total[i];
    for (const auto& [plugin, row] : scores.by_plugin) record.scores[plugin][name] = row[i];
  }
  for (const std::size_t i : failed) record.failed.push_back(tree.at(scores.hypernodes[i]).name);
  if (chosen.valid()) record.chosen = tree.at(chosen).name;
  session.Trace(std::move(record));
}

void TraceDiscard(Session& session, JobId job, HyperNodeId hypernode) {
  if (!session.tracing()) return;
  session.Trace(StepRecord{.kind = StepRecord::Kind::kDiscard,
                           .job = session.state().workload().job(job).spec.name,
                           .pod = "",
                           .node = "",
                           .hypernode = session.tree().at(hypernode).name});
}

}  // namespace strata
