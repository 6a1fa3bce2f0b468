#include "sched/verdict.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/amount_format.h"
#include "sched/obstacles.h"
#include "sched/shortage.h"
#include "sched/verdict_text.h"

namespace strata {
namespace {

// "1 cpu, 2 nvidia.com/gpu" of what is asked for beyond `has`, written by `part`.
template <typename Part>
std::string Beyond(const ClusterState& state,
                   const Resources& asked,
                   std::span<const Amount> has,
                   const Part& part) {
  std::vector<std::string> parts;
  for (const ResourceId id : NamedIn(state.resource_names(), asked)) {
    const Amount there = id.index() < has.size() ? std::max<Amount>(has[id.index()], 0) : 0;
    if (id == kPods || asked.Get(id) <= there) continue;
    parts.push_back(part(state.resource_names().name(id), asked.Get(id), there));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// What the whole gang counts as, running pods included; without GPUs where it takes shares of them
// (Minimum::has_shares).
Resources AskedByGang(const Session& session, const Job& job) {
  const auto without_shares = [&](Resources asked, bool shares) {
    const auto gpus = session.state().nodes().RegisteredGpus();
    if (shares && gpus) asked.Set(*gpus, 0);
    return asked;
  };
  if (job.spec.min_resources) {
    const Minimum minimum(session.state(), job);
    return without_shares(*minimum, minimum.has_shares());
  }
  std::vector<TaskId> tasks;
  for (const SubJob& sub_job : job.sub_jobs) {
    tasks.insert(tasks.end(), sub_job.tasks.begin(), sub_job.tasks.end());
  }
  std::sort(tasks.begin(), tasks.end(), [&](TaskId a, TaskId b) {
    return session.plugins().TaskBefore(a, b);
  });
  const auto gang = static_cast<std::size_t>(std::max(job.spec.min_available, 1));
  const Need need = SumOf(session.state(), std::span(tasks).first(std::min(gang, tasks.size())));
  return without_shares(need.counted(), HasShares(session.state(), need));
}

}  // namespace

Refusal QueueNotFound(const Job& job) {
  return {"QueueNotFound", fmt::format("queue \"{}\" does not exist", job.spec.queue)};
}

Refusal AddClusterShortage(const Session& session,
                           JobId job,
                           Refusal refusal,
                           const Resources& asked) {
  const ClusterState& state = session.state();
  const HyperNodeId top = state.tree().top();
  const std::string larger = Beyond(state,
                                    AskedByGang(session, state.workload().job(job)),
                                    state.sums().Allocatable(top),
                                    [](const std::string& name, Amount wanted, Amount has) {
                                      return fmt::format("{} requested, {} in the cluster",
                                                         FormatAmount(name, wanted),
                                                         FormatNumber(name, has));
                                    });
  if (!larger.empty()) {
    return {"GangLargerThanCluster", "the gang is larger than the whole cluster: " + larger};
  }
  const std::string lacking = Beyond(state,
                                     asked,
                                     FreeBelow(state, top),
                                     [](const std::string& name, Amount /*wanted*/, Amount free) {
                                       return fmt::format("{} {}", FormatNumber(name, free), name);
                                     });
  if (!lacking.empty()) {
    refusal.message += fmt::format("; the whole cluster has {} free", lacking);
  }
  return refusal;
}

std::optional<Refusal> ExplainGates(const Session& session, JobId job) {
  const Job& the_job = session.state().workload().job(job);
  std::int32_t gated = 0;
  std::int32_t free = 0;  // BestEffort tasks count as ready already
  for (const SubJob& sub_job : the_job.sub_jobs) {
    for (const TaskId id : sub_job.tasks) {
      const Task& task = session.state().workload().task(id);
      if (task.status != TaskStatus::kPending) continue;
      gated += task.gated ? 1 : 0;
      free += !task.gated && !task.best_effort ? 1 : 0;
    }
  }
  const bool gang_lacks_them = the_job.counts.Ready() + free < the_job.spec.min_available;
  if (gated == 0 || (!gang_lacks_them && free > 0)) return std::nullopt;
  return Refusal{
      "SchedulingGated",
      fmt::format(
          "{}/{} tasks are held back by their scheduling gates", gated, the_job.counts.Total())};
}

Refusal ExplainBestEffort(Session& session, TaskId task, HyperNodeId domain) {
  const Task& the_task = session.state().workload().task(task);
  const Obstacles obstacles =
      FindObstacles(session, the_task.class_id, session.tree().NodesOf(domain));
  const Wanted wanted{{the_task.class_id, 1}};
  const std::string sentence = fmt::format("{}no node of {} takes pod {}",
                                           Heading(session.state().workload().job(the_task.job)),
                                           NameOf(session.tree(), domain),
                                           the_task.name);
  return {LacksRoom(obstacles) ? "NotEnoughResources" : "NoMatchingNode",
          WithDetail(sentence, ": ", WhatIsShort(session, wanted, domain, obstacles))};
}

Refusal ExplainHelper(const Session& session, TaskId task) {
  const Task& the_task = session.state().workload().task(task);
  const Job& job = session.state().workload().job(the_task.job);
  const SubJob& sub_job = job.sub_jobs[the_task.sub_job];
  return {"WaitingForGang",
          fmt::format("{}BestEffort pod {} waits for the rest of {} to have a place",
                      Heading(job),
                      the_task.name,
                      sub_job.name.empty() ? "its job" : "sub-group " + sub_job.name)};
}

std::optional<Refusal> ExplainNoAction(const Session& session, JobId job) {
  if (auto gates = ExplainGates(session, job)) return gates;
  const Job& the_job = session.state().workload().job(job);
  const std::int32_t best_effort = the_job.counts.pending_best_effort;
  const bool allocates =
      session.HasAction("allocate");  // also admits jobs when there is no enqueue action
  const auto missing = [&](std::string_view deed, std::string_view action) {
    std::vector<std::string_view> names;
    for (const ActionConfig& one : session.actions()) names.push_back(one.name);
    return Refusal{"NoAction",
                   fmt::format("{}no action of the configuration ({}) {}; {} does",
                               Heading(the_job),
                               fmt::join(names, ", "),
                               deed,
                               action)};
  };
  if (!allocates && the_job.counts.Of(TaskStatus::kPending) > best_effort) {
    return missing("places its pods", "allocate");
  }
  if (!allocates && !session.HasAction("enqueue") && the_job.phase == JobPhase::kPending) {
    return missing("admits it to its queue", "enqueue");
  }
  if (!session.HasAction("backfill") && best_effort > 0) {
    return missing("places its BestEffort pods", "backfill");
  }
  return the_job.queue.valid() ? session.plugins().JobInvalid(the_job) : QueueNotFound(the_job);
}

Refusal ExplainWaiting(const Session& session, JobId job) {
  const Job& the_job = session.state().workload().job(job);
  return {"WaitingForRelease",
          fmt::format("{}/{} tasks wait for resources that terminating pods still hold",
                      the_job.counts.Of(TaskStatus::kPipelined),
                      the_job.counts.Total())};
}

}  // namespace strata
