#include "sched/trial.h"

#include <algorithm>
#include <string>
#include <tuple>

namespace strata {

Trial::Trial(Session& session,
             const PlaceRequest& request,
             const DomainShape& shape,
             ClusterIndex* kept)
    : session_(session),
      request_(request),
      shape_(shape),
      kept_(kept),
      job_(session.state().job(request.job)),
      sub_job_(job_.sub_jobs[request.sub_job]),
      chain_scores_(shape.groups.size(), 0),
      scratch_(shape.groups.size(), 0) {
  groups_.reserve(shape.groups.size());
  for (const DomainShape::Group& group : shape.groups) {
    ChainGroup chain;
    chain.chain = group.chain;
    chain.leaf = group.leaf;
    groups_.push_back(chain);
  }
  if (!sub_job_.topology.present()) return;
  if (const auto known = session_.tree().Find(sub_job_.allocated_hypernode)) Widen(*known);
  CountTasksOnLeaves();
}

PlaceOutcome Trial::Run() {
  PlaceOutcome outcome;
  ClusterState& state = session_.state();
  const ClusterState::Savepoint begin = state.Mark();
  std::set<ClassId> failed;  // tasks of one class fit everywhere or nowhere
  bool stop = shape_.nodes.empty();
  while (!stop && outcome.taken < request_.tasks.size()) {
    const TaskId task = request_.tasks[outcome.taken];
    const ClassSpec& spec = state.task_class(state.task(task).class_id);
    auto refusal = request_.ask_quota ? session_.Exhausted(job_.queue, spec.request) : std::nullopt;
    if (refusal) {
      outcome.quota = std::move(refusal);
      ++outcome.taken;
      continue;
    }
    const bool hopeless = failed.contains(state.task(task).class_id);
    const auto choice = hopeless ? std::nullopt : Choose(task);
    ++outcome.taken;
    if (choice) {
      Take(task, *choice);
      ++outcome.placed;
      stop = session_.SubJobReady(job_, sub_job_);
    } else {
      failed.insert(state.task(task).class_id);
      stop = !KeepsGoing();
    }
  }
  outcome.ok = outcome.placed > 0 && Succeeded();
  if (!outcome.ok) state.RollbackTo(begin);
  return outcome;
}

bool Trial::Succeeded() const {
  if (session_.SubJobReady(job_, sub_job_)) return true;
  return request_.pass == Pass::kWaiting && session_.SubJobPipelined(job_, sub_job_);
}

// After a task that fits nowhere: can other tasks still make up the minimum?
bool Trial::KeepsGoing() const {
  if (job_.spec.min_available == job_.counts.Total()) return false;
  return job_.spec.sub_groups.empty() || sub_job_.min_available < sub_job_.counts.Total();
}

void Trial::CountTasksOnLeaves() {
  const HyperNodeTree& tree = session_.tree();
  std::map<HyperNodeId, std::uint32_t> counts;
  for (const TaskId id : sub_job_.tasks) {
    const NodeId node = session_.state().task(id).node;
    if (node.valid()) ++counts[tree.LeafOf(tree.ChainOf(node))];
  }
  if (counts.empty()) return;
  for (ChainGroup& group : groups_) {
    const auto it = counts.find(group.leaf);
    group.tasks_on_leaf = it == counts.end() ? 0 : it->second;
  }
}

void Trial::Widen(HyperNodeId leaf) {
  const HyperNodeTree& tree = session_.tree();
  const HyperNodeId wider = tree.Lca(allocated_, leaf);
  if (wider == allocated_) return;
  allocated_ = wider;
  for (ChainGroup& group : groups_) {
    group.lca_tier = tree.at(tree.Lca(group.leaf, allocated_)).tier;
    group.same_as_allocated = group.leaf == allocated_;
  }
}

void Trial::Take(TaskId task, const Choice& choice) {
  ClusterState& state = session_.state();
  const NodeId node = shape_.nodes[choice.position];
  choice.idle ? state.Allocate(task, node) : state.Pipeline(task, node);
  changed_.push_back(choice.position);
  last_taken_ = task;
  const HyperNodeId leaf = LeafOf(node);
  if (sub_job_.topology.present()) {
    Widen(leaf);
    for (ChainGroup& group : groups_) group.tasks_on_leaf += group.leaf == leaf ? 1 : 0;
  }
  if (session_.tracing()) {
    session_.Trace(
        StepRecord{.kind = choice.idle ? StepRecord::Kind::kAllocate : StepRecord::Kind::kPipeline,
                   .job = job_.spec.name,
                   .pod = state.task(task).name,
                   .node = state.node(node).name,
                   .hypernode = session_.tree().at(request_.domain).name});
  }
}

std::vector<TaskId> Trial::TasksWithNode() const {
  std::vector<TaskId> tasks;
  for (const SubJob& sub_job : job_.sub_jobs) {
    if (sub_job.counts.Allocated() + sub_job.counts.Of(TaskStatus::kPipelined) == 0) continue;
    for (const TaskId id : sub_job.tasks) {
      const Task& task = session_.state().task(id);
      const bool holds = IsAllocated(task.status) || task.status == TaskStatus::kPipelined;
      if (holds && task.node.valid()) tasks.push_back(id);
    }
  }
  return tasks;
}

TaskId Trial::RankBefore(TaskId task) {
  const auto before = [&](TaskId a, TaskId b) { return session_.TaskBefore(a, b); };
  if (!others_) {
    others_ = TasksWithNode();
    // One task alone needs one look at the others, not their order.
    if (request_.tasks.size() > 1) std::sort(others_->begin(), others_->end(), before);
  }
  if (request_.tasks.size() == 1) {
    std::erase_if(*others_, [&](TaskId other) { return !before(other, task); });
    const auto last = std::max_element(others_->begin(), others_->end(), before);
    return last == others_->end() ? TaskId{} : *last;
  }
  while (others_before_ < others_->size() && before((*others_)[others_before_], task)) {
    ++others_before_;
  }
  if (others_before_ == 0) return last_taken_;
  const TaskId other = (*others_)[others_before_ - 1];
  return last_taken_.valid() && before(other, last_taken_) ? last_taken_ : other;
}

std::optional<Trial::Choice> Trial::Choose(TaskId task) {
  const TaskId rank_before = RankBefore(task);
  previous_leaf_ =
      rank_before.valid() ? LeafOf(session_.state().task(rank_before).node) : HyperNodeId{};
  ClassView& view = session_.View(session_.state().task(task).class_id);
  if (session_.tracing() || !view.IsUniform()) return ChooseBySweep(task);
  if (auto choice = ChooseByIndex(task)) return choice;
  return request_.pass == Pass::kWaiting ? ChooseBySweep(task) : std::nullopt;
}

bool Trial::Better(Score score,
                   std::size_t position,
                   Score best_score,
                   std::size_t best_position) const {
  if (score != best_score) return score > best_score;
  const HyperNodeTree& tree = session_.tree();
  const NodeId node = shape_.nodes[position];
  const NodeId best = shape_.nodes[best_position];
  const bool near = previous_leaf_.valid() && LeafOf(node) == previous_leaf_;
  const bool best_near = previous_leaf_.valid() && LeafOf(best) == previous_leaf_;
  if (near != best_near) return near;
  return tree.NameRank(node) < tree.NameRank(best);
}

void Trial::ScoreChains(TaskId task) {
  const ClusterState& state = session_.state();
  const Placement placement{.job = &job_,
                            .sub_job = &sub_job_,
                            .spec = &state.task_class(state.task(task).class_id),
                            .allocated = allocated_};
  std::fill(chain_scores_.begin(), chain_scores_.end(), 0);
  for (const auto& chains : session_.points().chains) {
    chains.point->ScoreChains(state, placement, groups_, scratch_);
    for (std::size_t g = 0; g < groups_.size(); ++g) chain_scores_[g] += scratch_[g];
  }
}

DomainIndex& Trial::IndexOf(ClassId class_id) {
  if (kept_ != nullptr) return kept_->For(class_id);
  Indexed& entry = indexes_[class_id];
  if (!entry.index) {
    entry.index = std::make_unique<DomainIndex>(shape_, session_.View(class_id));
  } else {
    for (; entry.seen < changed_.size(); ++entry.seen) {
      entry.index->Refresh(shape_, changed_[entry.seen]);
    }
  }
  entry.seen = changed_.size();
  return *entry.index;
}

std::optional<Trial::Choice> Trial::ChooseByIndex(TaskId task) {
  DomainIndex& index = IndexOf(session_.state().task(task).class_id);
  bool any = false;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    groups_[g].feasible = index.Feasible(g);
    any = any || groups_[g].feasible > 0;
  }
  if (!any) return std::nullopt;
  ScoreChains(task);
  std::optional<std::size_t> best;
  Score best_score = kNoScore;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].feasible == 0) continue;
    const std::size_t position = index.BestOf(g);
    const Score score = index.ScoreAt(position) + chain_scores_[g];
    if (!best || Better(score, position, best_score, *best)) {
      best = position;
      best_score = score;
    }
  }
  return Choice{.position = *best, .idle = true};
}

}  // namespace strata
