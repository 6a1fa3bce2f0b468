#include "live/status_writer.h"

#include <chrono>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/timestamp.h"
#include "convert/amounts.h"

namespace strata::live {
namespace {

using nlohmann::ordered_json;

std::string Dump(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

kube::ObjectReference Refer(const objects::Metadata& meta, const kube::Resource& resource) {
  return {.kind = std::string(resource.kind),
          .api_version = kube::ApiVersion(resource),
          .space = meta.ns,
          .name = meta.name,
          .uid = meta.uid,
          .version = ""};
}

// Not the pods' own trouble: there are not all of them yet, or they hold themselves back.
bool ConcernsPods(const Refusal& verdict) {
  return verdict.reason != "NotEnoughTasks" && verdict.reason != "NotEnoughPodsOfTask" &&
         verdict.reason != "SchedulingGated";
}

const objects::Condition* True(const GroupStatus& status, const char* type) {
  const objects::Condition* condition = objects::FindCondition(status.conditions, type);
  return condition != nullptr && condition->status == "True" ? condition : nullptr;
}

}  // namespace

StatusWriter::StatusWriter(CallQueue& calls,
                           kube::EventRecorder& events,
                           std::shared_ptr<Mailbox> mailbox,
                           const Clock& clock)
    : calls_(calls), events_(events), mailbox_(std::move(mailbox)), clock_(clock) {}

void StatusWriter::Write(const ClusterFeed& feed,
                         const CycleResult& cycle,
                         std::uint64_t cycle_number) {
  const Moment moment{clock_.Now(), std::to_string(cycle_number)};
  for (const JobId id : feed.state().jobs()) {
    const auto verdict = cycle.verdicts.find(id);
    WriteGroup(feed, id, verdict == cycle.verdicts.end() ? nullptr : &verdict->second, moment);
  }
  std::erase_if(groups_, [&](const auto& entry) { return feed.FindGroup(entry.first) == nullptr; });
  WriteQueues(feed);
}

void StatusWriter::WriteGroup(const ClusterFeed& feed,
                              JobId id,
                              const Refusal* verdict,
                              const Moment& moment) {
  const Job& job = feed.state().job(id);
  const objects::PodGroup* group = feed.FindGroup(job.spec.name);
  if (group == nullptr) return;
  Group& known = groups_[job.spec.name];
  if (known.uid != group->meta.uid) known = {group->meta.uid, StatusOf(*group), {}};
  GroupStatus next = NextStatus(known.status, job, verdict, moment);
  if (!SaysTheSame(known.status, next)) {
    TellOf(*group, known.status, next);
    Send("podgroups/" + job.spec.name,
         kube::PatchCall({kube::kPodGroups, group->meta.ns, group->meta.name, ""},
                         {.type = kube::PatchType::kMerge, .field_manager = ""},
                         StatusPatch(next, group->meta.uid)),
         [this, name = job.spec.name] { groups_.erase(name); });
    known.status = std::move(next);
  }
  if (verdict == nullptr || !ConcernsPods(*verdict)) {
    known.told = {};
    return;
  }
  std::pair told(verdict->reason, job.counts.Of(TaskStatus::kPending));
  if (known.told == told) return;
  known.told = std::move(told);
  WritePods(feed, job, *verdict);
}

void StatusWriter::TellOf(const objects::PodGroup& group,
                          const GroupStatus& before,
                          const GroupStatus& after) {
  using Type = kube::EventNote::Type;
  const kube::ObjectReference about = Refer(group.meta, kube::kPodGroups);
  const objects::Condition* was_refused = True(before, kUnschedulable);
  const objects::Condition* refused = True(after, kUnschedulable);
  const bool said =
      was_refused != nullptr && refused != nullptr && was_refused->message == refused->message;
  if (refused != nullptr && !said) {
    events_.Record({about, Type::kWarning, kUnschedulable, refused->message});
  }
  if (True(after, kScheduled) != nullptr && True(before, kScheduled) == nullptr) {
    events_.Record({about, Type::kNormal, kScheduled, "pod group is ready"});
  }
}

void StatusWriter::WritePods(const ClusterFeed& feed, const Job& job, const Refusal& verdict) {
  for (const SubJob& sub_job : job.sub_jobs) {
    for (const TaskId id : sub_job.tasks) {
      const Task& task = feed.state().task(id);
      if (task.status != TaskStatus::kPending || task.gated) continue;
      if (const objects::Pod* pod = feed.FindPod(task.name)) WritePod(*pod, verdict);
    }
  }
}

void StatusWriter::WritePod(const objects::Pod& pod, const Refusal& verdict) {
  const objects::Condition* known = objects::FindCondition(pod.status.conditions, "PodScheduled");
  if (known != nullptr && known->status == "False" && known->message == verdict.message) return;
  events_.Record({Refer(pod.meta, kube::kPods),
                  kube::EventNote::Type::kWarning,
                  "FailedScheduling",
                  verdict.message});
  const bool turned = known == nullptr || known->status != "False";
  ordered_json condition = {{"type", "PodScheduled"},
                            {"status", "False"},
                            {"reason", "Unschedulable"},
                            {"message", verdict.message}};
  if (turned) {
    const auto now = std::chrono::floor<std::chrono::seconds>(clock_.Now());
    condition["lastTransitionTime"] = FormatTimestamp(now);
  }
  const ordered_json patch = {
      {"metadata", {{"uid", pod.meta.uid}}},
      {"status", {{"conditions", ordered_json::array({std::move(condition)})}}}};
  Send("pods/" + pod.meta.ns + "/" + pod.meta.name,
       kube::PatchCall({kube::kPods, pod.meta.ns, pod.meta.name, "status"},
                       {.type = kube::PatchType::kStrategic, .field_manager = ""},
                       Dump(patch)),
       {});
}

std::map<std::string, std::map<std::string, std::string>> AllocatedOfQueues(
    const ClusterState& state) {
  std::map<std::string, Resources> sums;
  for (const QueueId id : state.queues()) sums[state.queue(id).spec.name];
  for (const QueueId id : state.queues()) {
    const Queue& queue = state.queue(id);
    std::set<std::string_view> seen;  // queues may be on a cycle
    for (std::string_view name = queue.spec.name; seen.insert(name).second;) {
      const auto above = state.FindQueue(name);
      if (!above) break;
      sums[std::string(name)].Add(queue.allocated);
      name = state.queue(*above).spec.parent;
    }
  }
  std::map<std::string, std::map<std::string, std::string>> allocated;
  for (const auto& [name, sum] : sums) {
    auto& out = allocated[name];
    for (std::size_t i = 0; i < sum.size(); ++i) {
      const auto resource = IdAt<ResourceId>(i);
      if (sum.Get(resource) == 0) continue;
      const std::string& resource_name = state.resource_names().name(resource);
      out[resource_name] = ToQuantity(resource_name, sum.Get(resource)).ToString();
    }
  }
  return allocated;
}

void StatusWriter::WriteQueues(const ClusterFeed& feed) {
  for (const auto& [name, amounts] : AllocatedOfQueues(feed.state())) {
    const objects::Queue* queue = feed.FindQueue(name);
    if (queue == nullptr) continue;
    ordered_json allocated = amounts;
    for (const auto& [resource, amount] : queue->allocated) {
      if (!amounts.contains(resource)) allocated[resource] = nullptr;  // a merge patch takes it out
    }
    std::string status = Dump({{"status", {{"allocated", std::move(allocated)}}}});
    std::string& known = queues_[name];
    if (known.empty() && amounts.empty() && queue->allocated.empty()) continue;
    if (known == status) continue;
    known = status;
    Send("queues/" + name,
         kube::PatchCall({kube::kQueues, "", name, "status"},
                         {.type = kube::PatchType::kMerge, .field_manager = ""},
                         std::move(status)),
         [this, name = name] { queues_.erase(name); });
  }
}

void StatusWriter::Send(const std::string& key, kube::Call call, std::function<void()> forget) {
  calls_.Submit(key,
                std::move(call),
                CallQueue::Urgency::kUsual,
                [this, mailbox = mailbox_, forget = std::move(forget)](const kube::Reply& reply) {
                  if (reply || !forget) return;
                  const bool gone = reply.error().http_status == 404;
                  mailbox->Post([this, forget, gone] {
                    forget();
                    if (!gone) unfinished_ = true;
                  });
                });
}

}  // namespace strata::live
