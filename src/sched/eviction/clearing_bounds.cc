#include "sched/eviction/clearing_bounds.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace strata {
namespace {

constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

std::int64_t DivideUp(Amount amount, Amount by) {
  return (amount + by - 1) / by;
}

}  // namespace

ClearingBounds::ClearingBounds(const Session& session,
                               const VictimFinder& finder,
                               const VictimFinder::Found& found,
                               const Wanted& wanted,
                               std::span<const HyperNodeId> domains)
    : session_(session),
      position_(session.tree().hypernodes().size(), kNowhere),
      domains_(domains.size()) {
  for (std::uint32_t i = 0; i < domains.size(); ++i) position_[domains[i].index()] = i;
  ReadLevels(found);
  ReadWanted(wanted);
  if (IsOverfull()) resources_.clear();
  sums_.assign(domains.size() * levels_.size() * resources_.size(), 0);
  surplus_.assign(domains.size() * resources_.size(), 0);
  largest_gang_.assign(domains.size() * resources_.size(), 0);
  for (const VictimFinder::Candidate& candidate : found.candidates) AddJob(finder, candidate);
}

void ClearingBounds::ReadWanted(const Wanted& wanted) {
  Resources all;
  for (const auto& [class_id, count] : wanted) {
    const Resources& request = session_.state().classes().spec(class_id).request;
    all.AddSaturating(request, static_cast<Amount>(count));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto id = IdAt<ResourceId>(i);
    if (all.Get(id) <= 0) continue;
    resources_.push_back(id);
    wanted_.push_back(all.Get(id));
  }
}

// A node that shrank under its pods lacks something that the gang does not lack.
bool ClearingBounds::IsOverfull() const {
  const NodeTable& nodes = session_.state().nodes();
  return std::any_of(nodes.all().begin(), nodes.all().end(), [&](NodeId node) {
    const auto future = nodes.FutureIdle(node);
    return std::any_of(resources_.begin(), resources_.end(), [&](ResourceId id) {
      return future[id.index()] < 0;
    });
  });
}

void ClearingBounds::ReadLevels(const VictimFinder::Found& found) {
  const WorkloadTable& workload = session_.state().workload();
  for (const VictimFinder::Candidate& candidate : found.candidates) {
    const std::int32_t priority = workload.job(candidate.job).spec.priority;
    const auto at = std::lower_bound(levels_.begin(), levels_.end(), priority);
    if (at == levels_.end() || *at != priority) levels_.insert(at, priority);
  }
  if (levels_.size() <= kMaxLevels) return;
  const std::size_t group = levels_.size() / kMaxLevels + 1;
  std::vector<std::int32_t> fewer;
  for (std::size_t i = 0; i < levels_.size(); i += group) fewer.push_back(levels_[i]);
  levels_ = std::move(fewer);
}

void ClearingBounds::AddJob(const VictimFinder& finder, const VictimFinder::Candidate& candidate) {
  const ClusterState& state = session_.state();
  const VictimBook::Entry& entry = finder.book().at(candidate.job);
  const bool surplus = candidate.own || entry.may_have_spare;
  if (!candidate.whole && !surplus) return;
  // The last level that is not above its own: a group of levels counts as its lowest.
  const auto above = std::upper_bound(levels_.begin(), levels_.end(), entry.priority);
  const auto level = static_cast<std::size_t>(above - levels_.begin()) - 1;
  if (entry.class_id.valid() && candidate.open.size() == entry.pods.size()) {
    for (const VictimBook::Footprint& part : entry.where) {
      AddPods(part.chain, entry.class_id, part.pods, level, surplus);
    }
  } else {
    for (const TaskId id : candidate.open) {
      const Task& task = state.workload().task(id);
      AddPods(state.tree().ChainOf(task.node), task.class_id, 1, level, surplus);
    }
  }
  if (!candidate.whole) return;
  std::vector<Amount>& total = total_;
  total.assign(resources_.size(), 0);
  if (entry.class_id.valid()) {
    const Resources& request = state.classes().spec(entry.class_id).request;
    const auto pods = static_cast<Amount>(entry.pods.size());
    for (std::size_t i = 0; i < total.size(); ++i) total[i] = pods * request.Get(resources_[i]);
  } else {
    for (const TaskId id : entry.pods) {
      const Resources& request = state.classes().spec(state.workload().task(id).class_id).request;
      for (std::size_t i = 0; i < total.size(); ++i) total[i] += request.Get(resources_[i]);
    }
  }
  const UnitPrice price = finder.book().PriceOfAll(state, candidate.job, session_.now());
  for (const VictimBook::Footprint& part : entry.where) AddGang(part.chain, price, total);
}

