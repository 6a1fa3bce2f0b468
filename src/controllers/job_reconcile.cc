#include "controllers/job_reconcile.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/timestamp.h"
#include "controllers/job_events.h"
#include "controllers/job_pods.h"
#include "controllers/job_state.h"
#include "controllers/object_meta.h"
#include "json/access.h"
#include "json/dump.h"
#include "objects/expand_job.h"
#include "objects/load.h"
#include "objects/volcano_keys.h"
#include "objects/waiting_advice.h"
#include "objects/write_pod_group.h"

namespace strata::controllers {
namespace {

using nlohmann::json;
using objects::Job;
using objects::JobPhase;
using objects::JobTask;

// Pods that one plan makes: a large job is made in several, and its status is told in between.
constexpr std::size_t kMaxCreates = 500;

// How long the counts of pods in a status may be old.
constexpr Duration kCountsPace = std::chrono::seconds(1);

PodCounts Count(const JobView& view, std::int32_t version) {
  PodCounts counts = CountPods(view.pods, version);
  for (const std::vector<PodSeen>* pods : {&view.pods, &view.memory.lost}) {
    const auto found = std::find_if(pods->begin(), pods->end(), [&](const PodSeen& pod) {
      return !pod.evicted.empty() && !pod.out_of_sync && pod.job_version >= version;
    });
    if (counts.evicted.empty() && found != pods->end()) counts.evicted = found->evicted;
  }
  return counts;
}

class JobPlanner {
 public:
  JobPlanner(const JobView& view, const Job& job)
      : view_(view),
        object_(*view.job),
        job_(job),
        counts_(Count(view, job.version)),
        next_(ProgressOf(job)) {}

  JobPlan Make() {
    out_.memory.ensured = view_.memory.ensured;
    if (!view_.commands.empty()) {
      ObeyCommand(*view_.commands.front());
    } else if (IsNew() || KeepsPods(job_.phase)) {
      if (!FollowPolicies()) Grow();
    } else {
      Sweep();
    }
    TellWhyItWaits();
    TellWarnings();
    return std::move(out_);
  }

 private:
  bool IsNew() const { return TextAt(object_, {"status", "state", "phase"}).empty(); }

  // --- what it is told

  void ObeyCommand(const json& command) {
    const std::string& action = TextAt(command, {"action"});
    next_ = AfterAction(job_, RestartsPart(action) ? "" : action);
    out_.memory = view_.memory;  // policies were not asked
    AddStatus();
    AddStep(out_.plan, {DeleteOf(kube::kCommands, command)});
    Tell(kube::EventNote::Type::kNormal,
         "CommandIssued",
         fmt::format("Start to execute command {}, and clean it up to make sure executed not more "
                     "than once.",
                     action));
  }

  // True when a policy acts: whatever else is to be done waits until that is seen.
  bool FollowPolicies() {
    const bool unknown =
        view_.pod_group != nullptr && TextAt(*view_.pod_group, {"status", "phase"}) == "Unknown";
    JobVerdict verdict = AskPolicies({.job = job_,
                                      .pods = view_.pods,
                                      .lost = view_.memory.lost,
                                      .group_unknown = unknown,
                                      .since = view_.memory.since,
                                      .now = view_.now});
    out_.memory.since = std::move(verdict.since);
    out_.memory.lost = std::move(verdict.lost);
    out_.plan.again = verdict.next;
    if (!verdict.due) return false;
    Act(*verdict.due);
    return true;
  }

