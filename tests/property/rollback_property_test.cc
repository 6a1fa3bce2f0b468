// Random decisions on random clusters that share some of their GPUs, with savepoints to go back to.
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
                             rc::gen::build<Move>(rc::gen::set(&Move::what, Below(14)),
                                                  rc::gen::set(&Move::task, Below(30)),
                                                  rc::gen::set(&Move::node, Below(10)))));
}

// A state whose journal makes steps of every type, with what it looked like at each savepoint that
// is still valid, and a twin that hears of commits alone, as events.
class History {
 public:
  History(ClusterState& state, ClusterState& twin) : state_(state), twin_(twin) {}

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
      case 6:
        Evict(move);
        break;
      case 7:
      case 8:
        SetDomain(move);
        break;
      case 9:
        savepoints_.emplace_back(state_.journal().Mark(), DumpState(state_));
        break;
      case 10:
      case 11:
        RollBack(static_cast<std::size_t>(move.task));
        break;
      case 12:
        Commit();
        break;
      default:
        state_.journal().Hold();
        savepoints_.clear();
        break;
    }
    RC_ASSERT(RecountMistakes(state_) == "");
    if (move.task % 2 == 0) CheckPeerCounts();
  }

  // Everything that was held or undecided is taken back; what was committed is left.
  void End() {
    state_.journal().Hold();
    state_.journal().ReleaseHeld();
    RC_ASSERT(DumpState(state_) == DumpState(twin_));
  }

 private:
  // What has followed the history agrees with what is counted afresh.
  void CheckPeerCounts() {
    for (std::size_t i = 0; i < state_.classes().count(); ++i) {
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
    const std::vector<TaskId> tasks = state_.workload().AllTasks();
    if (tasks.empty() || state_.nodes().all().empty()) return;
    const TaskId task = tasks[static_cast<std::size_t>(move.task) % tasks.size()];
    const NodeId node =
        state_.nodes().all()[static_cast<std::size_t>(move.node) % state_.nodes().all().size()];
    if (state_.workload().task(task).status != TaskStatus::kPending) return;
    const Resources& request = state_.classes().spec(state_.workload().task(task).class_id).request;
    if (!request.FitsIn(now ? state_.nodes().Idle(node) : state_.nodes().FutureIdle(node))) return;
    GpuClaim gpus;  // the state believes whatever it is told
    if (move.node % 3 == 0) {
      gpus.containers = {
          {{.uuid = "GPU-" + std::to_string(move.task % 10), .memory_mib = 10, .cores = 5}}};
    }
    now ? state_.journal().Allocate(task, node, gpus) : state_.journal().Pipeline(task, node, gpus);
  }
  void Evict(const Move& move) {
    const std::vector<TaskId> tasks = state_.workload().AllTasks();
    if (tasks.empty()) return;
    const TaskId id = tasks[static_cast<std::size_t>(move.task) % tasks.size()];
    const Task& task = state_.workload().task(id);
    const bool runs = task.status == TaskStatus::kBound || task.status == TaskStatus::kRunning;
    if (runs && task.node.valid()) state_.journal().Evict(id);
  }
  void SetDomain(const Move& move) {
    if (state_.workload().jobs().empty()) return;
    const JobId id =
        state_.workload()
            .jobs()[static_cast<std::size_t>(move.task) % state_.workload().jobs().size()];
    const std::size_t sub_jobs = state_.workload().job(id).sub_jobs.size();
    const auto hypernodes = state_.tree().hypernodes();
    const std::string name =
        hypernodes[static_cast<std::size_t>(move.node) % hypernodes.size()].name;
    const std::size_t which = static_cast<std::size_t>(move.node) % (sub_jobs + 1);
    if (which == sub_jobs) {
      state_.journal().SetDomain(id, name);
    } else {
      state_.journal().SetDomain(id, which, name);
    }
  }

  // The twin, in which everything has the same id, is told what is final.
  void Commit() {
    for (const TaskId id : state_.journal().PlacedSince(0)) {
      const Task& task = state_.workload().task(id);
      if (task.status != TaskStatus::kAllocated) continue;
      twin_.workload().SetGpus(id, state_.workload().GpusOf(id));
      twin_.workload().Move(id, TaskStatus::kBinding, task.node);
      if (!task.job.valid()) continue;
      const Job& job = state_.workload().job(task.job);
      twin_.workload().SetAllocatedHyperNode(task.job, job.allocated_hypernode);
      twin_.workload().SetAllocatedHyperNode(
          task.job, task.sub_job, job.sub_jobs[task.sub_job].allocated_hypernode);
    }
    for (const Journal::Eviction& eviction : state_.journal().Commit().evicted) {
      RC_ASSERT(twin_.workload().task(eviction.task).status == eviction.was);
      RC_ASSERT(twin_.workload().task(eviction.task).node == eviction.node);
      twin_.workload().SetTaskStatus(eviction.task, TaskStatus::kReleasing);
    }
    savepoints_.clear();
  }
  void RollBack(std::size_t which) {
    if (savepoints_.empty()) return;
    const std::size_t at = which % savepoints_.size();
    state_.journal().RollbackTo(savepoints_[at].first);
    RC_ASSERT(DumpState(state_) == savepoints_[at].second);
    savepoints_.resize(at + 1);
  }

  ClusterState& state_;
  ClusterState& twin_;
  std::vector<std::pair<Journal::Savepoint, std::string>> savepoints_;
  std::map<ClassId, PeerCounts> kept_;
};

// Some nodes share their GPUs, of two sizes, and some more pods ask for shares.
void AddShares(ClusterState& state) {
  const ResourceId gpu = state.resource_names().Intern("nvidia.com/gpu");
  const std::vector<NodeId> nodes(state.nodes().all().begin(), state.nodes().all().end());
  for (const NodeId id : nodes) {
    NodeSpec spec = state.nodes().spec(id);
    if (spec.allocatable.Get(gpu) == 0 || id.index() % 3 == 0) continue;
    spec.gpus.emplace();
    for (int i = 0; i < 8; ++i) {
      Gpu& card = spec.gpus->gpus.emplace_back();
      card.uuid = "GPU-" + std::to_string(i);
      card.memory_mib = id.index() % 2 == 0 ? 80 : 30;
      card.cores = 100;
      card.healthy = i < 3;
    }
    RC_ASSERT(state.UpsertNode(std::move(spec)).has_value());
  }
  JobSpec job;
  job.name = job.uid = "test/sharing";
  job.queue = "default";
  const JobId sharing = state.workload().UpsertJob(job);
  for (int i = 0; i < 8; ++i) {
    TaskSpec task;
    task.name = task.uid = "test/sharing-" + std::to_string(i);
    task.job = sharing;
    task.constraints.request.Set(kPods, 1);
    task.constraints.request.Set(gpu, 1000);
    task.constraints.gpus.emplace();
    task.constraints.gpus->containers = {
        {.container = "main", .count = 1, .memory_mib = 10 * (1 + i % 4), .cores = 7 * (i % 3)}};
    state.workload().AddTask(std::move(task));
  }
}

TEST(RollbackProperty, LeavesNoTrace) {
  CheckProperty(600, [] {
    const World world = *AnyWorld().as("world");
    const auto state = Build(world, 1);
    const auto twin = Build(world, 1);
    AddShares(*state);
    AddShares(*twin);
    History history(*state, *twin);
    for (const Move& move : *AnyMoves().as("moves")) history.Do(move);
    history.End();
  });
}

}  // namespace
}  // namespace strata::testing
