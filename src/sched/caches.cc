#include "sched/caches.h"

#include <algorithm>

namespace strata {

Caches::Caches(ClusterState& state, const PluginSet& plugins)
    : state_(state),
      topologies_(state, plugins),
      views_(state, plugins.points().nodes),
      cluster_index_(state, views_) {}

void Caches::ForgetIdleClasses() {
  constexpr std::size_t kMinIdleClasses = 256;  // of jobs that come again and again
  state_.workload().ForgetIdleClasses(std::max(kMinIdleClasses, state_.classes().count() / 2));
  Trim();
}

void Caches::Trim() {
  if (views_.Trim()) DropBuiltOnViews();
}

void Caches::FollowScores(std::uint64_t version) {
  if (scores_version_ == version) return;
  scores_version_ = version;
  views_.Drop();
  DropBuiltOnViews();
}

void Caches::DropBuiltOnViews() {
  cluster_index_.DropViews();
  domain_kinds_.clear();
}

DomainKinds& Caches::KindsFor(const std::vector<ClassId>& classes) {
  return domain_kinds_.try_emplace(classes, state_, views_, classes).first->second;
}

void Caches::TrimKinds() {
  constexpr std::size_t kMaxSets = 64;  // sets of classes of one busy cycle
  if (domain_kinds_.size() >= kMaxSets) domain_kinds_.clear();
}

}  // namespace strata
