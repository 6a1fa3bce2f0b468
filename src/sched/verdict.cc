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

namespace strata {
namespace {

// "1 pod", "4 pods".
std::string Pods(std::uint64_t count) {
  return count == 1 ? "1 pod" : fmt::format("{} pods", count);
}

std::string Nodes(std::uint64_t count) {
  return count == 1 ? "1 node" : fmt::format("{} nodes", count);
}

std::string WithDetail(std::string sentence,
                       std::string_view separator,
                       const std::string& detail) {
  if (!detail.empty()) sentence.append(separator).append(detail);
  return sentence;
}

std::string Heading(const Job& job) {
  const bool gang = job.counts.Ready() < job.spec.min_available;
  return fmt::format("{}/{} tasks{} unschedulable: ",
                     job.counts.Of(TaskStatus::kPending),
                     job.counts.Total(),
                     gang ? " in gang" : "");
}

std::string NameOf(const HyperNodeTree& tree, HyperNodeId id) {
  return id == tree.top() ? "the whole cluster" : fmt::format("HyperNode {}", tree.at(id).name);
}

// What a job, or one of its sub-jobs, looked for and where.
struct Sought {
  const Job* job = nullptr;
  std::string sub_job;
  Demand demand;
  TopologyLimit limit;
  HyperNodeId allocated;
  HyperNodeId within;  // the top, or where a job keeps its sub-jobs
};

// Where the search for it begins, or why it cannot.
Gradient RootOf(const Session& session, const Sought& sought) {
  Gradient root;
  root.root = sought.within;
  if (sought.limit.kind != TopologyLimit::Kind::kBounded) return root;
  const Resources nothing;
  const GradientQuery query{.within = sought.within,
                            .allocated = sought.allocated,
                            .limit = sought.limit.tier,
                            .need = &nothing,
                            .explain = false};
  return session.points().gradient->Find(session.state(), query);
}

void TraceMisses(Session& session,
                 Search& search,
                 const Sought& sought,
                 const std::vector<Miss>& misses) {
  if (!session.tracing()) return;
  for (const Miss& miss : misses) {
    NearestMissRecord record{
        .job = sought.job->spec.name,
        .sub_job = sought.sub_job,
        .tier = miss.tier,
        .hypernode = session.tree().at(miss.hypernode).name,
        .fits = miss.fits,
        .wanted = Total(sought.demand.wanted),
        .short_of = {},
        .nodes = ObstaclesBelow(session, search, sought.demand, miss.hypernode)};
    for (const auto& [id, amount] :
         ShortagesBelow(session.state(), sought.demand.wanted, miss.hypernode)) {
      record.short_of.emplace(session.state().resource_names().name(id), amount);
    }
    session.Trace(std::move(record));
  }
}

Refusal ExplainFlat(Session& session, Search& search, const Sought& sought) {
  const HyperNodeTree& tree = session.tree();
  const HyperNodeId top = tree.top();
  const Wanted& wanted = sought.demand.wanted;
  const std::uint64_t fits = FitsBelow(session, search, sought.demand, top);
  const Obstacles obstacles = ObstaclesBelow(session, search, sought.demand, top);
  const std::string sentence =
      fmt::format("{} of {} on the {} of the cluster",
                  fits,
                  Total(wanted) == 1 ? "1 pod fits" : Pods(Total(wanted)) + " fit",
                  Nodes(tree.NodesOf(top).size()));
  TraceMisses(session, search, sought, {{top, tree.at(top).tier, fits}});
  return {LacksRoom(obstacles) ? "NotEnoughResources" : "NoMatchingNode",
          WithDetail(sentence, ": ", WhatIsShort(session, wanted, top, obstacles))};
}

// That no HyperNode of the tier or below can be looked at, and whether there would be one but for
// its faults.
std::string NoneInTheTree(const HyperNodeTree& tree, std::int32_t tier) {
  const std::string* first = nullptr;
  std::size_t left_out = 0;
  for (const HyperNodeTree::HyperNode& hypernode : tree.hypernodes()) {
    if (hypernode.in_tree || hypernode.tier > tier) continue;
    if (++left_out == 1) first = &hypernode.name;
  }
  if (left_out == 0) return fmt::format("no HyperNode of tier {} or below exists", tier);
  const std::string others = left_out == 1 ? " is" : fmt::format(" and {} more are", left_out - 1);
  return fmt::format(
      "no HyperNode of tier {} or below is in the tree: HyperNode {}{} left out of it for a fault",
      tier,
      *first,
      others);
}

Refusal ExplainTopology(Session& session, Search& search, const Sought& sought) {
  const HyperNodeTree& tree = session.tree();
  const Gradient gradient = RootOf(session, sought);
  if (!gradient.root.valid()) return {"TopologyUnsatisfied", gradient.error};
  const std::uint64_t total = Total(sought.demand.wanted);
  const std::vector<Miss> misses =
      NearestMisses(session, search, sought.demand, gradient.root, sought.limit.tier);
  if (misses.empty()) {
    return {"TopologyUnsatisfied", NoneInTheTree(tree, sought.limit.TierToSay())};
  }
  std::vector<std::string> parts;
  parts.reserve(misses.size());
  for (const Miss& miss : misses) {
    parts.push_back(fmt::format(
        "{} (tier {}) takes {} of {}", NameOf(tree, miss.hypernode), miss.tier, miss.fits, total));
  }
  TraceMisses(session, search, sought, misses);
  const Miss& last = misses.back();
  const Obstacles obstacles = ObstaclesBelow(session, search, sought.demand, last.hypernode);
  const bool elsewhere = last.hypernode != tree.top() &&
                         FitsBelow(session, search, sought.demand, tree.top()) >= total;
  const std::string sentence = fmt::format("no HyperNode of tier {} or below holds {}; nearest: {}",
                                           sought.limit.TierToSay(),
                                           Pods(total),
                                           fmt::join(parts, ", "));
  const std::string what = WhatIsShort(session, sought.demand.wanted, last.hypernode, obstacles);
  const std::string name = NameOf(tree, last.hypernode);
  return {elsewhere ? "TopologyUnsatisfied" : "NotEnoughResources",
          WithDetail(sentence,
                     what.starts_with(kShortOf) ? fmt::format("; {} is ", name)
                                                : fmt::format("; in {}: ", name),
                     what)};
}

Refusal Explain(Session& session, Search& search, const Sought& sought) {
  if (sought.limit.kind == TopologyLimit::Kind::kBounded) {
    return ExplainTopology(session, search, sought);
  }
  return ExplainFlat(session, search, sought);
}

// True when one HyperNode within the limit has enough slots for what is sought.
bool HasPlace(Session& session, Search& search, const Sought& sought) {
  const std::uint64_t total = Total(sought.demand.wanted);
  if (sought.limit.kind != TopologyLimit::Kind::kBounded) {
    return FitsBelow(session, search, sought.demand, sought.within) >= total;
  }
  const HyperNodeId root = RootOf(session, sought).root;
  if (!root.valid()) return false;
  const auto misses = NearestMisses(session, search, sought.demand, root, sought.limit.tier);
  return std::any_of(
      misses.begin(), misses.end(), [&](const Miss& miss) { return miss.fits >= total; });
}

// What the sub-job still misses, and where it may be.
Sought SoughtBy(const Session& session,
                JobId job,
                const Worksheet::Sheet& sheet,
                HyperNodeId within) {
  const Job& the_job = session.state().job(job);
  const SubJob& sub_job = the_job.sub_jobs[sheet.sub_job];
  return {.job = &the_job,
          .sub_job = sub_job.name,
          .demand = {.wanted = FirstOf(session.state(),
                                       sheet.left(),
                                       MissingForGang(the_job, sub_job, sheet.left().size())),
                     .request = {.job = job,
                                 .sub_job = sheet.sub_job,
                                 .tasks = sheet.left(),
                                 .ranks = sheet.ranks.get(),
                                 .domain = {}}},
          .limit = session.LimitOf(job, sheet.sub_job),
          .allocated = session.tree().Find(sub_job.allocated_hypernode).value_or(HyperNodeId{}),
          .within = within};
}

std::vector<const Worksheet::Sheet*> InOrder(const Session& session,
                                             const Job& job,
                                             const Worksheet& worksheet) {
  std::vector<const Worksheet::Sheet*> sheets;
  sheets.reserve(worksheet.sheets().size());
  for (const Worksheet::Sheet& sheet : worksheet.sheets()) sheets.push_back(&sheet);
  std::sort(sheets.begin(), sheets.end(), [&](const auto* a, const auto* b) {
    return session.SubJobBefore(job, job.sub_jobs[a->sub_job], job.sub_jobs[b->sub_job]);
  });
  return sheets;
}

// The sub-jobs fit one by one, but not all of them: `together` is what they want.
Refusal ExplainTogether(Session& session, Search& search, const Sought& together) {
  const HyperNodeTree& tree = session.tree();
  const std::uint64_t total = Total(together.demand.wanted);
  const bool bounded = together.limit.kind == TopologyLimit::Kind::kBounded;
  std::vector<Miss> misses;
  if (bounded) {
    misses = NearestMisses(
        session, search, together.demand, RootOf(session, together).root, together.limit.tier);
  }
  std::erase_if(misses, [&](const Miss& miss) { return miss.fits >= total; });
  TraceMisses(session, search, together, misses);
  std::vector<std::string> parts;
  parts.reserve(misses.size());
  for (const Miss& miss : misses) {
    parts.push_back(fmt::format(
        "{} (tier {}) takes {} of {}", NameOf(tree, miss.hypernode), miss.tier, miss.fits, total));
  }
  const std::string where =
      bounded ? fmt::format("below one HyperNode of tier {} or below", together.limit.TierToSay())
              : "in the cluster";
  const bool room = FitsBelow(session, search, together.demand, tree.top()) >= total;
  return {
      room ? "TopologyUnsatisfied" : "NotEnoughResources",
      WithDetail(fmt::format("each sub-group has a place, but not all of them together {}", where),
                 "; nearest: ",
                 fmt::format("{}", fmt::join(parts, ", ")))};
}

// The first sub-job that has no place of its own; else they only do not fit together.
Refusal ExplainSubJobs(Session& session, Search& search, JobId job, const Worksheet& worksheet) {
  const Job& the_job = session.state().job(job);
  Sought together{
      .job = &the_job,
      .sub_job = "",
      .demand = {},
      .limit = session.LimitOf(job),
      .allocated = session.tree().Find(the_job.allocated_hypernode).value_or(HyperNodeId{}),
      .within = session.tree().top()};
  const Gradient gradient = RootOf(session, together);
  if (!gradient.root.valid()) return {"TopologyUnsatisfied", gradient.error};
  for (const Worksheet::Sheet* sheet : InOrder(session, the_job, worksheet)) {
    const Sought sought = SoughtBy(session, job, *sheet, gradient.root);
    if (sought.demand.wanted.empty()) continue;
    if (HasPlace(session, search, sought)) {
      for (const auto& [class_id, count] : sought.demand.wanted) {
        Add(together.demand.wanted, class_id, count);
      }
      continue;
    }
    Refusal refusal = Explain(session, search, sought);
    const std::string name =
        sought.sub_job.empty() ? "the pods in no sub-group" : "sub-group " + sought.sub_job;
    refusal.message = name + ": " + refusal.message;
    return refusal;
  }
  return ExplainTogether(session, search, together);
}

// "1 cpu, 2 nvidia.com/gpu" of what is asked for beyond `has`, written by `part`.
template <typename Part>
std::string Beyond(const ClusterState& state,
                   const Resources& asked,
                   std::span<const Amount> has,
                   const Part& part) {
  std::vector<std::string> parts;
  for (const ResourceId id : state.resource_names().ByName()) {
    const Amount there = id.index() < has.size() ? std::max<Amount>(has[id.index()], 0) : 0;
    if (id == kPods || asked.Get(id) <= there) continue;
    parts.push_back(part(state.resource_names().name(id), asked.Get(id), there));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// What the whole gang asks for, running pods included.
Resources AskedByGang(const Session& session, const Job& job) {
  if (job.spec.min_resources) return *job.spec.min_resources;
  std::vector<TaskId> tasks;
  for (const SubJob& sub_job : job.sub_jobs) {
    tasks.insert(tasks.end(), sub_job.tasks.begin(), sub_job.tasks.end());
  }
  std::sort(
      tasks.begin(), tasks.end(), [&](TaskId a, TaskId b) { return session.TaskBefore(a, b); });
  const auto gang = static_cast<std::size_t>(std::max(job.spec.min_available, 1));
  return SumOf(session.state(), std::span(tasks).first(std::min(gang, tasks.size())));
}

}  // namespace

Refusal QueueNotFound(const Job& job) {
  return {"QueueNotFound", fmt::format("queue \"{}\" does not exist", job.spec.queue)};
}

Refusal ExplainUnplaced(Session& session,
                        Search& search,
                        JobId job,
                        const Worksheet& worksheet,
                        const std::optional<Refusal>& quota) {
  const Job& the_job = session.state().job(job);
  if (auto gates = ExplainGates(session, job)) return *gates;
  Refusal refusal;
  if (quota) {
    const std::vector<TaskId> left = worksheet.AllLeft(session);
    refusal = NotTheQueueAlone(
        session, job, *quota, SumOf(session.state(), std::span(left).first(left.empty() ? 0 : 1)));
  } else if (!the_job.spec.sub_groups.empty()) {
    refusal = ExplainSubJobs(session, search, job, worksheet);
  } else {
    const std::vector<TaskId> left = worksheet.AllLeft(session);
    const auto missing =
        static_cast<std::size_t>(std::max(the_job.spec.min_available - the_job.counts.Ready(), 1));
    refusal = Explain(
        session,
        search,
        {.job = &the_job,
         .sub_job = "",
         .demand = {.wanted = FirstOf(session.state(), left, missing),
                    .request = {.job = job,
                                .sub_job = 0,
                                .tasks = left,
                                .ranks = worksheet.ranks(),
                                .domain = {}}},
         .limit = session.LimitOf(job),
         .allocated = session.tree().Find(the_job.allocated_hypernode).value_or(HyperNodeId{}),
         .within = session.tree().top()});
  }
  return {refusal.reason, Heading(the_job) + refusal.message};
}

Refusal NotTheQueueAlone(const Session& session,
                         JobId job,
                         Refusal refusal,
                         const Resources& asked) {
  const ClusterState& state = session.state();
  const HyperNodeId top = state.tree().top();
  const std::string larger =
      Beyond(state,
             AskedByGang(session, state.job(job)),
             state.Allocatable(top),
             [](const std::string& name, Amount wanted, Amount has) {
               return fmt::format(
                   "{} asked for of {}", FormatAmount(name, wanted), FormatNumber(name, has));
             });
  if (!larger.empty()) {
    return {"NotEnoughResources", "the gang is larger than the whole cluster: " + larger};
  }
  const std::string lacking = Beyond(
      state, asked, state.Idle(top), [](const std::string& name, Amount /*wanted*/, Amount free) {
        return fmt::format("{} {}", FormatNumber(name, free), name);
      });
  if (!lacking.empty()) {
    refusal.message += fmt::format("; the whole cluster has {} free", lacking);
  }
  return refusal;
}

std::optional<Refusal> ExplainGates(const Session& session, JobId job) {
  const Job& the_job = session.state().job(job);
  std::int32_t gated = 0;
  std::int32_t free = 0;  // BestEffort ones count as ready already
  for (const SubJob& sub_job : the_job.sub_jobs) {
    for (const TaskId id : sub_job.tasks) {
      const Task& task = session.state().task(id);
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
  const Task& the_task = session.state().task(task);
  const Obstacles obstacles =
      FindObstacles(session, the_task.class_id, session.tree().NodesOf(domain));
  const Wanted wanted{{the_task.class_id, 1}};
  const std::string sentence = fmt::format("{}no node of {} takes pod {}",
                                           Heading(session.state().job(the_task.job)),
                                           NameOf(session.tree(), domain),
                                           the_task.name);
  return {LacksRoom(obstacles) ? "NotEnoughResources" : "NoMatchingNode",
          WithDetail(sentence, ": ", WhatIsShort(session, wanted, domain, obstacles))};
}

Refusal ExplainHelper(const Session& session, TaskId task) {
  const Task& the_task = session.state().task(task);
  const Job& job = session.state().job(the_task.job);
  const SubJob& sub_job = job.sub_jobs[the_task.sub_job];
  return {"WaitingForGang",
          fmt::format("{}BestEffort pod {} waits for the rest of {} to have a place",
                      Heading(job),
                      the_task.name,
                      sub_job.name.empty() ? "its job" : "sub-group " + sub_job.name)};
}

std::optional<Refusal> ExplainNoAction(const Session& session, JobId job) {
  if (auto gates = ExplainGates(session, job)) return gates;
  const Job& the_job = session.state().job(job);
  const std::int32_t best_effort = the_job.counts.pending_best_effort;
  const bool allocates =
      session.HasAction("allocate");  // lets jobs in, too, where nobody else does
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
    return missing("lets it into its queue", "enqueue");
  }
  if (!session.HasAction("backfill") && best_effort > 0) {
    return missing("places its BestEffort pods", "backfill");
  }
  return the_job.queue.valid() ? session.JobInvalid(the_job) : QueueNotFound(the_job);
}

Refusal ExplainWaiting(const Session& session, JobId job) {
  const Job& the_job = session.state().job(job);
  return {"WaitingForRelease",
          fmt::format("{}/{} tasks wait for resources that terminating pods still hold",
                      the_job.counts.Of(TaskStatus::kPipelined),
                      the_job.counts.Total())};
}

}  // namespace strata
