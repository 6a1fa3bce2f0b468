#include "sched/verdict.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace strata {
namespace {

constexpr std::string_view kInsufficient = "Insufficient ";

// How many tasks of each class a gang still misses.
using Wanted = std::map<ClassId, std::uint64_t>;

Wanted WantedBy(const Session& session, JobId job, const Worksheet& worksheet) {
  const ClusterState& state = session.state();
  const Job& the_job = state.job(job);
  const std::vector<TaskId> left = worksheet.AllLeft(session);
  const std::int32_t missing = std::max(the_job.spec.min_available - the_job.counts.Ready(), 1);
  Wanted wanted;
  for (std::size_t i = 0; i < left.size() && i < static_cast<std::size_t>(missing); ++i) {
    ++wanted[state.task(left[i]).class_id];
  }
  return wanted;
}

std::uint64_t Total(const Wanted& wanted) {
  std::uint64_t total = 0;
  for (const auto& [class_id, count] : wanted) total += count;
  return total;
}

// How many of the wanted tasks find a slot below `domain`, each class by itself.
std::uint64_t FitsBelow(Search& search, const Wanted& wanted, HyperNodeId domain) {
  std::uint64_t fits = 0;
  for (const auto& [class_id, count] : wanted)
    fits += std::min(count, search.SlotsIn(class_id, domain, count));
  return fits;
}

struct Miss {
  HyperNodeId hypernode;
  std::int32_t tier = 0;
  std::uint64_t fits = 0;
};

// The resource that runs out first on a node that takes at least one task.
ResourceId TightestResource(const ClusterState& state, const ClassSpec& spec, NodeId node) {
  ResourceId tightest;
  Amount fewest = 0;
  const std::span<const Amount> idle = state.Idle(node);
  for (std::size_t i = 0; i < spec.request.size(); ++i) {
    const Amount request = spec.request.amounts()[i];
    if (request <= 0) continue;
    if (const Amount slots = idle[i] / request; !tightest.valid() || slots < fewest) {
      tightest = IdAt<ResourceId>(i);
      fewest = slots;
    }
  }
  return tightest;
}

// What stands in the way below `domain`, counted over its nodes: "3 Insufficient cpu, 1 node(s)
// were unschedulable".
std::map<std::string, std::size_t> Obstacles(Session& session,
                                             ClassId class_id,
                                             HyperNodeId domain) {
  const ClusterState& state = session.state();
  ClassView& view = session.View(class_id);
  std::vector<std::size_t> exhausted(state.resource_names().size(), 0);
  std::map<std::string, std::size_t> obstacles;
  for (const NodeId node : session.tree().NodesOf(domain)) {
    if (view.Slots(node) > 0) {
      if (const ResourceId id = TightestResource(state, view.spec(), node); id.valid())
        ++exhausted[id.index()];
    } else if (view.Admits(node)) {
      const std::span<const Amount> idle = state.Idle(node);
      for (std::size_t i = 0; i < view.spec().request.size(); ++i) {
        const Amount request = view.spec().request.amounts()[i];
        if (request > 0 && request > idle[i]) ++exhausted[i];
      }
    } else {
      ++obstacles[view.WhyNot(node).reason];
    }
  }
  for (std::size_t i = 0; i < exhausted.size(); ++i) {
    if (exhausted[i] > 0)
      obstacles[std::string(kInsufficient) + state.resource_names().name(IdAt<ResourceId>(i))] =
          exhausted[i];
  }
  return obstacles;
}

std::string Join(const std::map<std::string, std::size_t>& obstacles) {
  std::vector<std::string> parts;
  for (const auto& [reason, nodes] : obstacles)
    parts.push_back(fmt::format("{} {}", nodes, reason));
  return fmt::format("{}", fmt::join(parts, ", "));
}

bool LacksRoom(const std::map<std::string, std::size_t>& obstacles) {
  return std::any_of(obstacles.begin(), obstacles.end(), [](const auto& entry) {
    return entry.first.starts_with(kInsufficient);
  });
}

// Of the classes that do not all fit below `domain`, the one that misses most; else the most
// wanted.
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

// The HyperNode of each tier at or below `root` that comes nearest to holding what is wanted.
std::vector<Miss> NearestMisses(
    Session& session, Search& search, const Wanted& wanted, HyperNodeId root, std::int32_t limit) {
  const HyperNodeTree& tree = session.tree();
  std::vector<Miss> misses;
  for (const std::int32_t tier : tree.tiers()) {
    if (tier > limit) break;
    Miss nearest{.hypernode = {}, .tier = tier, .fits = 0};
    for (const HyperNodeId id : tree.OfTier(tier)) {
      if (!tree.IsAncestorOrSelf(root, id)) continue;
      const std::uint64_t fits = FitsBelow(search, wanted, id);
      if (!nearest.hypernode.valid() || fits > nearest.fits)
        nearest = {.hypernode = id, .tier = tier, .fits = fits};
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

Refusal ExplainFlat(Session& session, Search& search, const Job& job, const Wanted& wanted) {
  const HyperNodeId top = session.tree().top();
  const std::size_t nodes = session.tree().NodesOf(top).size();
  const std::uint64_t fits = FitsBelow(search, wanted, top);
  const auto obstacles = Obstacles(session, ShortClass(search, wanted, top), top);
  const bool room = LacksRoom(obstacles) || nodes == 0;
  return {room ? "NotEnoughResources" : "NoMatchingNode",
          fmt::format("{}{} of {} pods fit on the {} nodes of the cluster{}{}",
                      Heading(job),
                      fits,
                      Total(wanted),
                      nodes,
                      obstacles.empty() ? "" : ": ",
                      Join(obstacles))};
}

Refusal ExplainTopology(Session& session, Search& search, JobId job, const Wanted& wanted) {
  const HyperNodeTree& tree = session.tree();
  const Job& the_job = session.state().job(job);
  const TopologyLimit& limit = session.LimitOf(job);
  const Resources nothing;
  const GradientQuery query{
      .within = tree.top(),
      .allocated = tree.Find(the_job.allocated_hypernode).value_or(HyperNodeId{}),
      .limit = limit.tier,
      .need = &nothing,
      .explain = false};
  const Gradient gradient = session.points().gradient->Find(session.state(), query);
  if (!gradient.root.valid()) return {"TopologyUnsatisfied", Heading(the_job) + gradient.error};
  const std::vector<Miss> misses =
      NearestMisses(session, search, wanted, gradient.root, limit.tier);
  if (misses.empty()) {
    return {"TopologyUnsatisfied",
            fmt::format("{}no HyperNode of tier {} or below exists", Heading(the_job), limit.tier)};
  }
  std::vector<std::string> parts;
  for (const Miss& miss : misses) {
    parts.push_back(fmt::format("tier {}: {} takes {} of {}",
                                miss.tier,
                                NameOf(tree, miss.hypernode),
                                miss.fits,
                                Total(wanted)));
  }
  const Miss& last = misses.back();
  const auto obstacles =
      Obstacles(session, ShortClass(search, wanted, last.hypernode), last.hypernode);
  const bool elsewhere =
      FitsBelow(search, wanted, tree.top()) >= Total(wanted) && last.hypernode != tree.top();
  return {
      elsewhere ? "TopologyUnsatisfied" : "NotEnoughResources",
      fmt::format("{}no HyperNode of tier {} or below holds {} pods; nearest are {}{}{}",
                  Heading(the_job),
                  limit.tier,
                  Total(wanted),
                  fmt::join(parts, ", "),
                  obstacles.empty() ? "" : fmt::format("; in {}: ", NameOf(tree, last.hypernode)),
                  Join(obstacles))};
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
  if (quota) return {quota->reason, Heading(the_job) + quota->message};
  const Wanted wanted = WantedBy(session, job, worksheet);
  if (session.LimitOf(job).kind == TopologyLimit::Kind::kBounded)
    return ExplainTopology(session, search, job, wanted);
  return ExplainFlat(session, search, the_job, wanted);
}

Refusal ExplainBestEffort(Session& session, TaskId task, HyperNodeId domain) {
  const Task& the_task = session.state().task(task);
  const auto obstacles = Obstacles(session, the_task.class_id, domain);
  return {LacksRoom(obstacles) ? "NotEnoughResources" : "NoMatchingNode",
          fmt::format("{}no node of {} takes pod {}{}{}",
                      Heading(session.state().job(the_task.job)),
                      NameOf(session.tree(), domain),
                      the_task.name,
                      obstacles.empty() ? "" : ": ",
                      Join(obstacles))};
}

Refusal ExplainWaiting(const Session& session, JobId job) {
  const Job& the_job = session.state().job(job);
  return {"WaitingForRelease",
          fmt::format("{}/{} tasks wait for resources that terminating pods still hold",
                      the_job.counts.Of(TaskStatus::kPipelined),
                      the_job.counts.Total())};
}

}  // namespace strata
