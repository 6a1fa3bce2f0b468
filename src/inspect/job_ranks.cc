#include "inspect/job_ranks.h"

#include <memory>
#include <utility>

#include "inspect/snapshot.h"
#include "sched/scheduler.h"
#include "whatif/cluster.h"
#include "whatif/cluster_conf.h"

namespace strata::inspect {

Result<Ranks> FindRanks(const std::vector<std::string_view>& texts) {
  TRY_ASSIGN(objects::ObjectSet objects, ParseTexts(texts));
  TRY_ASSIGN(const SchedulerConf conf, FindSchedulerConf(objects));
  // What stands in line is there already; no pods are made up.
  TRY_ASSIGN(
      const CompletedObjects completed,
      CompleteObjects(std::move(objects), IsOurs, [](const objects::Job&) { return false; }));
  TRY_ASSIGN(LoadedCluster cluster, LoadCompleted(completed));
  TRY_ASSIGN(const Scheduler::Made made, Scheduler::Make(conf.config, *cluster.state));
  made.scheduler->Open(cluster.latest, nullptr);
  Ranks ranks;
  for (const auto& [queue, line] : made.scheduler->Lines()) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      ranks.emplace(cluster.state->workload().job(line[i]).spec.name, i + 1);
    }
  }
  static_cast<void>(made.scheduler->Close());
  return ranks;
}

void SetRanks(const Ranks& ranks, std::vector<JobReport>& jobs) {
  for (JobReport& job : jobs) {
    const bool waits = job.state == JobState::kWaiting || !job.reason.empty();
    const auto known = ranks.find(job.key.ns + "/" + job.group);
    if (waits && known != ranks.end()) job.rank = known->second;
  }
}

}  // namespace strata::inspect
