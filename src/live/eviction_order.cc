#include "live/eviction_order.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/plural.h"
#include "base/timestamp.h"
#include "convert/disruption.h"
#include "json/dump.h"
#include "kube/resource.h"
#include "live/bind_book.h"

namespace strata::live {
namespace {

using nlohmann::ordered_json;

// Volcano's words; the action and the claimant are behind them.
constexpr std::string_view kTargetMessage =
    "volcano: preempting to accommodate a higher priority pod";
// The same without a claimant.
constexpr std::string_view kTakenBackMessage =
    "volcano: taking back a gang that cannot be completed";
constexpr std::string_view kFor = " for ";

std::string EvictMessage(const EvictionOrder& order) {
  return "Pod is evicted, because of " + order.reason;
}

ordered_json StatusPatch(const kube::PodName& pod, ordered_json status) {
  return {{"metadata", {{"uid", pod.uid}}}, {"status", std::move(status)}};
}

ordered_json Condition(const char* type, bool is_true, const char* reason, std::string message) {
  return {{"type", type},
          {"status", is_true ? "True" : "False"},
          {"reason", reason},
          {"message", std::move(message)}};
}

std::string ConditionsPatch(const kube::PodName& pod, std::vector<ordered_json> some, Time now) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(now);
  ordered_json conditions = ordered_json::array();
  for (ordered_json& one : some) {
    one["lastTransitionTime"] = FormatTimestamp(whole);
    conditions.push_back(std::move(one));
  }
  return DumpJson(StatusPatch(pod, {{"conditions", std::move(conditions)}}));
}

kube::ObjectReference Refer(const kube::Resource& resource, const kube::PodName& object) {
  return {.kind = std::string(resource.kind),
          .api_version = kube::ApiVersion(resource),
          .ns = object.ns,
          .name = object.name,
          .uid = object.uid,
          .version = ""};
}

// "HyperNode s0 (tier 1)", "room".
std::string Place(const CycleResult::EvictionPlan& plan) {
  if (plan.hypernode.empty()) return "room";
  return fmt::format("HyperNode {} (tier {})", plan.hypernode, plan.tier);
}

// "only 2 of its 4 pods have nodes, and there is no room for the rest of the gang"
std::string WhyTakenBack(const Job& job, const CycleResult::EvictionPlan& plan) {
  return fmt::format("only {} of its {} have nodes, and there is no room for the rest of the gang",
                     plan.PodCount(),
                     Plural(static_cast<std::uint64_t>(job.counts.Total()), "pod"));
}

// "3 gangs, 24 pods in HyperNode s0 (tier 1); waits up to 30s"
std::string EvictingMessage(const ClusterState& state, const CycleResult::EvictionPlan& plan) {
  std::int32_t grace = 0;
  for (const auto& victim : plan.victims) {
    for (const TaskId task : victim.tasks) {
      grace = std::max(grace, state.workload().task(task).disruption.grace_seconds);
    }
  }
  std::string text = plan.GangCount() > 0 ? Plural(plan.GangCount(), "gang") + ", " : "";
  text += Plural(plan.PodCount(), "pod");
  if (!plan.hypernode.empty()) text += " in " + Place(plan);
  return text + fmt::format("; waits up to {}s", grace);
}

}  // namespace

kube::PodName ToPodName(const std::string& name, const std::string& uid) {
  const std::size_t slash = name.find('/');
  return {name.substr(0, slash), name.substr(slash + 1), uid};
}

EvictionOrder MakeEvictionOrder(const ClusterState& state,
                                const CycleResult::EvictionPlan& plan,
                                const GangClaim* claim) {
  const Job& job = state.workload().job(plan.claimant);
  EvictionOrder order{.job = job.spec.name,
                      .action = plan.action,
                      .reason = plan.action + ": " + job.spec.name + " ",
                      .nominations = {},
                      .victims = {},
                      .takes_back = plan.TakesBack()};
  order.reason +=
      order.takes_back ? "cannot be completed: " + WhyTakenBack(job, plan) : "needs " + Place(plan);
  if (!order.takes_back) {
    for (const GangClaim::Pod& pod : claim->pods) {
      order.nominations.push_back({ToPodName(pod.name, pod.uid), pod.node});
    }
  }
  for (const auto& victim : plan.victims) {
    for (const TaskId id : victim.tasks) {
      const Task& task = state.workload().task(id);
      order.victims.push_back({ToPodName(task.name, task.uid), victim.has_budget});
    }
  }
  return order;
}

