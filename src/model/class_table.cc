#include "model/class_table.h"

#include <iterator>
#include <utility>

namespace strata {

ClassId ClassTable::Join(ClassSpec spec) {
  const auto [it, added] = ids_.try_emplace(std::move(spec), IdAt<ClassId>(classes_.size()));
  if (added) {
    classes_.push_back({.spec = &it->first, .tasks = 0});
    ++idle_;
    if (it->first.HasRules()) with_rules_.push_back(it->second);
  }
  if (classes_[it->second.index()].tasks++ == 0) {
    --idle_;
    if (it->first.HasRules()) ++rules_version_;
  }
  return it->second;
}

void ClassTable::Leave(ClassId id) {
  if (--classes_[id.index()].tasks > 0) return;
  ++idle_;
  if (spec(id).HasRules()) ++rules_version_;
}

std::vector<ClassId> ClassTable::DropIdle() {
  std::vector<ClassId> now(classes_.size());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    if (classes_[i].tasks == 0) continue;
    now[i] = IdAt<ClassId>(kept);
    classes_[kept++] = classes_[i];
  }
  classes_.resize(kept);
  std::erase_if(with_rules_, [&](ClassId id) { return !now[id.index()].valid(); });
  for (ClassId& id : with_rules_) id = now[id.index()];
  for (auto it = ids_.begin(); it != ids_.end();) {
    it->second = now[it->second.index()];
    it = it->second.valid() ? std::next(it) : ids_.erase(it);
  }
  idle_ = 0;
  ++epoch_;
  return now;
}

}  // namespace strata
