#include "sched/shortage.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/amount_format.h"

namespace strata {
namespace {

// True when slots overestimate how many tasks get their GPUs, because the policy may choose others.
bool CountsRoughly(const ClassSpec& spec) {
  if (!spec.gpus) return false;
  const auto& containers = spec.gpus->containers;
  const auto several = std::count_if(
      containers.begin(), containers.end(), [](const auto& one) { return one.count > 0; });
  return several > 1 || std::any_of(containers.begin(), containers.end(), [](const auto& one) {
           return one.count > 1 && one.cores < 100;
         });
}

// True when other pods, or pods of the class itself, may keep a task of it off nodes. Pods without
// a node do not count.
bool PeersMatter(ClassView& view) {
  const PeerCounts* const peers = view.Peers();
  if (peers == nullptr || view.spec().HasRules()) return peers != nullptr;
  const auto repulsion = peers->repulsion();
  return std::any_of(
      repulsion.begin(), repulsion.end(), [](const Tally& tally) { return tally.total != 0; });
}

// True when counting slots is not enough, because one task of the gang affects the next.
bool NeedsRehearsal(Session& session, const Demand& demand) {
  return !demand.request.tasks.empty() &&
         std::any_of(demand.wanted.begin(), demand.wanted.end(), [&](const auto& entry) {
           ClassView& view = session.views().Of(entry.first);
           return PeersMatter(view) || view.LooksBeyondNodes() ||
                  !view.spec().volumes.attached.empty() || CountsRoughly(view.spec());
         });
}

// How many find a slot below `domain`, each class as if the others took nothing.
std::uint64_t SlotsBelow(Search& search, const Wanted& wanted, HyperNodeId domain) {
  std::uint64_t slots = 0;
  for (const auto& [class_id, count] : wanted) {
    slots += std::min(count, search.SlotsIn(class_id, domain, count));
  }
  return slots;
}

// True when classes that each have enough slots may compete for the same ones.
bool MayCollide(const Demand& demand, std::uint64_t slots) {
  return demand.wanted.size() > 1 && !demand.request.tasks.empty() && slots >= Total(demand.wanted);
}

const Search::Rehearsal& RehearseBelow(Search& search, const Demand& demand, HyperNodeId domain) {
  const auto [it, is_new] = demand.rehearsals.try_emplace(domain);
  if (is_new) {
    PlaceRequest request = demand.request;
    request.domain = domain;
    request.ask_quota = false;
    it->second = search.Rehearse(request);
  }
  return it->second;
}

// The class that lacks the most slots below `domain`; the first one when none lacks any.
ClassId ShortClass(Search& search, const Wanted& wanted, HyperNodeId domain) {
  ClassId shortest = wanted.begin()->first;
  std::uint64_t max = 0;
  for (const auto& [class_id, count] : wanted) {
    const std::uint64_t missing = count - std::min(count, search.SlotsIn(class_id, domain, count));
    if (missing > max) {
      max = missing;
      shortest = class_id;
    }
  }
  return shortest;
}

}  // namespace

void Add(Wanted& wanted, ClassId class_id, std::uint64_t count) {
  const auto known = std::find_if(
      wanted.begin(), wanted.end(), [&](const auto& entry) { return entry.first == class_id; });
  if (known != wanted.end()) {
    known->second += count;
  } else {
    wanted.emplace_back(class_id, count);
  }
}

Wanted FirstOf(const ClusterState& state, std::span<const TaskId> tasks, std::size_t count) {
  Wanted wanted;
  for (const TaskId id : tasks.first(std::min(count, tasks.size()))) {
    const ClassId class_id = state.workload().task(id).class_id;
    Add(wanted, class_id, 1);
  }
  return wanted;
}

std::uint64_t Total(const Wanted& wanted) {
  std::uint64_t total = 0;
  for (const auto& [class_id, count] : wanted) total += count;
  return total;
}

std::uint64_t FitsBelow(Session& session,
                        Search& search,
                        const Demand& demand,
                        HyperNodeId domain) {
  if (!NeedsRehearsal(session, demand)) {
    const std::uint64_t slots = SlotsBelow(search, demand.wanted, domain);
    if (!MayCollide(demand, slots)) return slots;
  }
  return std::min<std::uint64_t>(RehearseBelow(search, demand, domain).placed,
                                 Total(demand.wanted));
}

Obstacles ObstaclesBelow(Session& session,
                         Search& search,
                         const Demand& demand,
                         HyperNodeId domain) {
  const std::uint64_t slots = SlotsBelow(search, demand.wanted, domain);
  if (NeedsRehearsal(session, demand) || MayCollide(demand, slots)) {
    const Obstacles& obstacles = RehearseBelow(search, demand, domain).obstacles;
    if (!obstacles.empty()) return obstacles;
  }
  // Enough is idle in total, but fragmented, or on nodes that filters refuse.
  const bool scattered = slots < Total(demand.wanted) &&
                         ShortagesBelow(session.state(), demand.wanted, domain).empty();
  return FindObstacles(session,
                       ShortClass(search, demand.wanted, domain),
                       session.tree().NodesOf(domain),
                       scattered ? Takers::kCounted : Takers::kIgnored);
}

Shortages ShortagesBelow(const ClusterState& state, const Wanted& wanted, HyperNodeId domain) {
  Shortages shortages;
  Resources asked;
  for (const auto& [class_id, count] : wanted) {
    asked.AddSaturating(state.classes().counted(class_id));
  }
  const std::vector<Amount> free = FreeBelow(state, domain);
  for (const ResourceId id : NamedIn(state.resource_names(), asked)) {
    double need = 0;  // a sentence, not a decision: no overflow, no exactness wanted
    for (const auto& [class_id, count] : wanted) {
      need += static_cast<double>(state.classes().counted(class_id).Get(id)) *
              static_cast<double>(count);
    }
    if (need <= 0) continue;
    const Amount idle = IsAbsent(id) ? 0 : free[id.index()];
    const double missing = need - static_cast<double>(std::max<Amount>(idle, 0));
    if (missing <= 0 || missing > 9e18) continue;
    shortages.emplace_back(id, static_cast<Amount>(missing));
  }
  return shortages;
}

std::string WhatIsShort(Session& session,
                        const Wanted& wanted,
                        HyperNodeId domain,
                        const Obstacles& obstacles) {
  const std::vector<std::string> nodes = Sentences(obstacles);
  std::vector<std::string> shortages;
  for (const auto& [id, amount] : ShortagesBelow(session.state(), wanted, domain)) {
    const std::string& name = session.state().resource_names().name(id);
    const bool one_pod = id == kPods && amount == 1;
    shortages.push_back(one_pod ? "1 pod" : fmt::format("{} {}", FormatNumber(name, amount), name));
  }
  if (shortages.empty()) return fmt::format("{}", fmt::join(nodes, ", "));
  const std::string detail = nodes.empty() ? "" : fmt::format(" ({})", fmt::join(nodes, ", "));
  return fmt::format("{}{}{}", kShortOf, fmt::join(shortages, ", "), detail);
}

std::vector<Miss> NearestMisses(
    Session& session, Search& search, const Demand& demand, HyperNodeId root, std::int32_t limit) {
  const HyperNodeTree& tree = session.tree();
  std::vector<Miss> misses;
  for (const std::int32_t tier : tree.tiers()) {
    if (tier > limit) break;
    Miss nearest{.hypernode = {}, .tier = tier, .fits = 0};
    for (const HyperNodeId id : tree.OfTier(tier)) {
      if (!tree.IsAncestorOrSelf(root, id)) continue;
      const std::uint64_t fits = FitsBelow(session, search, demand, id);
      if (!nearest.hypernode.valid() || fits > nearest.fits) {
        nearest = {.hypernode = id, .tier = tier, .fits = fits};
      }
    }
    if (nearest.hypernode.valid()) misses.push_back(nearest);
  }
  return misses;
}

}  // namespace strata
