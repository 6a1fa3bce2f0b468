#include "model/workload.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>

namespace strata {

std::int64_t SubGroupKey::FirstNumber() const {
  const std::string& text = values.front();
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? number : 0;
}

std::optional<SubGroupKey> SubGroupOf(const std::vector<SubGroupPolicy>& policies,
                                      const Labels& pod_labels) {
  for (std::size_t i = 0; i < policies.size(); ++i) {
    const SubGroupPolicy& policy = policies[i];
    if (policy.match_label_keys.empty()) continue;
    if (policy.selector && !policy.selector->Matches(pod_labels)) continue;
    SubGroupKey key{.policy = i, .values = {}};
    for (const std::string& label : policy.match_label_keys) {
      const auto it = pod_labels.find(label);
      if (it == pod_labels.end() || it->second.empty()) break;
      key.values.push_back(it->second);
    }
    if (key.values.size() == policy.match_label_keys.size()) return key;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> PolicyMissed(const std::vector<SubGroupPolicy>& policies,
                                          const Labels& pod_labels) {
  for (std::uint32_t i = 0; i < policies.size(); ++i) {
    const SubGroupPolicy& policy = policies[i];
    if (!policy.topology.present() || policy.match_label_keys.empty()) continue;
    if (!policy.selector || policy.selector->Matches(pod_labels)) return i;
  }
  return std::nullopt;
}

Disruption::Moment ToMoment(Time time) {
  using Seconds = Disruption::Moment::duration;
  constexpr std::int64_t kMax = std::numeric_limits<std::uint32_t>::max();
  const std::int64_t seconds =
      std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
  return Disruption::Moment(
      Seconds(static_cast<std::uint32_t>(std::clamp<std::int64_t>(seconds, 0, kMax))));
}

const char* ToString(JobPhase phase) {
  switch (phase) {
    case JobPhase::kPending:
      return "Pending";
    case JobPhase::kInqueue:
      return "Inqueue";
    case JobPhase::kRunning:
      return "Running";
    case JobPhase::kUnknown:
      return "Unknown";
    case JobPhase::kCompleted:
      return "Completed";
  }
  return "";
}

std::int32_t TaskCounts::Total() const {
  std::int32_t total = 0;
  for (const std::int32_t count : by_status) total += count;
  return total;
}

std::int32_t TaskCounts::Allocated() const {
  return Of(TaskStatus::kBound) + Of(TaskStatus::kBinding) + Of(TaskStatus::kRunning) +
         Of(TaskStatus::kAllocated);
}

std::int32_t TaskCounts::Ready() const {
  return Allocated() + Of(TaskStatus::kSucceeded) + pending_best_effort;
}

std::int32_t TaskCounts::Valid() const {
  return Allocated() + Of(TaskStatus::kSucceeded) + Of(TaskStatus::kPipelined) +
         Of(TaskStatus::kPending);
}

bool Job::HasTopology() const {
  return spec.topology.present() ||
         std::any_of(sub_jobs.begin(), sub_jobs.end(), [](const SubJob& sub) {
           return sub.topology.present();
         });
}

bool Job::HasHardTopology() const {
  const auto hard = [](const TopologySpec& topology) {
    return topology.mode == TopologySpec::Mode::kHard;
  };
  return hard(spec.topology) || std::any_of(sub_jobs.begin(),
                                            sub_jobs.end(),
                                            [&](const SubJob& sub) { return hard(sub.topology); });
}

}  // namespace strata
