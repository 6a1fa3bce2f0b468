#include "defrag/board.h"

#include <cstdint>
#include <limits>
#include <utility>

#include "base/check.h"

namespace strata {

Result<std::unique_ptr<Board>> Board::Make(ClusterState& state,
                                           const SchedulerConfig& config,
                                           Time now) {
  TRY_ASSIGN(Scheduler::Made made, Scheduler::Make(config, state));
  made.scheduler->ExplainOnly("");
  // What found no place is tried again only when something that it needs has changed.
  made.scheduler->LimitWork(std::numeric_limits<std::uint64_t>::max());
  std::unique_ptr<Board> board(new Board(state, std::move(made.scheduler), now));
  board->scheduler_->Open(now, nullptr);
  board->staying_ = board->scheduler_->JobsThatStay();
  static_cast<void>(board->scheduler_->Close());
  return board;
}

void Board::Remember(TaskId id) {
  const Task& task = state_.workload().task(id);
  log_.push_back({id, task.status, task.node, state_.workload().GpusOf(id)});
}

void Board::RollbackTo(Mark mark) {
  while (log_.size() > mark) {
    Former& former = log_.back();
    state_.workload().Move(former.task, former.status, former.node);
    if (!former.gpus.empty()) state_.workload().SetGpus(former.task, std::move(former.gpus));
    log_.pop_back();
  }
}

void Board::TakeOff(std::span<const TaskId> tasks) {
  for (const TaskId task : tasks) {
    Remember(task);
    state_.workload().Move(task, TaskStatus::kSucceeded, NodeId{});
  }
}

void Board::Recreate(std::span<const TaskId> tasks) {
  for (const TaskId task : tasks) {
    Remember(task);
    state_.workload().Move(task, TaskStatus::kPending, NodeId{});
  }
}

void Board::RunCycle() {
  scheduler_->Open(now_, nullptr);
  scheduler_->RunActions();
  const CycleResult result = scheduler_->Close();
  for (const CycleResult::Bind& bind : result.binds) {
    log_.push_back({bind.task, TaskStatus::kPending, NodeId{}, GpuClaim{}});
    state_.workload().SetTaskStatus(bind.task, TaskStatus::kRunning);
  }
}

void Board::SetUnschedulable(NodeId id, bool unschedulable) {
  NodeSpec spec = state_.nodes().spec(id);
  spec.unschedulable = unschedulable;
  // Only amounts can be refused, and those are as they were.
  CHECK(state_.UpsertNode(std::move(spec)).has_value());
}

void Board::Cordon(std::span<const NodeId> nodes) {
  for (const NodeId node : nodes) {
    if (state_.nodes().spec(node).unschedulable) continue;
    SetUnschedulable(node, true);
    cordoned_.push_back(node);
  }
}

void Board::UncordonAll() {
  for (const NodeId node : cordoned_) SetUnschedulable(node, false);
  cordoned_.clear();
}

std::vector<NodeId> Board::NodesOf(std::span<const TaskId> tasks) const {
  std::vector<NodeId> nodes;
  for (const TaskId task : tasks) {
    const NodeId node = state_.workload().task(task).node;
    if (node.valid()) nodes.push_back(node);
  }
  return nodes;
}

}  // namespace strata
