#include "defrag/plan.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/plural.h"
#include "defrag/board.h"
#include "defrag/movers.h"
#include "defrag/room_search.h"
#include "objects/default_pod_group.h"
#include "objects/pod_request.h"
#include "objects/sort_by_name.h"
#include "report/names.h"
#include "report/topology_report.h"
#include "sched/eviction/settings.h"
#include "whatif/changes.h"
#include "whatif/run.h"

namespace strata {
namespace {

constexpr std::string_view kNewGang = "strata-defrag-gang";

// Pods that belong to their node.
std::set<std::string> BoundPods(const objects::ObjectSet& objects) {
  std::set<std::string> bound;
  for (const objects::Pod& pod : objects.pods) {
    if (StaysWithItsNode(pod)) bound.insert(objects::NamespacedName(pod.meta));
  }
  return bound;
}

// The plugins that keep pods, whether they are configured or not; and nobody is evicted.
SchedulerConfig ForPlans(SchedulerConfig config) {
  static_cast<void>(RemoveEvictionActions(config));
  if (config.tiers.empty()) config.tiers.emplace_back();
  for (const char* name : {"conformance", "pdb"}) {
    const bool known = std::any_of(config.tiers.begin(), config.tiers.end(), [&](const auto& tier) {
      return std::any_of(
          tier.begin(), tier.end(), [&](const auto& plugin) { return plugin.name == name; });
    });
    if (!known) config.tiers.back().push_back({.name = name, .switches = {}, .arguments = {}});
  }
  return config;
}

// Adds a gang that waits, and returns the name of its PodGroup.
Result<std::string> AddGang(const RoomForPods& wanted, CompletedObjects& objects) {
  objects::Pod pod = wanted.pod;
  pod.spec.node_name.clear();
  pod.status = {};
  pod.meta.annotations.erase(std::string(objects::kGroupNameAnnotation));
  std::vector<std::string> warnings;
  TRY_ASSIGN(objects::PodGroup group, objects::MakeDefaultPodGroup(pod, warnings));
  group.meta.name = group.meta.uid = kNewGang;
  group.meta.owners.clear();
  group.meta.created = objects.latest;
  group.min_member = wanted.count;
  group.min_resources.reset();
  pod.meta.annotations[std::string(objects::kGroupNameAnnotation)] = kNewGang;
  pod.meta.created = objects.latest;
  for (std::int32_t i = 0; i < wanted.count; ++i) {
    pod.meta.name = pod.meta.uid = fmt::format("{}-{}", kNewGang, i);
    objects.objects.pods.push_back(pod);
  }
  const std::string name = objects::NamespacedName(group.meta);
  objects.objects.pod_groups.push_back(std::move(group));
  objects::SortByName(objects.objects.pods);
  objects::SortByName(objects.objects.pod_groups);
  return name;
}

// The lowest of what a job with this topology may span: its highest tier; none: anything.
std::optional<std::int32_t> HighestTier(const HyperNodeTree& tree, const TopologySpec& topology) {
  if (topology.mode != TopologySpec::Mode::kHard) return std::nullopt;
  if (topology.highest_tier) return topology.highest_tier;
  return tree.TierOfName(topology.highest_tier_name);
}

// The request of one pod of the job: the first that waits.
objects::ResourceList ShapeOf(const objects::ObjectSet& objects, const std::string& group) {
  const std::vector<const objects::Pod*> waiting = WaitingPodsOf(objects, group);
  return waiting.empty() ? objects::ResourceList() : objects::PodRequest(*waiting.front());
}

// kNotFound when no HyperNode is of that tier.
Status CheckTier(const HyperNodeTree& tree, std::int32_t tier) {
  std::vector<std::int32_t> tiers;
  for (const std::int32_t known : tree.tiers()) {
    if (known != tree.at(tree.top()).tier) tiers.push_back(known);
  }
  if (std::find(tiers.begin(), tiers.end(), tier) != tiers.end()) return {};
  const std::string known = tiers.empty()
                                ? "there are no HyperNodes"
                                : fmt::format("there are tiers {}", fmt::join(tiers, ", "));
  return Fail(Code::kNotFound, fmt::format("no HyperNode of tier {}: {}", tier, known));
}

class Planner {
 public:
  Planner(Board& board, const DefragQuery& query, const std::set<std::string>& bound_pods)
      : board_(board), query_(query), movers_(board, bound_pods, query.limits.allow_higher_tier) {}

