#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/cluster_state.h"

namespace strata {

// The tasks of one job in buckets: those that should share a node, by the affinity of their roles.
//
// Tasks whose role is in no group of the job's RoleAffinity are in no bucket. Tasks that have a
// node make one bucket per node. The others join, in order (the roles as RoleAffinity::order says,
// then by what is said of them, then by rank), the bucket with the most tasks they want to be with
// less those they do not; of equal ones the one that asks for least, then the oldest. If every
// bucket has more of the latter, they open a new one.
class TaskBuckets {
 public:
  struct Bucket {
    std::vector<TaskId> tasks;           // in the order they joined
    std::map<std::uint32_t, int> roles;  // how many of each role
    std::size_t pending = 0;             // without a node
    double request = 0;                  // of those: milli-CPU + MiB + amounts of the rest
  };

  // COST: O(tasks x buckets). REQUIRES: the job has a RoleAffinity.
  TaskBuckets(const ClusterState& state, const Job& job);

  // None for tasks in no bucket, and for tasks that were not there.
  [[nodiscard]] std::optional<std::size_t> BucketOf(const Task& task) const;
  [[nodiscard]] const std::vector<Bucket>& buckets() const { return buckets_; }
  // Tasks in the largest one; 0 when there is none.
  [[nodiscard]] std::size_t largest() const { return largest_; }
  // Negative when `a` is to be placed first: tasks in buckets, those of larger ones (by tasks
  // without a node, at the beginning), of older ones, and in a bucket by role.
  [[nodiscard]] int Compare(const Task& a, const Task& b) const;
  // True when tasks of these roles do not want to share a node.
  [[nodiscard]] bool AreApart(std::uint32_t role, std::uint32_t other) const {
    return apart_.contains(std::minmax(role, other));
  }

 private:
  using Pairs = std::set<std::pair<std::uint32_t, std::uint32_t>>;
  // How early tasks of a role come: by its place in RoleAffinity::order, then by what kind of rule
  // there is about it; higher is earlier.
  struct Rank {
    std::size_t order = 0;
    int rule = 0;

    auto operator<=>(const Rank&) const = default;
  };

  using Groups = std::vector<std::vector<std::string>>;
  // The weight of what is said of roles that are alone in their group, and of those that are not.
  struct Weights {
    int alone = 0;
    int several = 0;
  };

  void AddRules(const Job& job, const Groups& groups, Weights weights);
  static void AddPairs(const Job& job, const Groups& groups, Pairs& pairs);
  [[nodiscard]] std::vector<TaskId> TasksInOrder(const ClusterState& state, const Job& job) const;
  [[nodiscard]] int LikingOf(std::uint32_t role, const Bucket& bucket) const;
  [[nodiscard]] std::size_t ChooseFor(std::uint32_t role);
  void Add(const ClusterState& state, TaskId id, std::size_t bucket);

  std::map<std::uint32_t, Rank> ranks_;  // by role, of the roles that have rules
  Pairs together_, apart_;               // lower role first
  std::vector<Bucket> buckets_;
  std::map<std::string, std::size_t, std::less<>> bucket_of_;  // by the task's name
  std::size_t largest_ = 0;
};

}  // namespace strata