  void Act(const JobDecision& decision) {
    next_ = AfterAction(job_, decision.action);
    std::vector<Write> marks;
    std::vector<Write> deletes;
    for (const PodSeen& pod : Targets(decision)) {
      marks.push_back(MarkOf(pod));
      deletes.push_back(Kill(pod));
    }
    AddStep(out_.plan, std::move(marks));
    AddStep(out_.plan, std::move(deletes));
    const bool there =
        decision.pod && std::any_of(view_.pods.begin(), view_.pods.end(), [&](const PodSeen& pod) {
          return pod.uid == decision.pod->uid;
        });
    const bool goes = there && RestartsPart(decision.action);
    if (goes) killed_.insert(decision.pod->uid);
    AddStatus();
    // The pod that is the reason goes last: as long as it is there, this can be done again.
    if (goes) {
      AddStep(out_.plan, {MarkOf(*decision.pod)});
      if (!decision.pod->being_deleted) AddStep(out_.plan, {DeleteOf(*decision.pod)});
    }
    Tell(kube::EventNote::Type::kNormal,
         "ExecuteAction",
         fmt::format("Start to execute action {}: {}{}",
                     decision.action,
                     decision.event,
                     decision.pod ? " of pod " + decision.pod->key.name : ""));
  }

  // The pods that an action takes along with the one that is its reason.
  std::vector<PodSeen> Targets(const JobDecision& decision) const {
    std::vector<PodSeen> targets;
    if (!RestartsPart(decision.action)) return targets;
    for (const PodSeen& pod : view_.pods) {
      if (pod.being_deleted || pod.task != decision.task) continue;
      if (decision.pod && pod.uid == decision.pod->uid) continue;
      const bool whole = decision.action == "RestartTask" || !decision.pod;
      const bool part = decision.action == "RestartPartition" && decision.pod &&
                        pod.partition == decision.pod->partition;
      if (whole || part) targets.push_back(pod);
    }
    return targets;
  }

  // --- what a living job needs

  void Grow() {
    // A refusal is told before it is tried again: nothing after it would be written.
    refused_ = view_.memory.refusal;
    const bool tells = !IsNew() && LacksRefusal();
    if (tells) AddStatus();
    out_.plan.concerned = Concerned();
    EnsureObjects();
    EnsureGroup();
    std::vector<Write> pods = Surplus();
    if (GroupAdmits()) AddMissing(pods);
    AddStep(out_.plan, std::move(pods));
    if (tells) return;  // a second status in one plan would meet a conflict
    if (!IsNew()) next_.phase = PhaseByPods(job_, counts_);
    AddStatus();
  }

  bool LacksRefusal() const {
    return !refused_.empty() && TextAt(object_, {"status", "state", "message"}) != refused_;
  }

  std::vector<kube::ObjectReference> Concerned() const {
    std::vector<kube::ObjectReference> concerned = {ReferenceTo(kube::kJobs, object_)};
    if (GroupIsOurs()) concerned.push_back(ReferenceTo(kube::kPodGroups, *view_.pod_group));
    return concerned;
  }

  void EnsureObjects() {
    std::vector<Write> writes;
    if (IsNew()) {
      for (const std::string& plugin : MissingPlugins(job_)) {
        Tell(kube::EventNote::Type::kWarning,
             "PluginError",
             fmt::format("job plugin \"{}\" is not supported and is ignored", plugin));
      }
      for (const json& claim : MakeClaimObjects({object_, job_})) {
        writes.push_back(CreateOf(kube::kVolumeClaims, claim, job_.meta.uid));
      }
      const json secret = MakeSshSecret(job_, view_.make_keys);
      if (!secret.is_null()) {
        writes.push_back(CreateOf(kube::kSecrets, secret, job_.meta.uid));
      }
    }
    std::string all;
    std::vector<Write> ensures;
    for (const PluginObject& made : MakePluginObjects(job_)) {
      Write write = CreateOf(made.resource, made.object, job_.meta.uid);
      write.verb = Write::Verb::kEnsure;
      write.optional = made.resource == kNetworkPolicies;
      all += write.body;
      ensures.push_back(std::move(write));
    }
    const json config = MakeSshConfig(job_);
    if (!config.is_null()) {
      Write write = PatchOf(kube::kSecrets, config, {{"data", config["data"]}});
      write.optional = true;
      all += write.body;
      if (!IsNew()) ensures.push_back(std::move(write));  // else it is in the Secret from the start
    }
    out_.memory.ensured = all.empty() ? "" : std::to_string(std::hash<std::string>{}(all));
    if (out_.memory.ensured != view_.memory.ensured) {
      std::move(ensures.begin(), ensures.end(), std::back_inserter(writes));
    }
    AddStep(out_.plan, std::move(writes));
  }