std::vector<kube::EventNote> EventsOf(const ClusterFeed& feed,
                                      const CycleResult::EvictionPlan& plan,
                                      const EvictionOrder& order) {
  using Type = kube::EventNote::Type;
  std::vector<kube::EventNote> events;
  const auto about_group = [&](const std::string& job, const char* reason, std::string message) {
    const objects::PodGroup* group = feed.FindGroup(job);
    if (group == nullptr) return;
    events.push_back({Refer(kube::kPodGroups, ToPodName(job, group->meta.uid)),
                      Type::kNormal,
                      reason,
                      std::move(message)});
  };
  const ClusterState& state = feed.state();
  if (!order.takes_back) about_group(order.job, "Evicting", EvictingMessage(state, plan));
  for (const auto& victim : plan.victims) {
    const Job& job = state.workload().job(victim.job);
    const std::string why =
        order.takes_back
            ? "since " + WhyTakenBack(job, plan)
            : "for " + order.job + (plan.hypernode.empty() ? "" : " in " + Place(plan));
    about_group(
        job.spec.name,
        "Evict",
        fmt::format(
            "{}: {} of {} pods, {}", plan.action, victim.tasks.size(), job.counts.Total(), why));
  }
  for (const EvictionOrder::Victim& victim : order.victims) {
    events.push_back(
        {Refer(kube::kPods, victim.pod), Type::kWarning, "Evict", EvictMessage(order)});
  }
  return events;
}

std::string MarkPatch(const EvictionOrder& order, const kube::PodName& pod, Time now) {
  const bool budgeted =
      std::any_of(order.victims.begin(), order.victims.end(), [&](const auto& victim) {
        return victim.budgeted && victim.pod.uid == pod.uid;
      });
  std::vector<ordered_json> conditions;
  if (!budgeted) conditions.push_back(Condition("Ready", false, "Evict", EvictMessage(order)));
  conditions.push_back(Condition("DisruptionTarget",
                                 true,
                                 kPreemptionReason,
                                 fmt::format("{}: {}{}{}",
                                             order.takes_back ? kTakenBackMessage : kTargetMessage,
                                             order.action,
                                             kFor,
                                             order.job)));
  return ConditionsPatch(pod, std::move(conditions), now);
}

std::string UnmarkPatch(const kube::PodName& pod, Time now) {
  return ConditionsPatch(
      pod,
      {Condition("Ready", true, "", ""),
       Condition("DisruptionTarget", false, "EvictionCancelled", "nobody needs its room any more")},
      now);
}

std::string NominationPatch(const kube::PodName& pod, const std::string& node) {
  ordered_json status = {{"nominatedNodeName", nullptr}};
  if (!node.empty()) status["nominatedNodeName"] = node;
  return DumpJson(StatusPatch(pod, std::move(status)));
}

std::optional<EvictionMark> ReadMark(const objects::Pod& pod) {
  if (!IsPreempted(pod)) return std::nullopt;
  const objects::Condition* target =
      objects::FindCondition(pod.status.conditions, "DisruptionTarget");
  std::string_view text = target->message;
  const std::string_view head =
      text.starts_with(kTargetMessage) ? kTargetMessage : kTakenBackMessage;
  if (!text.starts_with(head) || !text.substr(head.size()).starts_with(": ")) return std::nullopt;
  text.remove_prefix(head.size() + 2);
  const std::size_t middle = text.find(kFor);
  if (middle == std::string_view::npos) return std::nullopt;
  return EvictionMark{std::string(text.substr(0, middle)),
                      std::string(text.substr(middle + kFor.size()))};
}

}  // namespace strata::live
