#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/ids.h"
#include "model/workload.h"

namespace strata {

// The classes of tasks: every ClassSpec that a task has, once.
//
// Contract: a class is added with its first task and is kept after the last one is gone, since what
// readers remember about it serves the next. Within an epoch an id always means the same spec, and
// ids are dense. WorkloadTable::ForgetIdleClasses drops classes without a task; then ids are
// renumbered and epoch() moves.
//
// Only WorkloadTable changes it.
class ClassTable {
 public:
  [[nodiscard]] const ClassSpec& spec(ClassId id) const { return *classes_[id.index()].spec; }
  // What a task of the class counts as, as long as it has no node: its request, but for shares of
  // GPUs and for GPUs of Volcano's dialect (GpuRequest::CountsApart), below "shares" for both.
  [[nodiscard]] const Resources& counted(ClassId id) const {
    const Class& one = classes_[id.index()];
    return one.counted ? *one.counted : one.spec->request;
  }
  // The same for a spec; its request when no class has it. COST: a lookup where it takes shares.
  [[nodiscard]] const Resources& CountedOf(const ClassSpec& spec) const;
  [[nodiscard]] bool TakesShares(ClassId id) const {
    return classes_[id.index()].counted != nullptr;
  }
  // The classes that take shares of GPUs, in the order they were added.
  [[nodiscard]] std::span<const ClassId> with_shares() const { return with_shares_; }
  [[nodiscard]] std::size_t count() const { return classes_.size(); }
  [[nodiscard]] std::size_t idle_count() const { return idle_; }  // classes without a task
  [[nodiscard]] bool HasTasks(ClassId id) const { return classes_[id.index()].tasks > 0; }
  [[nodiscard]] std::uint64_t epoch() const { return epoch_; }
  // Classes with rules about other pods, in the order they were added; within an epoch the list
  // only grows.
  [[nodiscard]] std::span<const ClassId> with_rules() const { return with_rules_; }
  // Another number when one of them got its first task, or lost its last.
  [[nodiscard]] std::uint64_t rules_version() const { return rules_version_; }

  // ---- changes
  // The class with this spec, which has one task more now; and one task less.
  ClassId Join(ClassSpec spec);
  void Leave(ClassId id);
  // A task of the class counts as this. REQUIRES: the class takes shares of GPUs.
  void SetCounted(ClassId id, Resources counted);
  // Drops the classes without a task and begins an epoch. The new ids by the old ones; none for a
  // class that was dropped. COST: O(classes).
  std::vector<ClassId> DropIdle();

 private:
  struct Class {
    const ClassSpec* spec = nullptr;  // in ids_, whose elements never move
    std::size_t tasks = 0;
    std::unique_ptr<Resources> counted = nullptr;  // none: the request
  };

  std::map<ClassSpec, ClassId> ids_;
  std::vector<Class> classes_;
  std::vector<ClassId> with_rules_;
  std::vector<ClassId> with_shares_;
  std::uint64_t rules_version_ = 1;
  std::size_t idle_ = 0;
  std::uint64_t epoch_ = 1;
};

}  // namespace strata
