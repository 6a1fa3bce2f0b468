#include "live/status_writer.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/timestamp.h"
#include "convert/amounts.h"
#include "convert/specs.h"
#include "json/dump.h"
#include "objects/waiting_advice.h"

namespace strata::live {
namespace {

using nlohmann::ordered_json;

// Between two writes of what changes all the time, and before a gang whose pods are still coming is
// told that they are not there.
constexpr Duration kPace = std::chrono::seconds(1);

kube::ObjectReference Refer(const objects::Metadata& meta, const kube::Resource& resource) {
  return {.kind = std::string(resource.kind),
          .api_version = kube::ApiVersion(resource),
          .ns = meta.ns,
          .name = meta.name,
          .uid = meta.uid,
          .version = ""};
}

// Not the pods' own trouble: there are not all of them yet, they hold themselves back, or nobody
// looks at them, so that no new node would help.
bool ConcernsPods(const Refusal& verdict) {
  return verdict.reason != "NotEnoughTasks" && verdict.reason != "NotEnoughPodsOfTask" &&
         verdict.reason != "SchedulingGated" && verdict.reason != "NoAction";
}

const objects::Condition* True(const GroupStatus& status, const char* type) {
  const objects::Condition* condition = objects::FindCondition(status.conditions, type);
  return condition != nullptr && condition->status == "True" ? condition : nullptr;
}

}  // namespace

StatusWriter::StatusWriter(Tools tools, std::shared_ptr<kube::Mailbox> mailbox)
    : tools_(std::move(tools)), mailbox_(std::move(mailbox)), retries_(tools_.random) {}

void StatusWriter::Write(const ClusterFeed& feed,
                         const CycleResult& cycle,
                         std::uint64_t cycle_number) {
  cycle_ = std::to_string(cycle_number);
  late_.merge(Concerned(feed.state(), cycle));
  WriteLate(feed);
}

void StatusWriter::WriteLate(const ClusterFeed& feed) {
  next_write_.reset();
  WriteGroups(feed, std::exchange(late_, {}));
  WriteQueues(feed);
}

std::set<JobId> StatusWriter::Concerned(const ClusterState& state, const CycleResult& cycle) {
  const auto touched = state.workload().JobsTouchedSince(seen_);
  seen_ = state.workload().NextJobVersion();
  std::set<JobId> jobs;
  if (touched) {
    jobs.insert(touched->begin(), touched->end());
  } else {
    jobs.insert(state.workload().jobs().begin(), state.workload().jobs().end());
    for (const auto& [id, group] : groups_) jobs.insert(id);  // some may be gone
  }
  for (const auto& [id, verdict] : cycle.verdicts) {
    const auto [known, is_new] = refused_.try_emplace(id, Refused{verdict, tools_.now(), {}});
    Refused& refused = known->second;
    if (!is_new && refused.verdict == verdict) continue;
    refused = {verdict, tools_.now(), {}};
    jobs.insert(id);
  }
  std::set<std::string> warned;
  FollowWarnings(cycle, warned);
  for (const std::string& name : warned) {
    if (const auto id = state.workload().FindJob(name)) jobs.insert(*id);
  }
  std::erase_if(refused_, [&](const auto& known) {
    if (cycle.verdicts.contains(known.first)) return false;
    jobs.insert(known.first);
    return true;
  });
  return jobs;
}

void StatusWriter::FollowWarnings(const CycleResult& cycle, std::set<std::string>& changed) {
  constexpr std::string_view kOfGroup = "PodGroup ";
  if (cycle.warnings == last_warnings_) return;
  last_warnings_ = cycle.warnings;
  std::map<std::string, GroupWarnings> now;
  static const std::vector<CycleResult::Warning> none;
  for (const CycleResult::Warning& warning : last_warnings_ ? *last_warnings_ : none) {
    if (!warning.object.starts_with(kOfGroup) || !IsWarning(warning.reason)) continue;
    std::string& message = now[warning.object.substr(kOfGroup.size())][warning.reason];
    message += (message.empty() ? "" : "; ") + warning.message;
  }
  for (const auto* all : {&warnings_, &now}) {
    for (const auto& [name, warnings] : *all) {
      const auto before = warnings_.find(name);
      const auto after = now.find(name);
      const bool same =
          before != warnings_.end() && after != now.end() && before->second == after->second;
      if (!same) changed.insert(name);
    }
  }
  warnings_ = std::move(now);
}

void StatusWriter::WriteGroups(const ClusterFeed& feed, const std::set<JobId>& jobs) {
  for (const JobId id : jobs) {
    if (feed.state().workload().job(id).alive) {
      WriteGroup(feed, id);
    } else {
      groups_.erase(id);
    }
  }
}

void StatusWriter::WriteGroup(const ClusterFeed& feed, JobId id) {
  const Job& job = feed.state().workload().job(id);
  const objects::PodGroup* group = feed.FindGroup(job.spec.name);
  if (group == nullptr) return;
  Group& known = Look(*group, id);
  const Refusal* verdict = ToBeTold(id);
  const Moment moment{tools_.clock.Now(), cycle_};
  GroupStatus next = NextStatus(known.status, job, verdict, moment);
  if (verdict != nullptr && !refused_.at(id).advice.empty()) {
    next = WithAdvice(std::move(next), *verdict, refused_.at(id).advice);
  }
  const auto warnings = warnings_.find(job.spec.name);
  next = WithWarnings(
      std::move(next), warnings == warnings_.end() ? GroupWarnings{} : warnings->second, moment);
  if (!WriteStatus(*group, id, std::move(next))) late_.insert(id);
  if (verdict == nullptr || !ConcernsPods(*verdict)) {
    known.told = {};
    return;
  }
  std::pair told(verdict->reason, job.counts.Of(TaskStatus::kPending));
  if (known.told == told) return;
  known.told = std::move(told);
  WritePods(feed, job, *verdict);
}

void StatusWriter::See(const ClusterState& state, const objects::PodGroup& group) {
  const auto id = state.workload().FindJob(objects::NamespacedName(group.meta));
  if (id && groups_.contains(*id)) Look(group, *id);
}

// A status that was there and is another one now was written by somebody else: by the leader before
// us, whose request arrived late. What is still on its way to us is our own.
StatusWriter::Group& StatusWriter::Look(const objects::PodGroup& group, JobId id) {
  Group& known = groups_[id];
  GroupStatus now = StatusOf(group);
  const bool is_new = known.uid != group.meta.uid;
  const bool same = !is_new && SaysTheSame(now, known.status);
  if (is_new) known = {.uid = group.meta.uid, .status = {}};
  if (is_new || (known.seen && !same)) known.status = std::move(now);
  known.seen = is_new || known.seen || same;
  return known;
}

const Refusal* StatusWriter::ToBeTold(JobId id) {
  const auto refused = refused_.find(id);
  if (refused == refused_.end()) return nullptr;
  const auto& [verdict, since, advice] = refused->second;
  if (ConcernsPods(verdict) || tools_.now() >= since + kPace) return &verdict;
  late_.insert(id);
  PutOff(since + kPace);
  return nullptr;
}

bool StatusWriter::WriteStatus(const objects::PodGroup& group, JobId id, GroupStatus next) {
  Group& known = groups_[id];
  if (SaysTheSame(known.status, next)) {
    known.noticed.reset();
    return true;
  }
  const std::string key = "podgroups/" + objects::NamespacedName(group.meta);
  const net::SteadyTime now = tools_.now();
  if (!known.noticed) known.noticed = now;
  const Duration patience = IsUrgent(known.status, next) ? Duration(0) : kPace;
  const net::SteadyTime due = std::max(*known.noticed + patience, retries_.Due(key));
  if (now < due) {
    PutOff(due);
    return false;
  }
  TellOf(group, known.status, next);
  Send(key,
       kube::PatchCall({kube::kPodGroups, group.meta.ns, group.meta.name, ""},
                       {.type = kube::PatchType::kMerge, .field_manager = ""},
                       StatusPatch(next, group.meta.uid)),
       [this, id, uid = known.uid] {
         const auto it = groups_.find(id);
         if (it == groups_.end() || it->second.uid != uid) return;
         groups_.erase(it);
         late_.insert(id);
       });
  known.status = std::move(next);
  known.seen = false;
  known.noticed.reset();
  return true;
}

void StatusWriter::Advise(const ClusterFeed& feed,
                          const std::string& job,
                          const Refusal& verdict,
                          const std::string& advice) {
  const auto id = feed.state().workload().FindJob(job);
  const auto refused = id ? refused_.find(*id) : refused_.end();
  if (refused == refused_.end() || refused->second.verdict != verdict) return;
  refused->second.advice = advice;
  WriteGroup(feed, *id);
}

void StatusWriter::TellOf(const objects::PodGroup& group,
                          const GroupStatus& before,
                          const GroupStatus& after) {
  using Type = kube::EventNote::Type;
  const kube::ObjectReference about = Refer(group.meta, kube::kPodGroups);
  const objects::Condition* was_refused = True(before, kUnschedulable);
  const objects::Condition* refused = True(after, kUnschedulable);
  const bool said =
      was_refused != nullptr && refused != nullptr &&
      objects::WithoutAdvice(was_refused->message) == objects::WithoutAdvice(refused->message);
  if (refused != nullptr && !said) {
    tools_.events.Record({about, Type::kWarning, kUnschedulable, refused->message});
  }
  for (const objects::Condition& warning : after.conditions) {
    if (!IsWarning(warning.type) || warning.status != "True") continue;
    const objects::Condition* told = True(before, warning.type.c_str());
    if (told != nullptr && told->message == warning.message) continue;
    tools_.events.Record({about, Type::kWarning, warning.type, warning.message});
  }
  if (True(after, kScheduled) != nullptr && True(before, kScheduled) == nullptr) {
    tools_.events.Record({about, Type::kNormal, kScheduled, "pod group is ready"});
  }
}

void StatusWriter::WritePods(const ClusterFeed& feed, const Job& job, const Refusal& verdict) {
  for (const SubJob& sub_job : job.sub_jobs) {
    for (const TaskId id : sub_job.tasks) {
      const Task& task = feed.state().workload().task(id);
      if (task.status != TaskStatus::kPending || task.gated) continue;
      if (const objects::Pod* pod = feed.FindPod(task.name)) WritePod(*pod, verdict);
    }
  }
}

void StatusWriter::TellOwners(const ClusterFeed& feed,
                              const objects::Pod& pod,
                              const Refusal& why) {
  const auto tell = [&](kube::ObjectReference about) {
    tools_.events.Record({std::move(about),
                          kube::EventNote::Type::kWarning,
                          why.reason,
                          "pod " + pod.meta.name + ": " + why.message});
  };
  if (const objects::PodGroup* group = feed.FindGroup(GroupOf(pod))) {
    tell(Refer(group->meta, kube::kPodGroups));
  }
  for (const objects::OwnerReference& owner : pod.meta.owners) {
    if (!owner.controller) continue;
    tell({.kind = owner.kind,
          .api_version = owner.api_version,
          .ns = pod.meta.ns,
          .name = owner.name,
          .uid = owner.uid,
          .version = ""});
  }
}

void StatusWriter::WritePod(const objects::Pod& pod, const Refusal& verdict) {
  const objects::Condition* known = objects::FindCondition(pod.status.conditions, "PodScheduled");
  if (known != nullptr && known->status == "False" && known->message == verdict.message) return;
  tools_.events.Record({Refer(pod.meta, kube::kPods),
                        kube::EventNote::Type::kWarning,
                        "FailedScheduling",
                        verdict.message});
  const bool turned = known == nullptr || known->status != "False";
  ordered_json condition = {{"type", "PodScheduled"},
                            {"status", "False"},
                            {"reason", "Unschedulable"},
                            {"message", verdict.message}};
  if (turned) {
    const auto now = std::chrono::floor<std::chrono::seconds>(tools_.clock.Now());
    condition["lastTransitionTime"] = FormatTimestamp(now);
  }
  const ordered_json patch = {
      {"metadata", {{"uid", pod.meta.uid}}},
      {"status", {{"conditions", ordered_json::array({std::move(condition)})}}}};
  Send("pods/" + pod.meta.ns + "/" + pod.meta.name,
       kube::PatchCall({kube::kPods, pod.meta.ns, pod.meta.name, "status"},
                       {.type = kube::PatchType::kStrategic, .field_manager = ""},
                       DumpJson(patch)),
       {});
}

std::map<std::string, std::map<std::string, std::string>> AllocatedOfQueues(
    const ClusterState& state) {
  std::map<std::string, Resources> sums;
  for (const QueueId id : state.workload().queues()) sums[state.workload().queue(id).spec.name];
  for (const QueueId id : state.workload().queues()) {
    const Queue& queue = state.workload().queue(id);
    std::set<std::string_view> seen;  // queues may be on a cycle
    for (std::string_view name = queue.spec.name; seen.insert(name).second;) {
      const auto above = state.workload().FindQueue(name);
      if (!above) break;
      sums[std::string(name)].Add(queue.allocated);
      name = state.workload().queue(*above).spec.parent;
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
  const net::SteadyTime now = tools_.now();
  if (now < queues_due_) return PutOff(queues_due_);
  bool wrote = false;
  for (const auto& [name, amounts] : AllocatedOfQueues(feed.state())) {
    const objects::Queue* queue = feed.FindQueue(name);
    if (queue == nullptr) continue;
    if (!queues_.contains(name) && amounts.empty() && queue->allocated.empty()) continue;
    ordered_json allocated = amounts;
    for (const auto& [resource, amount] : queue->allocated) {
      if (!amounts.contains(resource)) allocated[resource] = nullptr;  // a merge patch takes it out
    }
    if (WriteQueue(name,
                   DumpJson(ordered_json{{"status", {{"allocated", std::move(allocated)}}}}),
                   amounts)) {
      wrote = true;
    }
  }
  if (wrote) queues_due_ = now + kPace;
}

// As for groups: what was there and is not there any more was replaced by somebody else.
void StatusWriter::See(const objects::Queue& queue) {
  const auto known = queues_.find(queue.meta.name);
  if (known == queues_.end()) return;
  Amounts now;
  for (const auto& [resource, amount] : queue.allocated) now[resource] = amount.ToString();
  if (now == known->second.allocated) {
    known->second.seen = true;
  } else if (known->second.seen) {
    queues_.erase(known);
    PutOff(tools_.now());
  }
}

bool StatusWriter::WriteQueue(const std::string& name,
                              std::string patch,
                              const Amounts& allocated) {
  QueueStatus& known = queues_[name];
  if (known.patch == patch) return false;
  const std::string key = "queues/" + name;
  if (const net::SteadyTime due = retries_.Due(key); tools_.now() < due) {
    PutOff(due);
    return false;
  }
  known = {.patch = patch, .allocated = allocated};
  Send(key,
       kube::PatchCall({kube::kQueues, "", name, "status"},
                       {.type = kube::PatchType::kMerge, .field_manager = ""},
                       std::move(patch)),
       [this, name] { queues_.erase(name); });
  return true;
}

void StatusWriter::PutOff(net::SteadyTime until) {
  next_write_ = std::min(next_write_.value_or(until), until);
}

void StatusWriter::Send(const std::string& key, kube::Call call, std::function<void()> forget) {
  const bool again = retries_.HasFailed(key);
  tools_.calls.Submit(
      key,
      std::move(call),
      CallQueue::Urgency::kUsual,
      [this, mailbox = mailbox_, key, again, forget = std::move(forget)](const kube::Reply& reply) {
        if (!forget || (reply && !again)) return;
        const bool worked = reply.has_value();
        mailbox->Post([this, key, forget, worked] {
          if (worked) return retries_.Forget(key);
          forget();
          PutOff(retries_.Failed(key, tools_.now()));  // 404 too: a definition may be on its way
        });
      });
}

}  // namespace strata::live