  DefragPlan ForJob(JobId job, const objects::ResourceList& shape) {
    plan_.pod = shape;
    CountBefore();
    RoomSearch search(board_, movers_, job, plan_.pod);
    if (search.Started()) {
      MadeRoom nothing;
      nothing.target = {movers_.PlaceOf(job)};
      return Finish(std::move(nothing));
    }
    std::optional<MadeRoom> best;
    for (const Target& target : TargetsFor(job)) {
      Tell(target.name);
      auto room = search.Find(target.nodes);
      if (!room || !IsWithinLimits(room->cost)) continue;
      if (!best || room->cost < best->cost) best = std::move(room);
    }
    if (best) return Finish(*std::move(best));
    const std::string name = board_.state().workload().job(job).spec.name;
    plan_.reason = too_dear_ ? WhyTooDear() : "no moves make room for it" + WhoStays();
    return std::move(plan_);
  }

  DefragPlan ForFree(const FreeHyperNodes& wanted, const objects::ResourceList& shape) {
    plan_.pod = shape;
    CountBefore();
    std::vector<Candidate> candidates = Candidates(wanted.tier);
    MadeRoom room;
    std::set<NodeId> freed;
    std::set<JobId> moved;
    const auto want = static_cast<std::size_t>(wanted.count);
    const Board::Mark mark = board_.Here();
    for (const Candidate& candidate : candidates) {
      if (room.target.size() == want) break;
      Tell(candidate.place.hypernode);
      if (Overlaps(candidate, freed) || !Free(candidate, moved, room)) continue;
      freed.insert(candidate.nodes.begin(), candidate.nodes.end());
      room.target.push_back(candidate.place);
    }
    const bool enough = room.target.size() == want;
    board_.UncordonAll();
    room.fits = LargestFits(board_.state(), plan_.pod);
    board_.RollbackTo(mark);
    if (enough) return Finish(std::move(room));
    plan_.reason = fmt::format("{} of tier {} can be free at the same time, not {}{}",
                               Plural(room.target.size(), "HyperNode"),
                               wanted.tier,
                               wanted.count,
                               too_dear_ ? ", within the limits" : first_refusal_);
    return std::move(plan_);
  }

 private:
  struct Target {
    std::string name;
    std::vector<NodeId> nodes;
    std::int64_t fits = 0;
    std::int32_t tier = 0;
  };
  struct Candidate {
    DefragPlan::Place place;
    std::vector<NodeId> nodes;
    std::vector<Mover> movers;
    MoveCost cost;
  };

  void Tell(const std::string& what) const {
    if (query_.on_stage) query_.on_stage(what);
  }

  [[nodiscard]] bool IsWithinLimits(const MoveCost& cost) {
    const bool within = cost.gangs <= query_.limits.max_gangs.value_or(cost.gangs) &&
                        cost.pods <= query_.limits.max_pods.value_or(cost.pods);
    if (!within && (!too_dear_ || cost < *too_dear_)) too_dear_ = cost;
    return within;
  }

  [[nodiscard]] std::string WhyTooDear() const {
    return fmt::format("the cheapest moves are of {} and {}, more than the limits allow",
                       Plural(static_cast<std::uint64_t>(too_dear_->gangs), "whole gang"),
                       Plural(static_cast<std::uint64_t>(too_dear_->pods), "pod"));
  }

