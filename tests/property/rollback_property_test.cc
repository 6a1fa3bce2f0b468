// Random decisions on random clusters, with savepoints to go back to.
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "sched/peer_counts.h"
#include "tests/property/world.h"
#include "tests/support/property.h"
#include "tests/support/recount.h"
#include "tests/support/state_dump.h"

namespace strata::testing {
namespace {

// What is done, and with which task and node (or to which savepoint).
struct Move {
  int what = 0, task = 0, node = 0;
};

void showValue(const Move& move, std::ostream& os) {  // NOLINT(readability-identifier-naming)
  os << '{' << move.what << ',' << move.task << ',' << move.node << '}';
}

rc::Gen<std::vector<Move>> AnyMoves() {
  return rc::gen::resize(25,
                         rc::gen::container<std::vector<Move>>(
                             rc::gen::build<Move>(rc::gen::set(&Move::what, Below(8)),
                                                  rc::gen::set(&Move::task, Below(30)),
                                                  rc::gen::set(&Move::node, Below(10)))));
}

// A state, and what it looked like at each savepoint that is still good.
class History {
 public:
  explicit History(ClusterState& state) : state_(state), before_hold_(DumpState(state)) {}

  void Do(const Move& move) {
    switch (move.what) {
      case 0:
      case 1:
      case 2:
        Place(move, /*now=*/true);
        break;
      case 3:
      case 4:
        Place(move, /*now=*/false);
        break;
      case 5:
        savepoints_.emplace_back(state_.Mark(), DumpState(state_));
        break;
      case 6:
        RollBack(static_cast<std::size_t>(move.task));
        break;
      default:
        state_.Hold();
        savepoints_.clear();
        break;
    }
    RC_ASSERT(RecountMistakes(state_) == "");
    if (move.task % 2 == 0) CheckPeerCounts();
  }

  // Everything that was held or undecided is given back.
  void End() {
    state_.Hold();
    state_.ReleaseHeld();
    RC_ASSERT(DumpState(state_) == before_hold_);
  }

 private:
  // What has followed the history agrees with what is counted afresh.
  void CheckPeerCounts() {
    for (std::size_t i = 0; i < state_.class_count(); ++i) {
      const auto id = IdAt<ClassId>(i);
      PeerCounts fresh(state_, id);
      PeerCounts& kept = kept_.try_emplace(id, state_, id).first->second;
      RC_ASSERT(kept.Concerned() == fresh.Concerned());
      kept.Refresh();
      fresh.Refresh();
      RC_ASSERT(Text(kept) == Text(fresh));
    }
  }

  static std::string Text(const PeerCounts& counts) {
    std::ostringstream text;
    const auto write = [&](const Tally& tally) {
      text << "total " << tally.total << " on nodes";
      for (const std::int64_t count : tally.on_node) text << ' ' << count;
      text << " in domains";
      for (const std::int64_t count : tally.in_domain) text << ' ' << count;
      text << '\n';
    };
    for (const auto tallies :
         {counts.affinity(), counts.anti_affinity(), counts.repulsion(), counts.attraction()}) {
      for (const Tally& tally : tallies) write(tally);
    }
    for (const SpreadTally& tally : counts.spread()) {
      write(tally);
      text << "least " << tally.least << " of " << tally.domains_in_use << '\n';
    }
    return text.str();
  }

  void Place(const Move& move, bool now) {
    const std::vector<TaskId> tasks = state_.AllTasks();
    if (tasks.empty() || state_.nodes().empty()) return;
    const TaskId task = tasks[static_cast<std::size_t>(move.task) % tasks.size()];
    const NodeId node = state_.nodes()[static_cast<std::size_t>(move.node) % state_.nodes().size()];
    if (state_.task(task).status != TaskStatus::kPending) return;
    const Resources& request = state_.task_class(state_.task(task).class_id).request;
    if (!request.FitsIn(now ? state_.Idle(node) : state_.FutureIdle(node))) return;
    GpuClaim gpus;  // the state believes whatever it is told
    if (move.node % 3 == 0) {
      gpus.containers = {
          {{.uuid = "GPU-" + std::to_string(move.task), .memory_mib = 10, .cores = 5}}};
    }
    now ? state_.Allocate(task, node, gpus) : state_.Pipeline(task, node, gpus);
  }
  void RollBack(std::size_t which) {
    if (savepoints_.empty()) return;
    const std::size_t at = which % savepoints_.size();
    state_.RollbackTo(savepoints_[at].first);
    RC_ASSERT(DumpState(state_) == savepoints_[at].second);
    savepoints_.resize(at + 1);
  }

  ClusterState& state_;
  std::vector<std::pair<ClusterState::Savepoint, std::string>> savepoints_;
  std::string before_hold_;
  std::map<ClassId, PeerCounts> kept_;
};

TEST(RollbackProperty, LeavesNoTrace) {
  CheckProperty(600, [] {
    const auto state = Build(*AnyWorld().as("world"), 1);
    History history(*state);
    for (const Move& move : *AnyMoves().as("moves")) history.Do(move);
    history.End();
  });
}

}  // namespace
}  // namespace strata::testing