  bool GroupIsOurs() const {
    return view_.pod_group != nullptr && ControllerUidOf(*view_.pod_group) == job_.meta.uid;
  }

  // One of an older version of the job is on its way out: a restarted job waits for its turn again.
  // One that has no version was made by Volcano: it is of this one, and EnsureGroup says so in
  // it.
  bool GroupIsOutdated() const {
    if (!GroupIsOurs()) return false;
    const std::string& text =
        TextAt(*view_.pod_group, {"metadata", "annotations", objects::kJobVersionKey});
    const bool is_of_another = !text.empty() && text != std::to_string(job_.version);
    return is_of_another || IsBeingDeleted(*view_.pod_group);
  }

  void EnsureGroup() {
    objects::PodGroup group = objects::MakePodGroup(job_, view_.priorities);
    const std::string version_key(objects::kJobVersionKey);
    group.meta.annotations[version_key] = std::to_string(job_.version);
    const json wanted = objects::WritePodGroup(group);
    if (view_.pod_group == nullptr) {
      return AddStep(out_.plan, {CreateOf(kube::kPodGroups, wanted, job_.meta.uid)});
    }
    if (GroupIsOutdated()) return DropGroup();
    json changed = json::object();
    if (TextAt(*view_.pod_group, {"metadata", "annotations", version_key}).empty()) {
      changed["metadata"]["annotations"][version_key] = group.meta.annotations[version_key];
    }
    const json& spec = ObjectAt(*view_.pod_group, {"spec"});
    for (const char* key : {"minMember",
                            "minTaskMember",
                            "minResources",
                            "priorityClassName",
                            "networkTopology",
                            "subGroupPolicy"}) {
      const json* value = FindAt(wanted, {"spec", key});
      const json* old = FindAt(spec, {key});
      if (value == nullptr || (old != nullptr && *old == *value)) continue;
      changed["spec"][key] = MergePatchTo(*value, old);
    }
    if (changed.empty()) return;
    AddStep(out_.plan, {PatchOf(kube::kPodGroups, *view_.pod_group, changed)});
  }

  void DropGroup() {
    if (!GroupIsOurs() || IsBeingDeleted(*view_.pod_group)) return;
    AddStep(out_.plan, {DeleteOf(kube::kPodGroups, *view_.pod_group)});
  }

  bool GroupAdmits() const {
    if (view_.pod_group == nullptr || GroupIsOutdated()) return false;
    const std::string& phase = TextAt(*view_.pod_group, {"status", "phase"});
    return !phase.empty() && phase != "Pending";
  }

  const JobTask* TaskOf(const PodSeen& pod) const {
    for (const JobTask& task : job_.tasks) {
      if (task.name == pod.task) return &task;
    }
    return nullptr;
  }

  // Pods beyond the size of their task, and those that a restart left behind.
  std::vector<Write> Surplus() {
    std::vector<Write> writes;
    for (const PodSeen& pod : view_.pods) {
      const JobTask* task = TaskOf(pod);
      const bool fits = task != nullptr && pod.index >= 0 && pod.index < task->replicas;
      const bool stays = fits && pod.job_version >= job_.version;
      if (!stays && !pod.being_deleted) writes.push_back(Kill(pod));
    }
    return writes;
  }

