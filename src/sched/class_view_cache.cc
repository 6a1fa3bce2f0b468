#include "sched/class_view_cache.h"

#include <utility>

namespace strata {

ClassView& ClassViewCache::Make(ClassId class_id) {
  if (class_id.index() >= views_.size()) views_.resize(state_.classes().count());
  auto& view = views_[class_id.index()];
  view = std::make_unique<ClassView>(state_, points_, class_id);
  ++made_;
  return *view;
}

bool ClassViewCache::Trim() {
  constexpr std::size_t kMaxFacts = std::size_t{1} << 24U;  // a view has one fact per node
  const std::uint64_t epoch = state_.classes().epoch();
  const bool renumbered = std::exchange(class_epoch_, epoch) != epoch;
  if (!renumbered && made_ * state_.nodes().slots() <= kMaxFacts) return false;
  Drop();
  return true;
}

void ClassViewCache::Drop() {
  views_.clear();
  made_ = 0;
}

}  // namespace strata