void ClearingBounds::AddPods(
    ChainId chain, ClassId class_id, Amount pods, std::size_t level, bool surplus) {
  const Resources& request = session_.state().classes().spec(class_id).request;
  for (const HyperNodeId hypernode : session_.tree().HyperNodesOf(chain)) {
    const std::uint32_t domain = position_[hypernode.index()];
    if (domain == kNowhere) continue;
    const std::size_t cell = Cell(domain, level);
    for (std::size_t i = 0; i < resources_.size(); ++i) {
      const Amount amount = pods * request.Get(resources_[i]);
      sums_[cell + i] += amount;
      if (surplus) surplus_[domain * resources_.size() + i] += amount;
    }
    if (surplus) domains_[domain].has_surplus = true;
    ++domains_[domain].jobs;
  }
}

void ClearingBounds::AddGang(ChainId chain, const UnitPrice& price, std::span<const Amount> total) {
  for (const HyperNodeId hypernode : session_.tree().HyperNodesOf(chain)) {
    const std::uint32_t at = position_[hypernode.index()];
    if (at == kNowhere) continue;
    Domain& domain = domains_[at];
    UnitPrice& least = domain.least;
    if (!domain.has_gangs) least = price;
    domain.has_gangs = true;
    least.pods = std::min(least.pods, price.pods);
    least.lost_work = std::min(least.lost_work, price.lost_work);
    least.grace_seconds = std::min(least.grace_seconds, price.grace_seconds);
    Amount* largest = largest_gang_.data() + at * resources_.size();
    for (std::size_t i = 0; i < total.size(); ++i) largest[i] = std::max(largest[i], total[i]);
  }
}

std::int64_t ClearingBounds::GangsFor(std::size_t domain, std::span<const Amount> lacking) const {
  std::int64_t gangs = 0;
  for (std::size_t i = 0; i < resources_.size(); ++i) {
    const Amount largest = largest_gang_[domain * resources_.size() + i];
    if (lacking[i] > 0 && largest > 0) gangs = std::max(gangs, DivideUp(lacking[i], largest));
  }
  return gangs;
}

std::optional<ClearingBounds::Bound> ClearingBounds::Of(HyperNodeId hypernode,
                                                        VictimOrder order) const {
  const std::uint32_t at = position_[hypernode.index()];
  const Domain& domain = domains_[at];
  if (domain.jobs == 0) return std::nullopt;
  const auto idle = session_.state().sums().FutureIdle(hypernode);
  std::vector<Amount> lacking(wanted_.begin(),
                              wanted_.begin() + static_cast<std::ptrdiff_t>(resources_.size()));
  for (std::size_t i = 0; i < resources_.size(); ++i) lacking[i] -= idle[resources_[i].index()];
  const auto is_covered = [&] {
    return std::all_of(lacking.begin(), lacking.end(), [](Amount one) { return one <= 0; });
  };
  Bound bound;
  bound.jobs = domain.jobs;
  bound.level = levels_.empty() ? 0 : levels_.back();
  if (is_covered()) return bound;  // sums do not tell: the idle room is in pieces

  std::vector<Amount> without_surplus = lacking;
  for (std::size_t i = 0; i < resources_.size(); ++i) {
    without_surplus[i] -= surplus_[at * resources_.size() + i];
  }
  const std::int64_t gangs = GangsFor(at, without_surplus);
  std::size_t level = 0;
  std::int64_t gangs_of_level = 0;
  for (; level < levels_.size(); ++level) {
    gangs_of_level = domain.has_surplus ? 0 : GangsFor(at, lacking);
    for (std::size_t i = 0; i < resources_.size(); ++i) lacking[i] -= sums_[Cell(at, level) + i];
    if (is_covered()) break;
  }
  if (level == levels_.size()) return std::nullopt;
  bound.level = levels_[level];
  Cost& cost = bound.cost;
  if (order == VictimOrder::kSafeFirst) cost.gangs = gangs;
  cost.levels.push_back({.priority = bound.level, .gangs = gangs_of_level, .surplus = 0});
  if (gangs > 0) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    const bool too_much = domain.least.lost_work > kMost / gangs;
    cost.pods = gangs * domain.least.pods;
    cost.lost_work = too_much ? kMost : gangs * domain.least.lost_work;
    cost.grace_seconds = domain.least.grace_seconds;
  }
  return bound;
}

}  // namespace strata