  void AddMissing(std::vector<Write>& writes) {
    std::set<std::string> names;
    for (const PodSeen& pod : view_.pods) names.insert(pod.key.name);
    std::size_t made = 0;
    for (std::size_t t = 0; t < job_.tasks.size(); ++t) {
      const JobTask& task = job_.tasks[t];
      if (!DependenciesMet(task)) continue;
      for (std::int32_t index = 0; index < task.replicas; ++index) {
        if (names.contains(objects::PodNameOf(job_, task, index))) continue;
        if (++made > kMaxCreates) {
          out_.plan.again = Duration(0);
          return;
        }
        writes.push_back(CreateOf(
            kube::kPods, MakePodObject({object_, job_}, {t, index}, GroupName()), job_.meta.uid));
      }
    }
  }

  std::string GroupName() const { return TextAt(*view_.pod_group, {"metadata", "name"}); }

  bool DependenciesMet(const JobTask& task) const {
    if (!task.depends_on || task.depends_on->tasks.empty()) return true;
    const auto met = [&](const std::string& name) {
      const auto other = std::find_if(
          job_.tasks.begin(), job_.tasks.end(), [&](const JobTask& t) { return t.name == name; });
      if (other == job_.tasks.end()) return true;
      std::int32_t ready = 0;
      for (const PodSeen& pod : view_.pods) {
        if (pod.task != name || pod.being_deleted) continue;
        const bool runs = pod.phase == objects::PodPhase::kRunning && pod.ready;
        if (runs || pod.phase == objects::PodPhase::kSucceeded) ++ready;
      }
      return ready >= other->min_available;
    };
    const std::vector<std::string>& names = task.depends_on->tasks;
    return task.depends_on->iteration == objects::DependsOn::Iteration::kAll
               ? std::all_of(names.begin(), names.end(), met)
               : std::any_of(names.begin(), names.end(), met);
  }

  // --- what a job leaves that ends, has ended, or starts over

  void Sweep() {
    const bool restarts = job_.phase == JobPhase::kRestarting;
    next_.phase = PhaseByPods(job_, counts_);
    std::vector<Write> writes;
    for (const PodSeen& pod : view_.pods) {
      // The last try is not swept: its pods tell why it failed.
      const bool goes = restarts
                            ? pod.job_version < job_.version && next_.phase != JobPhase::kFailed
                            : !pod.finished();
      if (goes && !pod.being_deleted) writes.push_back(Kill(pod));
    }
    AddStep(out_.plan, std::move(writes));
    if (!restarts || GroupIsOutdated()) DropGroup();
    AddStatus();
    if (next_.phase == job_.phase && IsFinished(job_.phase)) ExpireJob();
  }

  void ExpireJob() {
    if (!job_.ttl_seconds_after_finished) return;
    const Result<Time> ended =
        ParseTimestamp(TextAt(object_, {"status", "state", "lastTransitionTime"}));
    if (!ended) return;
    const Duration left =
        *ended + std::chrono::seconds(*job_.ttl_seconds_after_finished) - view_.now;
    if (left > Duration(0)) return LookAgain(left);
    Write write = DeleteOf(kube::kJobs, object_);
    write.propagation = "Foreground";
    AddStep(out_.plan, {std::move(write)});
  }

  Write Kill(const PodSeen& pod) {
    killed_.insert(pod.uid);
    return DeleteOf(pod);
  }

  // --- what is said

  // The pods that this plan deletes, or the next one, are told as terminating at once: clients wait
  // for that together with a phase such as Restarting.
  PodCounts CountsToTell() const {
    PodCounts counts = CountPods(view_.pods, next_.version, [&](const PodSeen& pod) {
      return killed_.contains(pod.uid) || Sweeps(job_, next_, pod);
    });
    counts.evicted = counts_.evicted;
    counts.refused = refused_;
    return counts;
  }

