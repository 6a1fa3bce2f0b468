#include "sched/plugins/task_buckets.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <tuple>

namespace strata {
namespace {

// What is said of a role, the weightiest last.
constexpr int kApartFromOthers = 1;
constexpr int kWithItself = 2;
constexpr int kWithOthers = 3;
constexpr int kApartFromItself = 4;

// None when no task of the job has the role.
std::optional<std::uint32_t> RoleNamed(const Job& job, std::string_view name) {
  const auto it = std::find_if(
      job.roles.begin(), job.roles.end(), [&](const Role& role) { return role.name == name; });
  if (it == job.roles.end()) return std::nullopt;
  return static_cast<std::uint32_t>(it - job.roles.begin());
}

double Weigh(const Resources& request) {
  constexpr double kMiB = 1 << 20U;
  double sum = 0;
  for (std::size_t i = 0; i < request.size(); ++i) {
    const auto amount = static_cast<double>(request.amounts()[i]);
    sum += IdAt<ResourceId>(i) == kMemory ? amount / kMiB : amount;
  }
  return sum;
}

}  // namespace

TaskBuckets::TaskBuckets(const ClusterState& state, const Job& job) {
  const RoleAffinity& affinity = job.spec.role_affinity;
  AddRules(job, affinity.together, {.alone = kWithItself, .several = kWithOthers});
  AddRules(job, affinity.apart, {.alone = kApartFromItself, .several = kApartFromOthers});
  AddPairs(job, affinity.together, together_);
  AddPairs(job, affinity.apart, apart_);
  for (std::size_t i = 0; i < affinity.order.size(); ++i) {
    const auto role = RoleNamed(job, affinity.order[i]);
    const auto ranked = role ? ranks_.find(*role) : ranks_.end();
    if (ranked != ranks_.end()) ranked->second.order = affinity.order.size() - i;
  }
  std::map<NodeId, std::size_t> bucket_of_node;
  for (const TaskId id : TasksInOrder(state, job)) {
    const Task& task = state.workload().task(id);
    if (!task.node.valid()) {
      Add(state, id, ChooseFor(task.role));
      continue;
    }
    const auto [it, is_new] = bucket_of_node.try_emplace(task.node, buckets_.size());
    if (is_new) buckets_.emplace_back();
    Add(state, id, it->second);
  }
}

void TaskBuckets::AddRules(const Job& job, const Groups& groups, Weights weights) {
  for (const auto& group : groups) {
    for (const std::string& name : group) {
      const auto role = RoleNamed(job, name);
      if (!role) continue;
      Rank& rank = ranks_[*role];
      rank.rule = std::max(rank.rule, group.size() == 1 ? weights.alone : weights.several);
    }
  }
}

void TaskBuckets::AddPairs(const Job& job, const Groups& groups, Pairs& pairs) {
  for (const auto& group : groups) {
    for (std::size_t i = 0; i < group.size(); ++i) {
      const auto a = RoleNamed(job, group[i]);
      const std::size_t first_other = group.size() == 1 ? i : i + 1;
      for (std::size_t j = first_other; a && j < group.size(); ++j) {
        if (const auto b = RoleNamed(job, group[j])) pairs.insert(std::minmax(*a, *b));
      }
    }
  }
}

std::vector<TaskId> TaskBuckets::TasksInOrder(const ClusterState& state, const Job& job) const {
  std::vector<TaskId> tasks;
  for (const SubJob& sub_job : job.sub_jobs) {
    for (const TaskId id : sub_job.tasks) {
      if (ranks_.contains(state.workload().task(id).role)) tasks.push_back(id);
    }
  }
  const auto key = [&](const Task& task) {
    const bool placed = task.node.valid();
    return std::tuple(
        placed ? 0 : 1,
        placed ? std::string_view(state.nodes().spec(task.node).name) : std::string_view(),
        std::string_view(task.name));
  };
  std::sort(tasks.begin(), tasks.end(), [&](TaskId left, TaskId right) {
    const Task& a = state.workload().task(left);
    const Task& b = state.workload().task(right);
    if (!a.node.valid() && !b.node.valid()) {
      const Rank& rank = ranks_.at(a.role);
      const Rank& other = ranks_.at(b.role);
      if (rank != other) return rank > other;
      if (a.index != b.index) return a.index < b.index;
    }
    return key(a) < key(b);
  });
  return tasks;
}

int TaskBuckets::LikingOf(std::uint32_t role, const Bucket& bucket) const {
  int liking = 0;
  for (const auto& [other, count] : bucket.roles) {
    const std::pair<std::uint32_t, std::uint32_t> pair = std::minmax(role, other);
    if (together_.contains(pair)) liking += count;
    if (apart_.contains(pair)) liking -= count;
  }
  return liking;
}

std::size_t TaskBuckets::ChooseFor(std::uint32_t role) {
  std::size_t best = buckets_.size();
  int max = std::numeric_limits<int>::min();
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    const int liking = LikingOf(role, buckets_[i]);
    const bool lighter = best < buckets_.size() && buckets_[i].request < buckets_[best].request;
    if (liking < max || (liking == max && !lighter)) continue;
    max = liking;
    best = i;
  }
  if (best < buckets_.size() && max >= 0) return best;
  buckets_.emplace_back();
  return buckets_.size() - 1;
}

void TaskBuckets::Add(const ClusterState& state, TaskId id, std::size_t bucket) {
  const Task& task = state.workload().task(id);
  Bucket& into = buckets_[bucket];
  into.tasks.push_back(id);
  ++into.roles[task.role];
  if (!task.node.valid()) {
    ++into.pending;
    into.request += Weigh(state.classes().spec(task.class_id).request);
  }
  bucket_of_.emplace(task.name, bucket);
  largest_ = std::max(largest_, into.tasks.size());
}

std::optional<std::size_t> TaskBuckets::BucketOf(const Task& task) const {
  const auto it = bucket_of_.find(task.name);
  return it == bucket_of_.end() ? std::nullopt : std::optional(it->second);
}

int TaskBuckets::Compare(const Task& a, const Task& b) const {
  const auto left = BucketOf(a);
  const auto right = BucketOf(b);
  if (!left || !right) {
    return static_cast<int>(right.has_value()) - static_cast<int>(left.has_value());
  }
  if (*left != *right) {
    const std::size_t more = buckets_[*left].pending;
    const std::size_t less = buckets_[*right].pending;
    if (more != less) return more > less ? -1 : 1;
    return *left < *right ? -1 : 1;
  }
  const Rank& rank = ranks_.at(a.role);
  const Rank& other = ranks_.at(b.role);
  if (rank == other) return 0;
  return rank > other ? -1 : 1;
}

}  // namespace strata
