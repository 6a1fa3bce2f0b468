// The verdict for a job that was searched for and found no place.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sched/never.h"
#include "sched/obstacles.h"
#include "sched/shortage.h"
#include "sched/verdict.h"
#include "sched/verdict_text.h"

namespace strata {
namespace {

// "1 pod", "4 pods".
std::string Pods(std::uint64_t count) {
  return count == 1 ? "1 pod" : fmt::format("{} pods", count);
}

std::string Nodes(std::uint64_t count) {
  return count == 1 ? "1 node" : fmt::format("{} nodes", count);
}

// What a job, or one of its sub-jobs, looked for and where.
struct Sought {
  const Job* job = nullptr;
  std::string sub_job;
  Demand demand;
  TopologyLimit limit;
  HyperNodeId allocated;
  HyperNodeId within;  // the top, or where a job keeps its sub-jobs
  Wanted own = {};     // its tasks that have a node
};

// Tasks of the sub-job that hold room, by class.
void AddPlaced(const ClusterState& state, const SubJob& sub_job, Wanted& own) {
  for (const TaskId id : sub_job.tasks) {
    const Task& task = state.workload().task(id);
    if (IsAllocated(task.status)) Add(own, task.class_id, 1);
  }
}

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
  return session.plugins().points().gradient->Find(session.state(), query);
}

// `refusal`, or where freeing room would not help another reason, and the sentence goes on.
Refusal AddNever(const Session& session, const Sought& sought, Refusal refusal) {
  const HyperNodeId root = RootOf(session, sought).root;
  if (!root.valid()) return refusal;
  const auto never = FindNever(session.state(),
                               {.wanted = &sought.demand.wanted,
                                .own = sought.own,
                                .within = root,
                                .bounded = sought.limit.kind == TopologyLimit::Kind::kBounded,
                                .tier = sought.limit.tier,
                                .tier_to_say = sought.limit.TierToSay()});
  if (!never) return refusal;
  return {never->reason, refusal.message + "; " + never->message};
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
      "no HyperNode of tier {} or below is in the tree: HyperNode {}{} invalid and excluded from "
      "it",
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
  const bool bounded = sought.limit.kind == TopologyLimit::Kind::kBounded;
  return AddNever(
      session,
      sought,
      bounded ? ExplainTopology(session, search, sought) : ExplainFlat(session, search, sought));
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
  const Job& the_job = session.state().workload().job(job);
  const SubJob& sub_job = the_job.sub_jobs[sheet.sub_job];
  Wanted own;
  AddPlaced(session.state(), sub_job, own);
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
          .limit = session.topologies().LimitOf(job, sheet.sub_job),
          .allocated = session.tree().Find(sub_job.allocated_hypernode).value_or(HyperNodeId{}),
          .within = within,
          .own = std::move(own)};
}

std::vector<const Worksheet::Sheet*> InOrder(const Session& session,
                                             const Job& job,
                                             const Worksheet& worksheet) {
  std::vector<const Worksheet::Sheet*> sheets;
  sheets.reserve(worksheet.sheets().size());
  for (const Worksheet::Sheet& sheet : worksheet.sheets()) sheets.push_back(&sheet);
  std::sort(sheets.begin(), sheets.end(), [&](const auto* a, const auto* b) {
    return session.plugins().SubJobBefore(job, job.sub_jobs[a->sub_job], job.sub_jobs[b->sub_job]);
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
  return AddNever(
      session,
      together,
      {room ? "TopologyUnsatisfied" : "NotEnoughResources",
       WithDetail(fmt::format("each sub-group has a place, but not all of them together {}", where),
                  "; nearest: ",
                  fmt::format("{}", fmt::join(parts, ", ")))});
}

// The first sub-job that has no place of its own; else they only do not fit together.
Refusal ExplainSubJobs(Session& session, Search& search, JobId job, const Worksheet& worksheet) {
  const Job& the_job = session.state().workload().job(job);
  Sought together{
      .job = &the_job,
      .sub_job = "",
      .demand = {},
      .limit = session.topologies().LimitOf(job),
      .allocated = session.tree().Find(the_job.allocated_hypernode).value_or(HyperNodeId{}),
      .within = session.tree().top()};
  for (const SubJob& sub_job : the_job.sub_jobs) {
    AddPlaced(session.state(), sub_job, together.own);
  }
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

}  // namespace

Refusal ExplainUnplaced(Session& session,
                        Search& search,
                        JobId job,
                        const Worksheet& worksheet,
                        const std::optional<Refusal>& quota) {
  const Job& the_job = session.state().workload().job(job);
  if (!session.Explains(job)) return {"NotExplained", ""};
  if (auto gates = ExplainGates(session, job)) return *gates;
  Refusal refusal;
  if (quota) {
    const std::vector<TaskId> left = worksheet.AllLeft(session);
    const Need next = SumOf(session.state(), std::span(left).first(left.empty() ? 0 : 1));
    refusal = AddClusterShortage(session, job, *quota, next.counted());
  } else if (!the_job.spec.sub_groups.empty()) {
    refusal = ExplainSubJobs(session, search, job, worksheet);
  } else {
    const std::vector<TaskId> left = worksheet.AllLeft(session);
    const auto missing =
        static_cast<std::size_t>(std::max(the_job.spec.min_available - the_job.counts.Ready(), 1));
    Sought sought{
        .job = &the_job,
        .sub_job = "",
        .demand = {.wanted = FirstOf(session.state(), left, missing),
                   .request = {.job = job,
                               .sub_job = 0,
                               .tasks = left,
                               .ranks = worksheet.ranks(),
                               .domain = {}}},
        .limit = session.topologies().LimitOf(job),
        .allocated = session.tree().Find(the_job.allocated_hypernode).value_or(HyperNodeId{}),
        .within = session.tree().top()};
    for (const SubJob& sub_job : the_job.sub_jobs) {
      AddPlaced(session.state(), sub_job, sought.own);
    }
    refusal = Explain(session, search, sought);
  }
  return {refusal.reason, Heading(the_job) + refusal.message};
}

}  // namespace strata
