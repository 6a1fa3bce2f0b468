#include "sched/eviction/plan_proof.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/check.h"
#include "sched/eviction/gang_need.h"

namespace strata {

bool FitsWithoutEviction(Session& session, Search& search, JobId job, const Worksheet& worksheet) {
  const Session::Silence silence(session);
  Journal& journal = session.state().journal();
  const Journal::Savepoint begin = journal.Mark();
  for (const Pass pass : {Pass::kReady, Pass::kWaiting}) {
    if (pass == Pass::kWaiting && !session.state().nodes().HasReleasing()) continue;
    Worksheet copy = worksheet;
    const bool fits = search.Run(job, copy, pass).ok;
    journal.RollbackTo(begin);
    if (fits) return true;
  }
  return false;
}

std::optional<Places> PlanProof::FindPlaces() {
  ClusterState& state = session_.state();
  const Journal::Savepoint begin = state.journal().Mark();
  Worksheet worksheet = asked_.worksheet;
  if (!search_.RunBelow(domain_, asked_.job, worksheet, Pass::kWaiting).ok) return std::nullopt;
  std::map<TaskId, NodeId> node_of;
  const std::vector<TaskId> placed = state.journal().PlacedSince(begin);
  for (const TaskId task : placed) node_of.emplace(task, state.workload().task(task).node);
  const bool complete = session_.plugins().JobPipelined(state.workload().job(asked_.job));
  state.journal().RollbackTo(begin);
  if (!complete) return std::nullopt;
  Places places;
  const std::vector<TaskId> wanted =
      asked_.what == RoomRequest::For::kReplicas ? placed : NeededOf(session_, asked_.job, placed);
  for (const TaskId task : wanted) {
    places.emplace_back(task, node_of.at(task));
  }
  return places;
}

std::optional<Places> PlanProof::FindPlacesWithout(const std::vector<std::size_t>& units) {
  Journal& journal = session_.state().journal();
  const Journal::Savepoint begin = journal.Mark();
  std::optional<Places> places;
  if (Evict(units)) places = FindPlaces();
  // What is left out because the gang does not need it may have been needed beside it.
  if (places && !Pipeline(*places)) places.reset();
  journal.RollbackTo(begin);
  return places;
}

bool PlanProof::Evict(const std::vector<std::size_t>& units) {
  return std::all_of(units.begin(), units.end(), [&](std::size_t i) {
    return taker_.Take(victims_[i].unit).size() == victims_[i].unit.tasks.size();
  });
}

bool PlanProof::Pipeline(const Places& places) {
  const ClusterState& state = session_.state();
  for (const auto& [task, node] : places) {
    if (session_.plugins().Exhausted(task)) return false;
    if (!session_.views().Of(state.workload().task(task).class_id).FitsFuture(node)) return false;
    session_.Place(task, node, DevicePoint::When::kFuture, domain_);
  }
  return session_.plugins().JobPipelined(state.workload().job(asked_.job));
}

bool PlanProof::Apply(const std::vector<std::size_t>& units, const Places& places) {
  Journal& journal = session_.state().journal();
  const Journal::Savepoint begin = journal.Mark();
  if (Evict(units) && Pipeline(places)) return true;
  journal.RollbackTo(begin);
  return false;
}

bool PlanProof::MayStay(const VictimUnit& unit, const std::set<NodeId>& taken) const {
  const ClusterState& state = session_.state();
  std::map<NodeId, Resources> on_node;
  for (const TaskId id : unit.tasks) {
    const Task& task = state.workload().task(id);
    if (!taken.contains(task.node)) continue;
    on_node[task.node].AddSaturating(state.classes().spec(task.class_id).request);
  }
  return std::all_of(on_node.begin(), on_node.end(), [&](const auto& entry) {
    return entry.second.FitsIn(state.nodes().FutureIdle(entry.first));
  });
}

std::vector<std::size_t> PlanProof::WithoutUnneeded(std::vector<std::size_t> units,
                                                    const std::vector<std::size_t>& from_dearest,
                                                    const Places& places) {
  Journal& journal = session_.state().journal();
  const Journal::Savepoint begin = journal.Mark();
  std::set<NodeId> taken;
  for (const auto& [task, node] : places) taken.insert(node);
  CHECK(Apply(units, places));
  for (const std::size_t unit : from_dearest) {
    if (!MayStay(victims_[unit].unit, taken)) continue;
    std::vector<std::size_t> fewer = units;
    std::erase(fewer, unit);
    journal.RollbackTo(begin);
    if (Apply(fewer, places)) {
      units = std::move(fewer);
    } else {
      CHECK(Apply(units, places));
    }
  }
  journal.RollbackTo(begin);
  return units;
}

}  // namespace strata
