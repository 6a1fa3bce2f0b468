#include "replay/waiting.h"

#include "base/check.h"

namespace strata::replay {

void Waiting::Add(std::uint32_t job) {
  const std::uint32_t job_class = workload_.jobs[job].job_class;
  classes_[job_class].insert(KeyOf(job));
  busy_.insert(job_class);
  ++size_;
}

void Waiting::Remove(std::uint32_t job) {
  const std::uint32_t job_class = workload_.jobs[job].job_class;
  CHECK(classes_[job_class].erase(KeyOf(job)) == 1);
  if (classes_[job_class].empty()) busy_.erase(job_class);
  --size_;
}

std::optional<std::uint32_t> Waiting::Head() const {
  std::optional<Key> best;
  for (const std::uint32_t job_class : busy_) {
    const Key& first = *classes_[job_class].begin();
    if (!best || first < *best) best = first;
  }
  return best ? std::optional(best->second) : std::nullopt;
}

std::optional<std::uint32_t> Waiting::NextToTry() const {
  std::optional<Key> best;
  for (const std::uint32_t job_class : busy_) {
    if (refused_[job_class]) continue;
    const Key& first = *classes_[job_class].begin();
    if (!best || first < *best) best = first;
  }
  return best ? std::optional(best->second) : std::nullopt;
}

}  // namespace strata::replay
