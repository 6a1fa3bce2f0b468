#include "defrag/room_search.h"

#include <algorithm>
#include <utility>

#include "sched/eviction/spare_pods.h"

namespace strata {
namespace {

// How often a mover that finds no place is left out, for one set of nodes.
constexpr int kMaxTries = 16;

}  // namespace

std::vector<TopologyReport::TierFit> LargestFits(const ClusterState& state,
                                                 const objects::ResourceList& shape) {
  const auto counted = CountPodsThatFit(state, shape);
  return counted ? BestOfTiers(state.tree(), *counted) : std::vector<TopologyReport::TierFit>{};
}

bool RoomSearch::Started() const {
  return HasMinimums(board_.state().workload().job(job_));
}

std::optional<std::vector<NodeId>> RoomSearch::NodesWithout(std::span<const Mover> movers) {
  const Board::Mark mark = board_.Here();
  for (const Mover& mover : movers) board_.TakeOff(mover.tasks);
  board_.RunCycle();
  std::optional<std::vector<NodeId>> nodes;
  if (Started()) nodes = movers_.NodesOf(job_);
  board_.RollbackTo(mark);
  return nodes;
}

std::vector<Mover> RoomSearch::WithoutUnneeded(std::vector<Mover> leaving) {
  for (std::size_t left = leaving.size(); left > 0; --left) {
    std::vector<Mover> fewer = leaving;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(left - 1));
    if (NodesWithout(fewer)) leaving = std::move(fewer);
  }
  return leaving;
}

std::optional<RoomSearch::Choice> RoomSearch::Choose(const std::vector<Mover>& movers) {
  for (std::size_t count = 1;; count *= 2) {
    count = std::min(count, movers.size());
    const std::span<const Mover> some = std::span(movers).first(count);
    if (NodesWithout(some)) {
      Choice choice;
      choice.leaving = WithoutUnneeded({some.begin(), some.end()});
      choice.nodes = NodesWithout(choice.leaving).value();
      return choice;
    }
    if (count == movers.size()) return std::nullopt;
  }
}

std::optional<MadeRoom> RoomSearch::CarryOut(const Choice& choice, std::vector<Mover>& stuck) {
  const Board::Mark mark = board_.Here();
  board_.Cordon(choice.nodes);
  MadeRoom room;
  room.nodes = choice.nodes;
  std::vector<Mover> largest_first = choice.leaving;
  std::stable_sort(largest_first.begin(), largest_first.end(), [](const auto& a, const auto& b) {
    return a.tasks.size() > b.tasks.size();
  });
  stuck = movers_.MoveAll(
      largest_first, [this] { return Started(); }, room.moves);
  board_.UncordonAll();
  room.fits = LargestFits(board_.state(), shape_);
  if (stuck.empty()) board_.RunCycle();
  const bool started = stuck.empty() && Started();
  if (started) room.target = {movers_.PlaceOf(job_)};
  board_.RollbackTo(mark);
  if (!started) return std::nullopt;
  for (const Mover& mover : choice.leaving) room.cost.Add(mover);
  return room;
}

std::optional<MadeRoom> RoomSearch::Find(std::span<const NodeId> nodes) {
  std::vector<Mover> movers = movers_.On(nodes);
  for (int i = 0; i < kMaxTries && !movers.empty(); ++i) {
    const auto choice = Choose(movers);
    if (!choice) return std::nullopt;
    std::vector<Mover> stuck;
    if (auto room = CarryOut(*choice, stuck)) return room;
    if (stuck.empty()) return std::nullopt;  // a job that moved takes its room
    std::erase_if(movers, [&](const Mover& mover) {
      return std::any_of(
          stuck.begin(), stuck.end(), [&](const Mover& one) { return one.job == mover.job; });
    });
  }
  return std::nullopt;
}

}  // namespace strata
