// The part of ClusterState that keeps the classes of tasks.
#include <iterator>
#include <utility>

#include "base/check.h"
#include "model/cluster_state.h"

namespace strata {

ClassId ClusterState::JoinClass(ClassSpec spec) {
  const auto [it, added] = class_ids_.try_emplace(std::move(spec), IdAt<ClassId>(classes_.size()));
  if (added) {
    classes_.push_back({.spec = &it->first, .tasks = 0});
    ++idle_classes_;
    if (it->first.HasRules()) classes_with_rules_.push_back(it->second);
  }
  if (classes_[it->second.index()].tasks++ == 0) {
    --idle_classes_;
    if (it->first.HasRules()) ++rules_version_;
  }
  return it->second;
}

void ClusterState::LeaveClass(ClassId id) {
  if (--classes_[id.index()].tasks > 0) return;
  ++idle_classes_;
  if (task_class(id).HasRules()) ++rules_version_;
}

void ClusterState::ForgetIdleClasses(std::size_t most) {
  if (idle_classes_ <= most) return;
  std::vector<ClassId> now(classes_.size());  // by what they were; invalid when idle
  std::size_t kept = 0;
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    if (classes_[i].tasks == 0) continue;
    now[i] = IdAt<ClassId>(kept);
    classes_[kept++] = classes_[i];
  }
  classes_.resize(kept);
  std::erase_if(classes_with_rules_, [&](ClassId id) { return !now[id.index()].valid(); });
  for (ClassId& id : classes_with_rules_) id = now[id.index()];
  for (auto it = class_ids_.begin(); it != class_ids_.end();) {
    it->second = now[it->second.index()];
    it = it->second.valid() ? std::next(it) : class_ids_.erase(it);
  }
  for (Task& task : tasks_) {
    if (!task.alive) continue;
    task.class_id = now[task.class_id.index()];
    CHECK(task.class_id.valid());
  }
  idle_classes_ = 0;
  ++class_epoch_;
}

}  // namespace strata