  // "; 2 jobs have to stay, such as default/a (pods of the system)".
  [[nodiscard]] std::string WhoStays() const {
    const auto& staying = board_.staying();
    if (staying.empty()) return "";
    const auto& [first, kind] = *staying.begin();
    return fmt::format("; {} to stay, such as {} (pods {})",
                       Plural(staying.size(), "job") + (staying.size() == 1 ? " has" : " have"),
                       board_.state().workload().job(first).spec.name,
                       kind);
  }

  void CountBefore() {
    for (const auto& fit : LargestFits(board_.state(), plan_.pod)) {
      plan_.largest.push_back(
          {.tier = fit.tier, .tier_name = fit.tier_name, .before = fit.pods, .after = fit.pods});
    }
  }

  // Where the job may be, the sets of nodes with most room first.
  [[nodiscard]] std::vector<Target> TargetsFor(JobId id) const {
    const ClusterState& state = board_.state();
    const HyperNodeTree& tree = state.tree();
    const Job& job = state.workload().job(id);
    const std::optional<std::int32_t> highest = HighestTier(tree, job.spec.topology);
    const auto counted = CountPodsThatFit(state, plan_.pod);
    std::vector<Target> targets;
    for (std::size_t i = 0; i < tree.hypernodes().size(); ++i) {
      const auto hypernode = IdAt<HyperNodeId>(i);
      const auto& at = tree.at(hypernode);
      const auto nodes = tree.NodesOf(hypernode);
      if (nodes.empty() || !at.ready || (highest && at.tier > *highest)) continue;
      targets.push_back({.name = at.name,
                         .nodes = {nodes.begin(), nodes.end()},
                         .fits = counted ? (*counted)[i] : 0,
                         .tier = at.tier});
    }
    std::sort(targets.begin(), targets.end(), [](const Target& a, const Target& b) {
      return std::tuple(-a.fits, a.tier, std::string_view(a.name)) <
             std::tuple(-b.fits, b.tier, std::string_view(b.name));
    });
    if (targets.size() > kMaxDefragTargets) targets.resize(kMaxDefragTargets);
    return targets;
  }

  // The HyperNodes of the tier that may be free of pods, the cheapest first.
  [[nodiscard]] std::vector<Candidate> Candidates(std::int32_t tier) {
    const HyperNodeTree& tree = board_.state().tree();
    std::vector<Candidate> candidates;
    for (const HyperNodeId id : tree.OfTier(tier)) {
      const auto nodes = tree.NodesOf(id);
      if (nodes.empty() || id == tree.top()) continue;
      if (const auto who = movers_.WhoStaysOn(nodes)) {
        if (first_refusal_.empty()) {
          first_refusal_ = fmt::format("; in {} {}", tree.at(id).name, *who);
        }
        continue;
      }
      Candidate& one = candidates.emplace_back();
      one.place = {.hypernode = tree.at(id).name, .tier = tier};
      one.nodes.assign(nodes.begin(), nodes.end());
      one.movers = movers_.On(nodes);
      for (const Mover& mover : one.movers) one.cost.Add(mover);
    }
    std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
      return a.cost < b.cost;
    });
    return candidates;
  }

  [[nodiscard]] static bool Overlaps(const Candidate& candidate, const std::set<NodeId>& freed) {
    return std::any_of(candidate.nodes.begin(), candidate.nodes.end(), [&](NodeId node) {
      return freed.contains(node);
    });
  }

