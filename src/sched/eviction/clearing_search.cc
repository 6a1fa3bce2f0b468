#include "sched/eviction/clearing_search.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <utility>

namespace strata {

// The combination that is being looked at. Its units are evicted in the journal.
struct ClearingSearch::Branch {
  FreedRoom now;                 // with the units of the combination gone
  FreedRoom most;                // with all units gone that are not ruled out
  std::map<TaskId, int> may_go;  // units that are not ruled out, by pod
  std::vector<std::size_t> units = {};
  std::optional<Clearing> best = {};
  const std::function<bool()>* proof = nullptr;  // null: slots are enough
  std::size_t proofs_left = 0;
  std::size_t moves = 0;
};

ClearingSearch::ClearingSearch(Session& session,
                               const UnitTaker& taker,
                               const std::vector<Victim>& victims,
                               const FreedRoom& room,
                               VictimOrder order)
    : session_(session), taker_(taker), victims_(victims), room_(room), order_(order) {}

Clearing ClearingSearch::Make(std::vector<std::size_t> units) const {
  std::sort(units.begin(), units.end());
  std::set<JobId> whole;
  for (const std::size_t i : units) {
    if (victims_[i].unit.kind == VictimUnit::Kind::kGang) whole.insert(victims_[i].unit.job);
  }
  Clearing clearing;
  for (const std::size_t i : units) {
    const VictimUnit& unit = victims_[i].unit;
    if (unit.kind == VictimUnit::Kind::kSurplus && whole.contains(unit.job)) continue;
    clearing.units.push_back(i);
    clearing.cost.Add(unit.kind, victims_[i].price, order_);
  }
  return clearing;
}

std::vector<std::size_t> ClearingSearch::FromDearest(const Clearing& clearing) const {
  std::vector<std::size_t> units(clearing.units.rbegin(), clearing.units.rend());
  std::stable_sort(units.begin(), units.end(), [&](std::size_t a, std::size_t b) {
    return CostsLess(
        victims_[b].unit.kind, victims_[b].price, victims_[a].unit.kind, victims_[a].price, order_);
  });
  return units;
}

std::optional<Clearing> ClearingSearch::Find(const Cost& least) {
  std::optional<Clearing> best = TakeInOrder(ByCost());
  if (best && best->cost <= least) return best;
  if (auto other = TakeInOrder(ByNode()); other && (!best || other->cost < best->cost)) {
    best = std::move(other);
  }
  if (victims_.size() > kExactUnits) {
    if (best || !AllTogetherSuffice()) return best;
    best = TakeNodesThatHelp();
    cut_ = cut_ || !best;
    return best;
  }
  if (best && best->cost <= least) return best;
  Branch branch{.now = room_, .most = room_, .may_go = {}, .best = std::move(best)};
  TryCombinations(branch);
  return std::move(branch.best);
}

std::optional<Clearing> ClearingSearch::FindProven(const std::function<bool()>& proof,
                                                   std::size_t max_proofs) {
  Branch branch{
      .now = room_, .most = room_, .may_go = {}, .proof = &proof, .proofs_left = max_proofs};
  TryCombinations(branch);
  return std::move(branch.best);
}

std::optional<Clearing> ClearingSearch::TakeInOrder(const std::vector<std::size_t>& order) {
  Journal& journal = session_.state().journal();
  const Journal::Savepoint begin = journal.Mark();
  FreedRoom room = room_;
  std::vector<std::size_t> taken;
  for (const std::size_t i : order) {
    if (room.Suffices()) break;
    const std::vector<TaskId> gone = taker_.Take(victims_[i].unit);
    for (const TaskId task : gone) room.Free(task);
    if (!gone.empty()) taken.push_back(i);
  }
  journal.RollbackTo(begin);
  if (!room.Suffices()) return std::nullopt;
  return WithoutUnneeded(Make(std::move(taken)));
}

std::optional<Clearing> ClearingSearch::TakeNodesThatHelp() {
  Journal& journal = session_.state().journal();
  const Journal::Savepoint begin = journal.Mark();
  FreedRoom room = room_;
  std::vector<std::size_t> taken;
  for (const OnNode& units : NodesByCost()) {
    if (room.Suffices()) break;
    const Journal::Savepoint before = journal.Mark();
    const std::uint64_t lacking = room.Lacking();
    const std::size_t taken_before = taken.size();
    std::vector<TaskId> gone;
    for (const std::size_t i : units) {
      const std::vector<TaskId> pods = taker_.Take(victims_[i].unit);
      for (const TaskId task : pods) room.Free(task);
      gone.insert(gone.end(), pods.begin(), pods.end());
      if (!pods.empty()) taken.push_back(i);
    }
    if (room.Lacking() < lacking) continue;
    for (const TaskId task : gone) room.Take(task);
    taken.resize(taken_before);
    journal.RollbackTo(before);
  }
  journal.RollbackTo(begin);
  if (!room.Suffices()) return std::nullopt;
  return WithoutUnneeded(Make(std::move(taken)));
}

bool ClearingSearch::AllTogetherSuffice() const {
  const auto suffice = [&](const auto& goes) {
    FreedRoom room = room_;
    std::set<TaskId> gone;
    for (const Victim& victim : victims_) {
      if (!goes(victim.unit)) continue;
      for (const TaskId task : victim.unit.tasks) {
        if (gone.insert(task).second) room.Free(task);
      }
    }
    return room.Suffices();
  };
  // To ask about each unit takes longer than to count its pods.
  return suffice([](const VictimUnit&) { return true; }) &&
         suffice([&](const VictimUnit& unit) { return taker_.MayGo(unit); });
}

Clearing ClearingSearch::WithoutUnneeded(Clearing clearing) const {
  FreedRoom room = room_;
  for (const std::size_t i : clearing.units) {
    for (const TaskId task : victims_[i].unit.tasks) room.Free(task);
  }
  for (const std::size_t i : FromDearest(clearing)) {
    for (const TaskId task : victims_[i].unit.tasks) room.Take(task);
    if (room.Suffices()) {
      std::erase(clearing.units, i);
    } else {
      for (const TaskId task : victims_[i].unit.tasks) room.Free(task);
    }
  }
  return Make(std::move(clearing.units));
}

std::vector<std::size_t> ClearingSearch::ByCost() const {
  std::vector<std::size_t> order(victims_.size());
  std::iota(order.begin(), order.end(), 0);
  const auto cheaper = [&](std::size_t a, std::size_t b) {
    return CostsLess(
        victims_[a].unit.kind, victims_[a].price, victims_[b].unit.kind, victims_[b].price, order_);
  };
  // They are, but for priority-first.
  if (!std::is_sorted(order.begin(), order.end(), cheaper)) {
    std::stable_sort(order.begin(), order.end(), cheaper);
  }
  return order;
}

std::vector<std::size_t> ClearingSearch::ByNode() const {
  std::vector<std::size_t> order;
  for (const OnNode& units : NodesByCost()) order.insert(order.end(), units.begin(), units.end());
  // Units that no node named, so that nothing is left out: gangs of jobs with surplus.
  const std::vector<std::size_t> rest = ByCost();
  order.insert(order.end(), rest.begin(), rest.end());
  return order;
}

std::vector<ClearingSearch::OnNode> ClearingSearch::NodesByCost() const {
  const WorkloadTable& workload = session_.state().workload();
  std::map<NodeId, std::vector<std::size_t>> on_node;  // units, surplus before gangs
  for (std::size_t i = 0; i < victims_.size(); ++i) {
    for (const TaskId task : victims_[i].unit.tasks) {
      std::vector<std::size_t>& units = on_node[workload.task(task).node];
      if (units.empty() || units.back() != i) units.push_back(i);
    }
  }
  struct Price {
    Cost cost;
    OnNode units;
  };
  std::vector<Price> nodes;
  for (const NodeId node : room_.UsefulNodes()) {
    const auto it = on_node.find(node);
    if (it == on_node.end()) continue;
    // A job gives its surplus there, and its gang only if it has none.
    std::set<JobId> gives_surplus;
    Price price;
    for (const std::size_t i : it->second) {
      const VictimUnit& unit = victims_[i].unit;
      const bool surplus = unit.kind == VictimUnit::Kind::kSurplus;
      if (surplus) gives_surplus.insert(unit.job);
      if (!surplus && gives_surplus.contains(unit.job)) continue;
      price.units.push_back(i);
      price.cost.Add(unit.kind, victims_[i].price, order_);
    }
    nodes.push_back(std::move(price));
  }
  std::stable_sort(
      nodes.begin(), nodes.end(), [](const Price& a, const Price& b) { return a.cost < b.cost; });
  std::vector<OnNode> by_cost;
  by_cost.reserve(nodes.size());
  for (Price& price : nodes) by_cost.push_back(std::move(price.units));
  return by_cost;
}

void ClearingSearch::TryCombinations(Branch& branch) {
  for (const Victim& victim : victims_) {
    for (const TaskId task : victim.unit.tasks) {
      if (++branch.may_go[task] == 1) branch.most.Free(task);
    }
  }
  TryAll(branch, 0);
}

void ClearingSearch::TryAll(Branch& branch, std::size_t next) {
  if (branch.moves > kMaxMoves) {
    cut_ = true;
    return;
  }
  Clearing here = Make(branch.units);
  if (branch.best && branch.best->cost <= here.cost) return;
  if (branch.now.Suffices()) {
    if (branch.proof != nullptr && branch.proofs_left == 0) {
      cut_ = true;
      return;
    }
    if (branch.proof != nullptr) --branch.proofs_left;
    if (branch.proof == nullptr || (*branch.proof)()) {
      branch.best = std::move(here);
      return;
    }
  }
  if (next == victims_.size() || !branch.most.Suffices()) return;
  TryWith(branch, next);
  TryWithout(branch, next);
}

void ClearingSearch::TryWith(Branch& branch, std::size_t unit) {
  const VictimUnit& the_unit = victims_[unit].unit;
  // A gang makes its own surplus pods needless: that combination comes without them.
  const bool needless = std::any_of(branch.units.begin(), branch.units.end(), [&](std::size_t i) {
    return victims_[i].unit.job == the_unit.job && the_unit.kind == VictimUnit::Kind::kGang;
  });
  if (needless) return;
  Journal& journal = session_.state().journal();
  const Journal::Savepoint begin = journal.Mark();
  const std::vector<TaskId> gone = taker_.Take(the_unit);
  if (gone.empty()) return;
  branch.moves += gone.size();
  for (const TaskId task : gone) branch.now.Free(task);
  branch.units.push_back(unit);
  TryAll(branch, unit + 1);
  branch.units.pop_back();
  for (const TaskId task : gone) branch.now.Take(task);
  journal.RollbackTo(begin);
}

void ClearingSearch::TryWithout(Branch& branch, std::size_t unit) {
  for (const TaskId task : victims_[unit].unit.tasks) {
    if (--branch.may_go[task] == 0) branch.most.Take(task);
  }
  TryAll(branch, unit + 1);
  for (const TaskId task : victims_[unit].unit.tasks) {
    if (++branch.may_go[task] == 1) branch.most.Free(task);
  }
}

}  // namespace strata
