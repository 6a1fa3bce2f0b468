#include "model/class_table.h"

#include <iterator>
#include <utility>

namespace strata {

ClassId ClassTable::Join(ClassSpec spec) {
  const auto [it, added] = ids_.try_emplace(std::move(spec), IdAt<ClassId>(classes_.size()));
  if (added) {
    classes_.push_back({.spec = &it->first, .tasks = 0, .counted = nullptr});
    ++idle_;
    if (it->first.HasRules()) with_rules_.push_back(it->second);
    if (it->first.gpus && it->first.gpus->CountsApart()) {
      with_shares_.push_back(it->second);
      classes_.back().counted = std::make_unique<Resources>(it->first.request);
    }
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

const Resources& ClassTable::CountedOf(const ClassSpec& spec) const {
  if (!spec.gpus || !spec.gpus->CountsApart()) return spec.request;
  const auto it = ids_.find(spec);
  return it == ids_.end() ? spec.request : counted(it->second);
}

void ClassTable::SetCounted(ClassId id, Resources counted) {
  *classes_[id.index()].counted = std::move(counted);
}

std::vector<ClassId> ClassTable::DropIdle() {
  std::vector<ClassId> now(classes_.size());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    if (classes_[i].tasks == 0) continue;
    now[i] = IdAt<ClassId>(kept);
    classes_[kept++] = std::move(classes_[i]);
  }
  classes_.resize(kept);
  for (std::vector<ClassId>* list : {&with_rules_, &with_shares_}) {
    std::erase_if(*list, [&](ClassId id) { return !now[id.index()].valid(); });
    for (ClassId& id : *list) id = now[id.index()];
  }
  for (auto it = ids_.begin(); it != ids_.end();) {
    it->second = now[it->second.index()];
    it = it->second.valid() ? std::next(it) : ids_.erase(it);
  }
  idle_ = 0;
  ++epoch_;
  return now;
}

}  // namespace strata
