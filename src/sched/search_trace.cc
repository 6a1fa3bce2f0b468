// What Search tells a listener.
#include "sched/search.h"

namespace strata {

void Search::TraceGradient(const Level& level, const Gradient& gradient) {
  const HyperNodeTree& tree = session_.tree();
  GradientRecord record;
  record.job = session_.state().job(level.job).spec.name;
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
  session_.Trace(std::move(record));
}

void Search::TraceScores(const Level& level,
                         const TierScores& scores,
                         const std::vector<std::size_t>& failed,
                         HyperNodeId chosen) {
  const HyperNodeTree& tree = session_.tree();
  HyperNodeScoreRecord record;
  record.job = session_.state().job(level.job).spec.name;
  record.sub_job = level.sub_job;
  for (std::size_t i = 0; i < scores.hypernodes.size(); ++i) {
    const std::string& name = tree.at(scores.hypernodes[i]).name;
    record.total[name] = scores.total[i];
    for (const auto& [plugin, row] : scores.by_plugin) record.scores[plugin][name] = row[i];
  }
  for (const std::size_t i : failed) record.failed.push_back(tree.at(scores.hypernodes[i]).name);
  if (chosen.valid()) record.chosen = tree.at(chosen).name;
  session_.Trace(std::move(record));
}

void Search::TraceDiscard(JobId job, HyperNodeId hypernode) {
  if (!session_.tracing()) return;
  session_.Trace(StepRecord{.kind = StepRecord::Kind::kDiscard,
                            .job = session_.state().job(job).spec.name,
                            .pod = "",
                            .node = "",
                            .hypernode = session_.tree().at(hypernode).name});
}

}  // namespace strata