  // Moves everybody out of the HyperNode, besides what `room` has already; false, and as before,
  // when somebody finds no other place.
  [[nodiscard]] bool Free(const Candidate& candidate, std::set<JobId>& moved, MadeRoom& room) {
    // A job that has moved may be here now, and moves only once.
    const std::vector<Mover> movers = movers_.On(candidate.nodes);
    MoveCost cost = room.cost;
    for (const Mover& mover : movers) {
      if (moved.contains(mover.job)) return false;
      cost.Add(mover);
    }
    if (!IsWithinLimits(cost)) return false;
    const Board::Mark mark = board_.Here();
    std::vector<NodeId> cordoned = room.nodes;
    cordoned.insert(cordoned.end(), candidate.nodes.begin(), candidate.nodes.end());
    board_.Cordon(candidate.nodes);
    std::vector<DefragPlan::Move> moves;
    const std::vector<Mover> stuck = movers_.MoveAll(
        movers, [] { return false; }, moves);
    if (!stuck.empty()) {
      if (first_refusal_.empty()) {
        first_refusal_ = fmt::format("; in {} {} has no other place",
                                     candidate.place.hypernode,
                                     board_.state().workload().job(stuck.front().job).spec.name);
      }
      board_.RollbackTo(mark);
      board_.UncordonAll();
      board_.Cordon(room.nodes);
      return false;
    }
    for (const Mover& mover : movers) moved.insert(mover.job);
    room.cost = cost;
    room.nodes = std::move(cordoned);
    room.moves.insert(room.moves.end(), moves.begin(), moves.end());
    return true;
  }

  DefragPlan Finish(MadeRoom room) {
    plan_.possible = true;
    plan_.target = std::move(room.target);
    for (std::size_t i = 0; i < room.fits.size(); ++i) plan_.largest[i].after = room.fits[i].pods;
    if (!room.moves.empty()) {
      for (const NodeId node : room.nodes) {
        plan_.nodes.push_back(board_.state().nodes().spec(node).name);
      }
    }
    std::sort(plan_.nodes.begin(), plan_.nodes.end(), NaturalLess);
    plan_.moves = std::move(room.moves);
    return std::move(plan_);
  }

  Board& board_;
  const DefragQuery& query_;
  Movers movers_;
  DefragPlan plan_;
  std::optional<MoveCost> too_dear_;  // the cheapest moves that the limits forbid
  std::string first_refusal_;
};

}  // namespace

Result<DefragPlan> PlanDefrag(CompletedObjects objects,
                              SchedulerConfig config,
                              const DefragQuery& query) {
  config = ForPlans(std::move(config));
  std::string group;
  if (const auto* job = std::get_if<RoomForJob>(&query.goal)) group = job->group;
  if (const auto* pods = std::get_if<RoomForPods>(&query.goal)) {
    TRY_ASSIGN(group, AddGang(*pods, objects));
  }
  const std::set<std::string> bound_pods = BoundPods(objects.objects);
  TRY_ASSIGN(LoadedCluster cluster, LoadCompleted(objects));
  RunOptions options;
  options.now = query.now;
  options.explain_only = "";
  TRY(RunCycles(cluster, config, options));
  const ClusterState& state = *cluster.state;
  TRY_ASSIGN(const std::unique_ptr<Board> board,
             Board::Make(*cluster.state, config, query.now.value_or(cluster.latest)));
  Planner planner(*board, query, bound_pods);
  if (const auto* free = std::get_if<FreeHyperNodes>(&query.goal)) {
    TRY(CheckTier(state.tree(), free->tier));
    return planner.ForFree(*free, DefaultPodShape(state));
  }
  const auto job = state.workload().FindJob(group);
  if (!job) return Fail(Code::kNotFound, fmt::format("no job {}", group));
  return planner.ForJob(*job, ShapeOf(objects.objects, group));
}

std::int64_t DefragPlan::GangCount() const {
  return std::count_if(
      moves.begin(), moves.end(), [](const Move& move) { return move.whole_gang; });
}

std::int64_t DefragPlan::PodCount() const {
  std::int64_t pods = 0;
  for (const Move& move : moves) pods += static_cast<std::int64_t>(move.pods.size());
  return pods;
}

std::int64_t DefragPlan::LostWork() const {
  std::int64_t lost = 0;
  for (const Move& move : moves) lost += move.lost_work;
  return lost;
}

}  // namespace strata
