#include "live/stranded_pods.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "convert/specs.h"
#include "objects/volcano_keys.h"

namespace strata::live {
namespace {

constexpr Duration kPatience = std::chrono::seconds(10);

// What pods that are made alike have in common.
std::string OwnerOf(const objects::Pod& pod) {
  for (const objects::OwnerReference& owner : pod.meta.owners) {
    if (owner.controller) return owner.uid;
  }
  return pod.meta.uid;
}

Refusal WhyGroupless(const std::string& group) {
  return {"PodGroupNotFound", fmt::format("PodGroup {} does not exist", group)};
}

// Another scheduler that looked at the pod has said so, or an API server that keeps it back.
bool SomebodyLooked(const objects::Pod& pod) {
  return objects::FindCondition(pod.status.conditions, "PodScheduled") != nullptr;
}

}  // namespace

// The usual names are served by somebody in every cluster: while that scheduler is away, nothing is
// wrong with the pod.
std::optional<Refusal> StrandedPods::WhyUnserved(const objects::Pod& pod) const {
  const std::string& name = pod.spec.scheduler_name;
  const auto& usual = objects::kUsualSchedulers;
  if (std::find(usual.begin(), usual.end(), name) != usual.end() || SomebodyLooked(pod)) {
    return std::nullopt;
  }
  return Refusal{"SchedulerNotFound",
                 fmt::format("no scheduler with the name \"{}\" has looked at this pod; this one "
                             "serves schedulerName {}",
                             name,
                             fmt::join(served_, ", "))};
}

std::vector<StrandedPods::Finding> StrandedPods::TakeNew(const ClusterFeed& feed,
                                                         net::SteadyTime now) {
  const bool due = next_due_ && now >= *next_due_;
  if (feed.stranded_version() == seen_version_ && !due) return {};
  seen_version_ = feed.stranded_version();
  next_due_.reset();
  std::vector<Finding> findings;
  std::map<std::string, Seen> pods;
  std::set<std::string> owners;
  const auto look = [&](const std::string& name, const auto& why_of) {
    const objects::Pod* pod = feed.FindPod(name);
    if (pod == nullptr) return;
    const auto known = pods_.find(pod->meta.uid);
    Seen seen = known == pods_.end() ? Seen{.since = now} : known->second;
    const bool owner_told = owners_.contains(OwnerOf(*pod));
    if (owner_told) owners.insert(OwnerOf(*pod));
    if (!seen.told && now >= seen.since + kPatience) {
      seen.told = true;
      if (std::optional<Refusal> why = why_of(*pod)) {
        const bool first = !owner_told && owners.insert(OwnerOf(*pod)).second;
        findings.push_back({name, *std::move(why), first});
      }
    }
    if (!seen.told) {
      next_due_ = std::min(next_due_.value_or(seen.since + kPatience), seen.since + kPatience);
    }
    pods.emplace(pod->meta.uid, seen);
  };
  feed.VisitStranded(
      [&](const std::string& name, const std::string& group) {
        // One that came is known to the state only after the next Settle.
        if (feed.FindGroup(group) != nullptr) return;
        look(name, [&](const objects::Pod&) { return std::optional(WhyGroupless(group)); });
      },
      [&](const std::string& name) {
        look(name, [&](const objects::Pod& pod) { return WhyUnserved(pod); });
      });
  pods_ = std::move(pods);
  owners_ = std::move(owners);
  return findings;
}

}  // namespace strata::live
