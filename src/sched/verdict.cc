#include "sched/verdict.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/amount_format.h"
#include "sched/obstacles.h"

namespace strata {
namespace {

// How many tasks of each class a gang still misses, classes in task order.
using Wanted = std::vector<std::pair<ClassId, std::uint64_t>>;

Wanted FirstOf(const ClusterState& state, std::span<const TaskId> tasks, std::size_t count) {
  Wanted wanted;
  for (const TaskId id : tasks.first(std::min(count, tasks.size()))) {
    const ClassId class_id = state.task(id).class_id;
    const auto known = std::find_if(
        wanted.begin(), wanted.end(), [&](const auto& entry) { return entry.first == class_id; });
    if (known != wanted.end()) {
      ++known->second;
    } else {
      wanted.emplace_back(class_id, 1);
    }
  }
  return wanted;
}

std::uint64_t Total(const Wanted& wanted) {
  std::uint64_t total = 0;
  for (const auto& [class_id, count] : wanted) total += count;
  return total;
}

// What a job, or one of its sub-jobs, looked for and where.
struct Sought {
  Wanted wanted;
  TopologyLimit limit;
  HyperNodeId allocated;
  PlaceRequest request;
};

// True when counting slots says too little: what one task of the gang does to the next matters.
bool NeedsRehearsal(Session& session, const Wanted& wanted) {
  return std::any_of(wanted.begin(), wanted.end(), [&](const auto& entry) {
    ClassView& view = session.View(entry.first);
    return view.Peers() != nullptr || !view.spec().volumes.attached.empty();
  });
}

Search::Rehearsal RehearseBelow(Search& search, const Sought& sought, HyperNodeId domain) {
  PlaceRequest request = sought.request;
  request.domain = domain;
  request.ask_quota = false;
  return search.Rehearse(request);
}

// How many of the wanted tasks find a place below `domain`; by slots, each class by itself.
std::uint64_t FitsBelow(Session& session,
                        Search& search,
                        const Sought& sought,
                        HyperNodeId domain) {
  if (NeedsRehearsal(session, sought.wanted)) {
    return std::min<std::uint64_t>(RehearseBelow(search, sought, domain).placed,
                                   Total(sought.wanted));
  }
  std::uint64_t fits = 0;
  for (const auto& [class_id, count] : sought.wanted) {
    fits += std::min(count, search.SlotsIn(class_id, domain, count));
  }
  return fits;
}

// What the wanted tasks together ask for beyond what is idle below `domain`.
std::vector<std::string> ShortagesBelow(const ClusterState& state,
                                        const Wanted& wanted,
                                        HyperNodeId domain) {
  std::vector<std::string> shortages;
  for (const ResourceId id : state.resource_names().ByName()) {
    double need = 0;  // a sentence, not a decision: no overflow, no exactness wanted
    for (const auto& [class_id, count] : wanted) {
      need += static_cast<double>(state.task_class(class_id).request.Get(id)) *
              static_cast<double>(count);
    }
    if (need <= 0) continue;
    const double missing =
        need - static_cast<double>(std::max<Amount>(state.Idle(domain)[id.index()], 0));
    if (missing <= 0 || missing > 9e18) continue;
    const std::string& name = state.resource_names().name(id);
    shortages.push_back(
        fmt::format("{} {}", FormatNumber(name, static_cast<Amount>(missing)), name));
  }
  return shortages;
}

// Of the classes that do not all fit below `domain`, the one that misses most; else the first.
ClassId ShortClass(Search& search, const Wanted& wanted, HyperNodeId domain) {
  ClassId shortest = wanted.begin()->first;
  std::uint64_t most = 0;
  for (const auto& [class_id, count] : wanted) {
    const std::uint64_t missing = count - std::min(count, search.SlotsIn(class_id, domain, count));
    if (missing > most) {
      most = missing;
      shortest = class_id;
    }
  }
  return shortest;
}

// What keeps the wanted tasks off nodes below `domain`.
Obstacles ObstaclesBelow(Session& session,
                         Search& search,
                         const Sought& sought,
                         HyperNodeId domain) {
  if (NeedsRehearsal(session, sought.wanted)) {
    Obstacles obstacles = RehearseBelow(search, sought, domain).obstacles;
    if (!obstacles.empty()) return obstacles;
  }
  return FindObstacles(
      session, ShortClass(search, sought.wanted, domain), session.tree().NodesOf(domain));
}

// "short of 1 nvidia.com/gpu (1 node(s) were unschedulable)", or "" when there is nothing to say.
std::string WhatIsShort(Session& session,
                        const Wanted& wanted,
                        HyperNodeId domain,
                        const Obstacles& obstacles) {
  const std::vector<std::string> nodes = Sentences(obstacles);
  const std::vector<std::string> shortages = ShortagesBelow(session.state(), wanted, domain);
  if (shortages.empty()) return fmt::format("{}", fmt::join(nodes, ", "));
  const std::string detail = nodes.empty() ? "" : fmt::format(" ({})", fmt::join(nodes, ", "));
  return fmt::format("short of {}{}", fmt::join(shortages, ", "), detail);
}

std::string WithDetail(std::string sentence,
                       std::string_view separator,
                       const std::string& detail) {
  if (!detail.empty()) sentence.append(separator).append(detail);
  return sentence;
}

struct Miss {
  HyperNodeId hypernode;
  std::int32_t tier = 0;
  std::uint64_t fits = 0;
};

// The HyperNode of each tier at or below `root` that comes nearest to holding what is wanted.
std::vector<Miss> NearestMisses(Session& session,
                                Search& search,
                                const Sought& sought,
                                HyperNodeId root) {
  const HyperNodeTree& tree = session.tree();
  std::vector<Miss> misses;
  for (const std::int32_t tier : tree.tiers()) {
    if (tier > sought.limit.tier) break;
    Miss nearest{.hypernode = {}, .tier = tier, .fits = 0};
    for (const HyperNodeId id : tree.OfTier(tier)) {
      if (!tree.IsAncestorOrSelf(root, id)) continue;
      const std::uint64_t fits = FitsBelow(session, search, sought, id);
      if (!nearest.hypernode.valid() || fits > nearest.fits) {
        nearest = {.hypernode = id, .tier = tier, .fits = fits};
      }
    }
    if (nearest.hypernode.valid()) misses.push_back(nearest);
  }
  return misses;
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

Refusal ExplainFlat(Session& session, Search& search, const Sought& sought) {
  const HyperNodeId top = session.tree().top();
  const std::size_t nodes = session.tree().NodesOf(top).size();
  const Obstacles obstacles = ObstaclesBelow(session, search, sought, top);
  const std::string sentence = fmt::format("{} of {} pods fit on the {} nodes of the cluster",
                                           FitsBelow(session, search, sought, top),
                                           Total(sought.wanted),
                                           nodes);
  return {LacksRoom(obstacles) ? "NotEnoughResources" : "NoMatchingNode",
          WithDetail(sentence, ": ", WhatIsShort(session, sought.wanted, top, obstacles))};
}

Refusal ExplainTopology(Session& session, Search& search, const Sought& sought) {
  const HyperNodeTree& tree = session.tree();
  const Resources nothing;
  const GradientQuery query{.within = tree.top(),
                            .allocated = sought.allocated,
                            .limit = sought.limit.tier,
                            .need = &nothing,
                            .explain = false};
  const Gradient gradient = session.points().gradient->Find(session.state(), query);
  if (!gradient.root.valid()) return {"TopologyUnsatisfied", gradient.error};
  const std::uint64_t total = Total(sought.wanted);
  const std::vector<Miss> misses = NearestMisses(session, search, sought, gradient.root);
  if (misses.empty()) {
    return {"TopologyUnsatisfied",
            fmt::format("no HyperNode of tier {} or below exists", sought.limit.tier)};
  }
  std::vector<std::string> parts;
  parts.reserve(misses.size());
  for (const Miss& miss : misses) {
    parts.push_back(fmt::format(
        "{} (tier {}) takes {} of {}", NameOf(tree, miss.hypernode), miss.tier, miss.fits, total));
  }
  const Miss& last = misses.back();
  const Obstacles obstacles = ObstaclesBelow(session, search, sought, last.hypernode);
  const bool elsewhere =
      last.hypernode != tree.top() && FitsBelow(session, search, sought, tree.top()) >= total;
  const std::string sentence =
      fmt::format("no HyperNode of tier {} or below holds {} pods; nearest: {}",
                  sought.limit.tier,
                  total,
                  fmt::join(parts, ", "));
  return {elsewhere ? "TopologyUnsatisfied" : "NotEnoughResources",
          WithDetail(sentence,
                     fmt::format("; {} is ", NameOf(tree, last.hypernode)),
                     WhatIsShort(session, sought.wanted, last.hypernode, obstacles))};
}

Refusal Explain(Session& session, Search& search, const Sought& sought) {
  if (sought.limit.kind == TopologyLimit::Kind::kBounded) {
    return ExplainTopology(session, search, sought);
  }
  return ExplainFlat(session, search, sought);
}

// True when one HyperNode within the limit has enough slots for what is sought.
bool HasPlace(Session& session, Search& search, const Sought& sought) {
  const HyperNodeId top = session.tree().top();
  const std::uint64_t total = Total(sought.wanted);
  if (sought.limit.kind != TopologyLimit::Kind::kBounded) {
    return FitsBelow(session, search, sought, top) >= total;
  }
  const auto misses = NearestMisses(session, search, sought, top);
  return std::any_of(
      misses.begin(), misses.end(), [&](const Miss& miss) { return miss.fits >= total; });
}

// The first sub-job that has no place of its own; else they only do not fit together.
Refusal ExplainSubJobs(Session& session, Search& search, JobId job, const Worksheet& worksheet) {
  const ClusterState& state = session.state();
  const Job& the_job = state.job(job);
  std::vector<const Worksheet::Sheet*> sheets;
  sheets.reserve(worksheet.sheets().size());
  for (const Worksheet::Sheet& sheet : worksheet.sheets()) sheets.push_back(&sheet);
  std::sort(sheets.begin(), sheets.end(), [&](const auto* a, const auto* b) {
    return session.SubJobBefore(
        the_job, the_job.sub_jobs[a->sub_job], the_job.sub_jobs[b->sub_job]);
  });
  for (const Worksheet::Sheet* next : sheets) {
    const Worksheet::Sheet& sheet = *next;
    const SubJob& sub_job = the_job.sub_jobs[sheet.sub_job];
    const std::size_t missing = MissingForGang(the_job, sub_job, sheet.left().size());
    if (missing == 0) continue;
    const Sought sought{
        .wanted = FirstOf(state, sheet.left(), missing),
        .limit = session.LimitOf(job, sheet.sub_job),
        .allocated = session.tree().Find(sub_job.allocated_hypernode).value_or(HyperNodeId{}),
        .request = {.job = job, .sub_job = sheet.sub_job, .tasks = sheet.left(), .domain = {}}};
    if (HasPlace(session, search, sought)) continue;
    Refusal refusal = Explain(session, search, sought);
    const std::string name =
        sub_job.name.empty() ? "the pods in no sub-group" : "sub-group " + sub_job.name;
    refusal.message = name + ": " + refusal.message;
    return refusal;
  }
  const TopologyLimit& limit = session.LimitOf(job);
  const std::string where = limit.kind == TopologyLimit::Kind::kBounded
                                ? fmt::format("below one HyperNode of tier {} or below", limit.tier)
                                : "in the cluster";
  return {"NotEnoughResources",
          fmt::format("each sub-group has a place, but not all of them together {}", where)};
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
    refusal = *quota;
  } else if (!the_job.spec.sub_groups.empty()) {
    refusal = ExplainSubJobs(session, search, job, worksheet);
  } else {
    const std::vector<TaskId> left = worksheet.AllLeft(session);
    const auto missing =
        static_cast<std::size_t>(std::max(the_job.spec.min_available - the_job.counts.Ready(), 1));
    refusal = Explain(
        session,
        search,
        {.wanted = FirstOf(session.state(), left, missing),
         .limit = session.LimitOf(job),
         .allocated = session.tree().Find(the_job.allocated_hypernode).value_or(HyperNodeId{}),
         .request = {.job = job, .sub_job = 0, .tasks = left, .domain = {}}});
  }
  return {refusal.reason, Heading(the_job) + refusal.message};
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

Refusal ExplainWaiting(const Session& session, JobId job) {
  const Job& the_job = session.state().job(job);
  return {"WaitingForRelease",
          fmt::format("{}/{} tasks wait for resources that terminating pods still hold",
                      the_job.counts.Of(TaskStatus::kPipelined),
                      the_job.counts.Total())};
}

}  // namespace strata
