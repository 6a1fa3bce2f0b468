#include "sched/node_watch.h"

#include <algorithm>
#include <utility>

namespace strata {
namespace {

bool CountsFor(const ClassSpec& self, const PodIdentity& pod) {
  const auto& affinity = self.rules.affinity;
  const auto& spread = self.rules.spread;
  return std::any_of(affinity.begin(),
                     affinity.end(),
                     [&](const PodTerm& term) { return term.Matches(pod); }) ||
         std::any_of(spread.begin(), spread.end(), [&](const SpreadRule& rule) {
           return rule.Matches(self.identity, pod);
         });
}

}  // namespace

void NodeWatch::Close() {
  version_ = state_.nodes().NextVersion();
  epoch_ = state_.nodes().epoch();
  tree_version_ = state_.tree().version();
}

void NodeWatch::Open() {
  room_.clear();
  peers_.clear();
  changed_.clear();
  last_binds_ = std::exchange(binds_, {});
  const auto touched = state_.nodes().TouchedSince(version_);
  const std::vector<NodeId> evictions = std::exchange(evictions_, {});
  everything_ =
      !touched || epoch_ != state_.nodes().epoch() || tree_version_ != state_.tree().version();
  if (everything_) return;
  changed_.assign(touched->begin(), touched->end());
  changed_.insert(changed_.end(), evictions.begin(), evictions.end());
  std::sort(changed_.begin(), changed_.end());
  changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
}

bool NodeWatch::HasRoomFor(ClassId class_id) {
  const auto [answer, is_new] = room_.try_emplace(class_id, false);
  if (is_new) answer->second = FindRoomFor(class_id);
  return answer->second;
}

bool NodeWatch::FindRoomFor(ClassId class_id) {
  ClassView& view = views_.Of(class_id);
  return std::any_of(changed_.begin(), changed_.end(), [&](NodeId node) {
    return view.Slots(node) > 0 ||
           (view.AdmitsSpec(node) && view.spec().request.FitsIn(state_.nodes().FutureIdle(node)));
  });
}

bool NodeWatch::HasBoundPeersOf(ClassId class_id) const {
  const ClassSpec& self = state_.classes().spec(class_id);
  return std::any_of(binds_.begin(), binds_.end(), [&](ClassId other) {
    return CountsFor(self, state_.classes().spec(other).identity);
  });
}

bool NodeWatch::BringsPeersOf(ClassId class_id) {
  const auto [answer, is_new] = peers_.try_emplace(class_id, false);
  if (is_new) answer->second = FindPeersOf(class_id);
  return answer->second;
}

bool NodeWatch::FindPeersOf(ClassId class_id) {
  const ClassSpec& self = state_.classes().spec(class_id);
  const auto counts = [&](ClassId other) {
    return CountsFor(self, state_.classes().spec(other).identity);
  };
  if (std::any_of(last_binds_.begin(), last_binds_.end(), counts)) return true;
  return std::any_of(changed_.begin(), changed_.end(), [&](NodeId node) {
    const auto tasks = state_.nodes().TasksOn(node);
    return std::any_of(tasks.begin(), tasks.end(), [&](TaskId task) {
      return counts(state_.workload().task(task).class_id);
    });
  });
}

}  // namespace strata