  void AddStatus() {
    const json before = ObjectAt(object_, {"status"});
    json status = MakeJobStatus(before, job_, next_, CountsToTell(), view_.now);
    json controlled = ObjectAt(before, {"controlledResources"});
    const std::vector<std::string> missing = MissingPlugins(job_);
    for (const auto& [name, arguments] : job_.plugins) {
      if (std::find(missing.begin(), missing.end(), name) != missing.end()) continue;
      controlled["plugin-" + name] = name;
    }
    if (!controlled.empty()) status["controlledResources"] = std::move(controlled);
    out_.memory.counts_since.reset();
    if (status == before || (DifferInCountsOnly(before, status) && CountsMayWait())) return;
    AddStep(out_.plan, {StatusOf(kube::kJobs, object_, status)});
  }

  bool CountsMayWait() {
    const Time since = std::min(view_.memory.counts_since.value_or(view_.now), view_.now);
    const Duration left = since + kCountsPace - view_.now;
    if (left <= Duration(0)) return false;
    out_.memory.counts_since = since;
    LookAgain(left);
    return true;
  }

  void LookAgain(Duration after) {
    out_.plan.again = std::min(out_.plan.again.value_or(after), after);
  }

  // People look at their Job first. Each reason once.
  void TellWhyItWaits() {
    if (view_.pod_group == nullptr || !GroupIsOurs()) return;
    for (const json& condition : ListAt(*view_.pod_group, {"status", "conditions"})) {
      if (TextAt(condition, {"type"}) != "Unschedulable") continue;
      if (TextAt(condition, {"status"}) == "True") {
        out_.memory.waits = objects::WithoutAdvice(TextAt(condition, {"message"}));
      }
    }
    if (out_.memory.waits.empty() || out_.memory.waits == view_.memory.waits) return;
    Tell(kube::EventNote::Type::kWarning,
         "PodGroupPending",
         fmt::format("PodGroup {}:{} unschedule,reason: {}",
                     job_.meta.ns,
                     TextAt(*view_.pod_group, {"metadata", "name"}),
                     out_.memory.waits));
  }

  // A constraint that binds nobody does not keep the job waiting; its author is to know, though.
  void TellWarnings() {
    out_.memory.warned.clear();
    if (!GroupIsOurs()) return;
    for (const json& condition : ListAt(*view_.pod_group, {"status", "conditions"})) {
      const std::string& type = TextAt(condition, {"type"});
      if (!type.starts_with("Topology") || TextAt(condition, {"status"}) != "True") continue;
      const std::string& message = TextAt(condition, {"message"});
      out_.memory.warned += type + message;
      if (view_.memory.warned.find(type + message) != std::string::npos) continue;
      Tell(kube::EventNote::Type::kWarning, type, message);
    }
  }

  void Tell(kube::EventNote::Type type, std::string reason, std::string message) {
    out_.plan.events.push_back({.about = ReferenceTo(kube::kJobs, object_),
                                .type = type,
                                .reason = std::move(reason),
                                .message = std::move(message)});
  }

  const JobView& view_;
  const json& object_;
  const Job& job_;
  const PodCounts counts_;
  JobProgress next_;
  std::string refused_;           // JobMemory::refusal, while the job is to have pods
  std::set<std::string> killed_;  // uids of pods that this plan deletes
  JobPlan out_;
};

}  // namespace

JobPlan ReconcileJob(const JobView& view) {
  JobPlan out;
  if (IsBeingDeleted(*view.job)) return out;
  const objects::Source source{.name = "job", .text = DumpJson(*view.job)};
  Result<objects::ObjectSet> read = objects::ParseObjects({&source, 1});
  if (!read || read->jobs.size() != 1) {
    out.plan.events.push_back({.about = ReferenceTo(kube::kJobs, *view.job),
                               .type = kube::EventNote::Type::kWarning,
                               .reason = "InvalidJob",
                               .message = read ? "no Job" : read.error().message});
    return out;
  }
  Job& job = read->jobs.front();
  if (TextAt(*view.job, {"spec", "schedulerName"}).empty()) job.scheduler_name = view.scheduler;
  return JobPlanner(view, job).Make();
}

}  // namespace strata::controllers
