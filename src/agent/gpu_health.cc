#include "agent/gpu_health.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace strata::agent {
namespace {

constexpr int kMaxMissed = 1;  // one more, and it is unhealthy

}  // namespace

void GpuHealth::Set(const std::string& uuid, Gpu& gpu, Health health, std::string why) {
  if (gpu.health == health) return;
  changes_.push_back({.uuid = uuid, .before = gpu.health, .after = health, .why = std::move(why)});
  gpu.health = health;
}

void GpuHealth::TakeXid(const std::string& uuid, std::uint64_t xid, net::SteadyTime now) {
  if (rules_.ignored_xids.contains(xid)) return;
  if (uuid.empty()) {  // the one that is broken will not answer
    for (auto& [name, gpu] : gpus_) {
      if (gpu.health == Health::kHealthy) {
        Set(name, gpu, Health::kSuspect, fmt::format("XID {} of an unknown GPU", xid));
      }
    }
    return;
  }
  Gpu& gpu = gpus_[uuid];
  const bool lasts = gpu.error && rules_.lasting_xids.contains(gpu.error->xid);
  gpu.error = Error{.xid = lasts ? gpu.error->xid : xid, .at = now};
  Set(uuid, gpu, Health::kUnhealthy, fmt::format("XID {}", xid));
}

void GpuHealth::TakeAnswers(std::span<const std::string> uuids, net::SteadyTime now) {
  for (const std::string& uuid : uuids) gpus_[uuid];
  for (auto& [uuid, gpu] : gpus_) {
    const bool answered = std::find(uuids.begin(), uuids.end(), uuid) != uuids.end();
    gpu.missed = answered ? 0 : gpu.missed + 1;
    Judge(uuid, gpu, now);
  }
}

void GpuHealth::Judge(const std::string& uuid, Gpu& gpu, net::SteadyTime now) {
  if (gpu.missed > 0) {
    const bool first = gpu.missed <= kMaxMissed;
    if (first && gpu.health == Health::kUnhealthy) return;
    Set(uuid, gpu, first ? Health::kSuspect : Health::kUnhealthy, "it does not answer");
    return;
  }
  if (gpu.error) {
    const bool lasts = rules_.lasting_xids.contains(gpu.error->xid);
    if (lasts || now - gpu.error->at < rules_.recovery) return;
    gpu.error.reset();
  }
  Set(uuid, gpu, Health::kHealthy, "it answers again");
}

void GpuHealth::ForgetErrors() {
  for (auto& [uuid, gpu] : gpus_) gpu.error.reset();
}

Health GpuHealth::Of(const std::string& uuid) const {
  const auto it = gpus_.find(uuid);
  return it == gpus_.end() ? Health::kUnhealthy : it->second.health;
}

std::vector<HealthChange> GpuHealth::TakeChanges() {
  return std::exchange(changes_, {});
}

GpuHealth::Errors GpuHealth::errors() const {
  Errors errors;
  for (const auto& [uuid, gpu] : gpus_) {
    if (gpu.error) errors.emplace(uuid, *gpu.error);
  }
  return errors;
}

void GpuHealth::Restore(const Errors& errors) {
  for (const auto& [uuid, error] : errors) {
    Gpu& gpu = gpus_[uuid];
    gpu.error = error;
    gpu.health = Health::kUnhealthy;
  }
}

}  // namespace strata::agent
