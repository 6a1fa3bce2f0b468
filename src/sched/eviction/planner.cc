#include "sched/eviction/planner.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/plural.h"
#include "sched/eviction/contested.h"
#include "sched/eviction/gang_need.h"
#include "sched/eviction/who_stays.h"
#include "sched/verdict_text.h"

namespace strata {
namespace {

// How often the search may be asked to find the best combination of few units.
constexpr std::size_t kMaxProofs = 64;
// HyperNodes with many units that are looked at closely, at least.
constexpr std::size_t kEstimates = 32;

std::int32_t LowestPriority(const Session& session, const Worksheet& worksheet) {
  std::int32_t lowest = std::numeric_limits<std::int32_t>::max();
  for (const Worksheet::Sheet& sheet : worksheet.sheets()) {
    for (const TaskId task : sheet.left()) {
      lowest = std::min(lowest, session.state().workload().task(task).priority);
    }
  }
  return lowest;
}

Wanted AllOf(const Session& session, const Worksheet& worksheet) {
  return FirstOf(session.state(), worksheet.AllLeft(session), worksheet.left());
}

}  // namespace

EvictionPlanner::Answer EvictionPlanner::Plan(const RoomRequest& asked) {
  const bool tells = session_.tracing();
  const Session::Silence silence(session_);
  const bool replicas = asked.what == RoomRequest::For::kReplicas;
  EvictionClaim claim{.kind = settings_.kind,
                      .job = asked.job,
                      .need = replicas ? SumOf(session_.state(), asked.worksheet.AllLeft(session_))
                                       : NeedOf(session_, asked.job, asked.worksheet),
                      .contested = {},
                      .task_priority = LowestPriority(session_, asked.worksheet)};
  claim.contested = ShortBelow(session_, claim.need.room, HyperNodeId{});
  VictimFinder::Found found = finder_.For(claim);
  if (replicas) {
    for (VictimFinder::Candidate& candidate : found.candidates) candidate.whole = false;
  }
  const VictimMap victims(session_, finder_, found);
  const Wanted wanted = replicas ? AllOf(session_, asked.worksheet)
                                 : NeededAtLeast(session_, asked.job, asked.worksheet);
  Inquiry inquiry{
      .asked = asked, .claim = claim, .found = found, .victims = victims, .wanted = wanted};
  Race race{.options = {},
            .beaten = {},
            .soft = session_.state().workload().job(asked.job).spec.topology.mode ==
                    TopologySpec::Mode::kSoft,
            .proofs_left = settings_.max_domains};
  if (!found.candidates.empty()) race.options = Bounded(inquiry);
  std::optional<Option> best = Best(inquiry, race);
  Answer answer;
  if (!best) {
    answer.refusal = WhyNobody(inquiry);
    return answer;
  }
  if (tells) answer.record = Tell(inquiry, race, *best);
  answer.plan = Describe(asked.job, *best);
  answer.places = std::move(best->places);
  return answer;
}

std::vector<EvictionPlanner::Option> EvictionPlanner::Bounded(Inquiry& inquiry) const {
  const std::vector<HyperNodeId> domains = AllowedDomains(inquiry.asked.job);
  const ClearingBounds bounds(session_, finder_, inquiry.found, inquiry.wanted, domains);
  std::vector<Option> options;
  for (const HyperNodeId domain : domains) {
    auto bound = bounds.Of(domain, settings_.order);
    if (!bound) {
      inquiry.ruled_out = true;
      continue;
    }
    Option& option = options.emplace_back();
    option.domain = domain;
    option.clearing.cost = bound->cost;
    option.bound = std::move(*bound);
  }
  return options;
}

std::optional<EvictionPlanner::Option> EvictionPlanner::Best(Inquiry& inquiry, Race& race) {
  std::make_heap(race.options.begin(), race.options.end(), [&](const Option& a, const Option& b) {
    return Precedes(PriceOf(b), PriceOf(a), race.soft);
  });
  std::optional<Option> best;
  while (auto option = NextProven(inquiry, race, best ? &*best : nullptr)) {
    if (best && !Precedes(PriceOf(*option), PriceOf(*best), race.soft)) {
      race.beaten.push_back(*std::move(option));
      continue;
    }
    if (best) race.beaten.push_back(*std::move(best));
    best = std::move(option);
  }
  return best;
}

std::optional<EvictionPlanner::Option> EvictionPlanner::NextProven(Inquiry& inquiry,
                                                                   Race& race,
                                                                   const Option* rival) {
  const auto after = [&](const Option& a, const Option& b) {
    return Precedes(PriceOf(b), PriceOf(a), race.soft);
  };
  const auto put_back = [&](Option option) {
    race.options.push_back(std::move(option));
    std::push_heap(race.options.begin(), race.options.end(), after);
  };
  while (!race.options.empty()) {
    std::pop_heap(race.options.begin(), race.options.end(), after);
    Option option = std::move(race.options.back());
    race.options.pop_back();
    if (rival != nullptr && !Precedes(PriceOf(option), PriceOf(*rival), race.soft)) {
      put_back(std::move(option));
      return std::nullopt;
    }
    if (!option.estimated) {
      const bool large = option.bound.jobs > ClearingSearch::kExactUnits;
      if (large && race.estimates >= std::max(kEstimates, settings_.max_domains)) {
        inquiry.out_of_domains = true;
        continue;
      }
      if (!Estimate(inquiry, option)) continue;
      if (large) ++race.estimates;
      put_back(std::move(option));
      continue;
    }
    if (race.proofs_left == 0) {
      inquiry.out_of_domains = true;
      return std::nullopt;
    }
    --race.proofs_left;
    if (!Prove(inquiry, option)) continue;
    if (option.clearing.units.empty()) continue;  // it needs nobody to go: allocate's business
    return option;
  }
  return std::nullopt;
}

EvictionRecord EvictionPlanner::Tell(Inquiry& inquiry, Race& race, const Option& best) {
  const WorkloadTable& workload = session_.state().workload();
  EvictionRecord record{.job = workload.job(inquiry.asked.job).spec.name,
                        .action = settings_.action,
                        .chosen = DomainOf(best),
                        .others = {},
                        .kept = {}};
  std::vector<Option>& others = race.beaten;
  const auto drop = [&](const Option& option) {
    return !IsAnother(option, best) || !Precedes(PriceOf(best), PriceOf(option), race.soft);
  };
  std::erase_if(others, drop);
  race.proofs_left = settings_.max_domains;
  while (others.size() < kMaxOtherDomains) {
    auto option = NextProven(inquiry, race, nullptr);
    if (!option) break;
    if (!drop(*option)) others.push_back(*std::move(option));
  }
  std::sort(others.begin(), others.end(), [&](const Option& a, const Option& b) {
    return Precedes(PriceOf(a), PriceOf(b), race.soft);
  });
  others.resize(std::min(others.size(), kMaxOtherDomains));
  for (const Option& option : others) {
    record.others.push_back(DomainOf(option));
    record.others.back().worse_by = WhatDiffers(PriceOf(best), PriceOf(option), race.soft);
  }
  for (const VictimFinder::Protected& one : finder_.ProtectedFrom(inquiry.claim, inquiry.found)) {
    record.kept.push_back({workload.job(one.job).spec.name, one.kind, one.pods});
  }
  std::sort(record.kept.begin(), record.kept.end(), [](const auto& a, const auto& b) {
    return std::tie(a.job, a.kind) < std::tie(b.job, b.kind);
  });
  return record;
}

bool EvictionPlanner::IsAnother(const Option& option, const Option& best) const {
  const HyperNodeTree& tree = session_.tree();
  const bool around = std::all_of(best.places.begin(), best.places.end(), [&](const auto& place) {
    return tree.Contains(option.domain, place.second);
  });
  return !around || option.clearing.cost != best.clearing.cost;
}

EvictionRecord::Domain EvictionPlanner::DomainOf(const Option& option) const {
  const HyperNodeTree& tree = session_.tree();
  const bool whole = option.domain == tree.top();
  return {.hypernode = whole ? "" : tree.at(option.domain).name,
          .tier = whole ? 0 : tree.at(option.domain).tier,
          .cost = option.clearing.cost};
}

DomainPrice EvictionPlanner::PriceOf(const Option& option) const {
  const auto& hypernode = session_.tree().at(option.domain);
  return {.cost = option.clearing.cost, .tier = hypernode.tier, .name = hypernode.name};
}

std::vector<HyperNodeId> EvictionPlanner::AllowedDomains(JobId job) const {
  const HyperNodeTree& tree = session_.tree();
  const TopologyLimit& limit = session_.topologies().LimitOf(job);
  if (limit.kind != TopologyLimit::Kind::kBounded) return {tree.top()};
  const Resources nothing;
  const Job& the_job = session_.state().workload().job(job);
  const GradientQuery query{
      .within = tree.top(),
      .allocated = tree.Find(the_job.allocated_hypernode).value_or(HyperNodeId{}),
      .limit = limit.tier,
      .need = &nothing};
  std::vector<HyperNodeId> domains;
  const Gradient gradient = session_.plugins().points().gradient->Find(session_.state(), query);
  for (const Gradient::Tier& tier : gradient.tiers) {
    domains.insert(domains.end(), tier.eligible.begin(), tier.eligible.end());
  }
  return domains;
}

bool EvictionPlanner::Estimate(Inquiry& inquiry, Option& option) {
  option.estimated = true;
  option.claim = inquiry.claim;
  option.claim.contested = ShortBelow(session_, inquiry.claim, inquiry.wanted, option.domain);
  const auto clear_up_to = [&](std::optional<std::int32_t> level) {
    option.victims = inquiry.victims.UnitsIn(option.domain, settings_.order, level);
    session_.Look(option.victims.size());
    const bool granted =
        std::any_of(option.victims.begin(), option.victims.end(), [&](const Victim& victim) {
          return finder_.votes().Grants(inquiry.found.tier, option.claim, victim.unit);
        });
    if (!granted) return false;
    inquiry.has_victims = true;
    if (auto why = finder_.votes().NotEntitled(inquiry.found.tier, option.claim)) {
      if (!inquiry.not_entitled) inquiry.not_entitled = std::move(why);
      return false;
    }
    return Clear(inquiry, option);
  };
  if (option.bound.jobs > ClearingSearch::kExactUnits) {
    // Gangs of higher priority are of use only if fewer of them have to go.
    if (clear_up_to(option.bound.level) && option.clearing.cost.gangs == option.bound.cost.gangs) {
      return true;
    }
  }
  return clear_up_to(std::nullopt);
}

bool EvictionPlanner::Clear(Inquiry& inquiry, Option& option) {
  const FreedRoom room(session_, inquiry.wanted, option.domain);
  const UnitTaker taker(session_, finder_.votes(), inquiry.found.tier, option.claim);
  ClearingSearch search(session_, taker, option.victims, room, settings_.order);
  auto clearing = search.Find(option.bound.cost);
  inquiry.cut = inquiry.cut || search.cut();
  if (clearing) option.clearing = std::move(*clearing);
  return clearing.has_value();
}

bool EvictionPlanner::Prove(Inquiry& inquiry, Option& option) {
  const std::vector<ResourceId> expected = option.claim.contested;
  if (!FindPlaces(inquiry, option)) return false;
  if (IsEntitled(inquiry, option)) return true;
  // Some units are of queues that have too much of something else: once more without them.
  if (option.claim.contested == expected) return false;
  return Clear(inquiry, option) && FindPlaces(inquiry, option) && IsEntitled(inquiry, option);
}

bool EvictionPlanner::FindPlaces(Inquiry& inquiry, Option& option) {
  const UnitTaker taker(session_, finder_.votes(), inquiry.found.tier, option.claim);
  PlanProof proof(session_, search_, taker, option.victims, inquiry.asked, option.domain);
  const FreedRoom room(session_, inquiry.wanted, option.domain);
  ClearingSearch search(session_, taker, option.victims, room, settings_.order);
  auto places = proof.FindPlacesWithout(option.clearing.units);
  if (!places && option.victims.size() <= ClearingSearch::kExactUnits) {
    const auto proven =
        search.FindProven([&] { return proof.FindPlaces().has_value(); }, kMaxProofs);
    inquiry.cut = inquiry.cut || search.cut();
    if (proven) {
      option.clearing = *proven;
      places = proof.FindPlacesWithout(option.clearing.units);
    }
  }
  if (places) {
    option.places = std::move(*places);
  } else if (!ProveWithMore(inquiry, option, proof)) {
    return false;
  }
  option.clearing = search.Make(proof.WithoutUnneeded(
      option.clearing.units, search.FromDearest(option.clearing), option.places));
  return true;
}

bool EvictionPlanner::ProveWithMore(Inquiry& inquiry, Option& option, PlanProof& proof) {
  const FreedRoom room(session_, inquiry.wanted, option.domain);
  const UnitTaker taker(session_, finder_.votes(), inquiry.found.tier, option.claim);
  const ClearingSearch search(session_, taker, option.victims, room, settings_.order);
  Journal& journal = session_.state().journal();
  std::vector<std::size_t> units = option.clearing.units;
  std::vector<std::size_t> left_out;
  std::size_t next = 0;
  for (std::size_t step = 1; next < option.victims.size(); step *= 2) {
    const Journal::Savepoint begin = journal.Mark();
    std::vector<std::size_t> taken;
    const auto take = [&](std::size_t i) {
      const VictimUnit& unit = option.victims[i].unit;
      if (!taker.Take(unit).empty()) {
        taken.push_back(i);
      } else if (taker.Runs(unit)) {
        left_out.push_back(i);
      }
    };
    for (const std::size_t i : units) take(i);
    for (std::size_t added = 0; next < option.victims.size() && added < step; ++next) {
      const std::size_t before = taken.size();
      take(next);
      added += taken.size() - before;
    }
    journal.RollbackTo(begin);
    Clearing clearing = search.Make(std::move(taken));
    units = clearing.units;
    auto places = proof.FindPlacesWithout(units);
    if (!places) continue;
    option.clearing = std::move(clearing);
    option.places = std::move(*places);
    return true;
  }
  // Others might have gone in place of those that were taken.
  if (option.victims.size() > ClearingSearch::kExactUnits) {
    inquiry.cut |= std::any_of(left_out.begin(), left_out.end(), [&](std::size_t i) {
      return taker.MayGo(option.victims[i].unit);
    });
  }
  return false;
}

bool EvictionPlanner::IsEntitled(const Inquiry& inquiry, Option& option) {
  if (settings_.kind != EvictionKind::kReclaim) return true;  // it is not about amounts
  const std::vector<ResourceId> taken = TakenFromOthers(session_.state(), option.places);
  if (taken.empty() || taken == option.claim.contested) return true;
  option.claim.contested = taken;
  if (finder_.votes().NotEntitled(inquiry.found.tier, option.claim)) return false;
  const UnitTaker taker(session_, finder_.votes(), inquiry.found.tier, option.claim);
  PlanProof proof(session_, search_, taker, option.victims, inquiry.asked, option.domain);
  const Journal::Savepoint begin = session_.state().journal().Mark();
  const bool granted = proof.Apply(option.clearing.units, option.places);
  session_.state().journal().RollbackTo(begin);
  return granted;
}

CycleResult::EvictionPlan EvictionPlanner::Describe(JobId job, const Option& option) const {
  const HyperNodeTree& tree = session_.tree();
  CycleResult::EvictionPlan plan;
  plan.action = settings_.action;
  plan.claimant = job;
  if (option.domain != tree.top()) {
    plan.hypernode = tree.at(option.domain).name;
    plan.tier = tree.at(option.domain).tier;
  }
  for (const std::size_t i : option.clearing.units) {
    const VictimUnit& unit = option.victims[i].unit;
    auto victim = std::find_if(plan.victims.begin(), plan.victims.end(), [&](const auto& one) {
      return one.job == unit.job;
    });
    if (victim == plan.victims.end()) {
      victim = plan.victims.insert(victim, {.job = unit.job, .unit = unit.kind, .tasks = {}});
    }
    victim->tasks.insert(victim->tasks.end(), unit.tasks.begin(), unit.tasks.end());
    victim->has_budget =
        victim->has_budget || std::any_of(unit.tasks.begin(), unit.tasks.end(), [&](TaskId task) {
          return session_.state().workload().task(task).disruption.budgets != 0;
        });
  }
  return plan;
}

void EvictionPlanner::Commit(const Answer& answer) {
  CHECK(answer.plan && answer.plan->PodCount() > 0);
  const HyperNodeTree& tree = session_.tree();
  const HyperNodeId domain = tree.Find(answer.plan->hypernode).value_or(tree.top());
  for (const auto& victim : answer.plan->victims) {
    for (const TaskId task : victim.tasks) session_.Evict(task);
  }
  for (const auto& [task, node] : answer.places) {
    session_.Place(task, node, DevicePoint::When::kFuture, domain);
  }
  session_.CommitEvictions(*answer.plan);
  if (answer.record) session_.Trace(*answer.record);
}

std::size_t EvictionPlanner::PodsThatMayGo(const Inquiry& inquiry) const {
  std::size_t pods = 0;
  for (const VictimFinder::Candidate& candidate : inquiry.found.candidates) {
    const bool granted = finder_.IsGranted(inquiry.found.tier, inquiry.claim, candidate);
    if (granted) pods += MayLose(session_.state(), candidate);
  }
  return pods;
}

Refusal EvictionPlanner::WhyNobody(const Inquiry& inquiry) const {
  if (inquiry.out_of_domains) {
    return {"EvictionSearchCut",
            fmt::format("the search ended before everything was tried (maxDomains is {}), so there "
                        "may be pods to evict",
                        settings_.max_domains)};
  }
  if (inquiry.cut) {
    return {"EvictionSearchCut",
            fmt::format("of the {} that may go for it, not every choice was tried, and none of "
                        "those that were makes room for the gang",
                        Plural(PodsThatMayGo(inquiry), "pod"))};
  }
  if (inquiry.not_entitled) return {"EvictionNotAllowed", *inquiry.not_entitled};
  const bool may_have = inquiry.has_victims || inquiry.ruled_out;
  const std::size_t pods = may_have ? PodsThatMayGo(inquiry) : 0;
  if (inquiry.has_victims || pods > 0) {
    return {"NothingToEvict",
            fmt::format("of the {} that may go for it, no allowed choice makes room for the gang",
                        Plural(pods, "pod"))};
  }
  const std::string stays = WhoStays(session_.state(), finder_, inquiry.claim, inquiry.found);
  return {"NothingToEvict",
          stays.empty() ? "no pod is in its reach" : "it may evict nobody: " + stays};
}

}  // namespace strata
