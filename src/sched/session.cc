#include "sched/session.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sched/lifecycle.h"

namespace strata {
namespace {

// Volcano's way of combining permit and reject: the first tier with an opinion decides, a reject
// ends it at once.
template <typename PointsOfTier, typename Ask>
bool Passes(const std::vector<Points::Tier>& tiers, const PointsOfTier& points_of, const Ask& ask) {
  for (const Points::Tier& tier : tiers) {
    bool permitted = false;
    for (const auto* point : points_of(tier)) {
      const Vote vote = ask(*point);
      if (vote == Vote::kReject) return false;
      permitted = permitted || vote == Vote::kPermit;
    }
    if (permitted) return true;
  }
  return true;
}

template <typename Compare>
int FirstOpinion(const std::vector<const OrderPoint*>& points, const Compare& compare) {
  for (const OrderPoint* point : points) {
    if (const int order = compare(*point); order != 0) return order;
  }
  return 0;
}

constexpr const char* kNotBinding = "TopologyNotBinding";

bool IsGone(TaskStatus status) {
  return status == TaskStatus::kReleasing || status == TaskStatus::kSucceeded ||
         status == TaskStatus::kFailed;
}

// What a policy with a topology does not bind, `missed` pods lacking its keys; "" when all is well.
std::string UnboundPolicy(const SubGroupPolicy& policy, std::size_t index, std::size_t missed) {
  const std::string name = fmt::format("subGroupPolicy[{}] \"{}\"", index, policy.name);
  if (policy.match_label_keys.empty()) {
    return name + " has no matchLabelKeys, so it takes no pods and its networkTopology binds none";
  }
  if (missed == 0) return "";
  return fmt::format(
      "{} does not bind {} by its networkTopology: without a label of its "
      "matchLabelKeys ({}) a pod is in no sub-group",
      name,
      missed == 1 ? "1 pod" : fmt::format("{} pods", missed),
      fmt::join(policy.match_label_keys, ", "));
}

}  // namespace

Session::Session(ClusterState& state,
                 std::vector<std::unique_ptr<Plugin>> plugins,
                 Points points,
                 std::vector<ActionConfig> actions)
    : state_(state),
      plugins_(std::move(plugins)),
      points_(std::move(points)),
      actions_(std::move(actions)) {}

bool Session::ForgetViews() {
  constexpr std::size_t kIdleClasses = 256;  // of jobs that come again and again
  state_.ForgetIdleClasses(std::max(kIdleClasses, state_.class_count() / 2));
  if (std::exchange(class_epoch_, state_.class_epoch()) == state_.class_epoch()) {
    return ForgetSurplusViews();
  }
  views_.clear();
  views_made_ = 0;
  return true;
}

bool Session::ForgetSurplusViews() {
  constexpr std::size_t kMostFacts = std::size_t{1} << 24U;  // a view has one per node
  if (views_made_ * state_.node_slots() <= kMostFacts) return false;
  views_.clear();
  views_made_ = 0;
  return true;
}

void Session::Open(Time now, TraceSink* trace) {
  trace_ = trace;
  verdicts_.clear();
  binds_.clear();
  phases_changed_ = false;
  for (const auto& plugin : plugins_) plugin->Open(state_, now);
  ResolveTopologies();
}

std::vector<JobId> Session::AllJobs() const {
  return {state_.jobs().begin(), state_.jobs().end()};
}

void Session::ResolveTopologies() {
  auto jobs = state_.JobsTouchedSince(limits_seen_);
  if (!jobs || limits_tree_ != tree().version()) {
    jobs = AllJobs();
    limits_.clear();
    unbound_.clear();
    warnings_.reset();
  }
  for (const JobId id : *jobs) {
    limits_.erase(id);
    if (unbound_.erase(id) > 0) warnings_.reset();
    if (!state_.job(id).alive) continue;
    WarnOfPolicies(id);
    if (!state_.job(id).HasTopology()) continue;
    ResolveTopology(id);
    RecoverAllocatedHyperNode(state_, id);
  }
  limits_tree_ = tree().version();
  limits_seen_ = state_.NextJobVersion();
}

void Session::MovePhases() {
  auto jobs = state_.JobsTouchedSince(phases_seen_);
  if (!jobs) jobs = AllJobs();
  for (const JobId id : *jobs) {
    const Job& job = state_.job(id);
    if (job.alive) SetPhase(id, NextPhase(job, JobReady(job)));
  }
  phases_seen_ = state_.NextJobVersion();
}

void Session::Warn(JobId id, const char* reason, const std::string& message) {
  if (message.empty()) return;
  unbound_[id].emplace("PodGroup " + state_.job(id).spec.name, reason, message);
  warnings_.reset();
}

void Session::WarnOfPolicies(JobId id) {
  const Job& job = state_.job(id);
  const std::vector<SubGroupPolicy>& policies = job.spec.sub_groups;
  if (policies.empty()) return;
  std::vector<std::size_t> missed(policies.size());
  for (const TaskId task_id : job.sub_jobs[0].tasks) {
    const Task& task = state_.task(task_id);
    const std::size_t policy = task.missed_policy.value_or(policies.size());
    if (policy < policies.size() && !IsGone(task.status)) ++missed[policy];
  }
  for (std::size_t i = 0; i < policies.size(); ++i) {
    if (!policies[i].topology.present()) continue;
    Warn(id, kNotBinding, UnboundPolicy(policies[i], i, missed[i]));
  }
}

void Session::ResolveTopology(JobId id) {
  const Job& job = state_.job(id);
  if (IsBestEffortOnly(state_, job)) {
    if (job.HasHardTopology()) {
      Warn(id,
           "TopologyIgnoredForBestEffort",
           "all pods are BestEffort, so networkTopology does not bind them");
    }
    return;
  }
  const bool can_search = points_.gradient != nullptr;
  Limits limits;
  limits.job = ResolveLimit(tree(), job.spec.topology, TopologyLimit{}, can_search);
  Warn(id, kNotBinding, limits.job.warning);
  for (const SubJob& sub_job : job.sub_jobs) {
    TopologyLimit limit = ResolveLimit(tree(), sub_job.topology, limits.job, can_search);
    Warn(id, kNotBinding, limit.warning);
    limits.sub_jobs.push_back(std::move(limit));
  }
  limits_.emplace(id, std::move(limits));
}

bool Session::HasAction(std::string_view name) const {
  return std::any_of(actions_.begin(), actions_.end(), [&](const ActionConfig& action) {
    return action.name == name;
  });
}

// ---- questions
// --------------------------------------------------------------------------------------------------------

bool Session::JobReady(const Job& job) const {
  return std::all_of(points_.job_ready.begin(), points_.job_ready.end(), [&](const auto* point) {
    return point->Ready(job);
  });
}

bool Session::JobPipelined(const Job& job) const {
  return Passes(
      points_.tiers,
      [](const Points::Tier& tier) -> const auto& { return tier.job_pipelined; },
      [&](const JobGatePoint& point) { return point.Pipelined(job); });
}

bool Session::SubJobReady(const Job& job, const SubJob& sub_job) const {
  if (job.spec.sub_groups.empty()) return JobReady(job);
  return std::all_of(points_.sub_job_ready.begin(),
                     points_.sub_job_ready.end(),
                     [&](const auto* point) { return point->SubJobReady(job, sub_job); });
}

bool Session::SubJobPipelined(const Job& job, const SubJob& sub_job) const {
  if (job.spec.sub_groups.empty()) return JobPipelined(job);
  return Passes(
      points_.tiers,
      [](const Points::Tier& tier) -> const auto& { return tier.sub_job_pipelined; },
      [&](const SubJobGatePoint& point) { return point.SubJobPipelined(job, sub_job); });
}

std::optional<Refusal> Session::JobInvalid(const Job& job) const {
  for (const JobGatePoint* point : points_.job_valid) {
    if (auto refusal = point->Invalid(job)) return refusal;
  }
  return std::nullopt;
}

std::optional<Refusal> Session::NotEnqueueable(const Job& job) const {
  Refusal refusal;
  const bool passes = Passes(
      points_.tiers,
      [](const Points::Tier& tier) -> const auto& { return tier.enqueueable; },
      [&](const JobGatePoint& point) {
        Ballot ballot = point.Enqueueable(job);
        if (ballot.vote == Vote::kReject) refusal = std::move(ballot.refusal);
        return ballot.vote;
      });
  return passes ? std::nullopt : std::optional(refusal);
}

void Session::TellEnqueued(const Job& job) {
  for (JobGatePoint* point : points_.enqueued) point->OnEnqueued(job);
}

bool Session::Overused(QueueId queue) const {
  return std::any_of(points_.overused.begin(), points_.overused.end(), [&](const auto* point) {
    return point->Overused(queue);
  });
}

std::optional<Refusal> Session::Exhausted(QueueId queue, const Resources& request) const {
  for (const QuotaPoint* point : points_.allocatable) {
    if (auto refusal = point->Exhausted(queue, request)) return refusal;
  }
  return std::nullopt;
}

// ---- orders
// -----------------------------------------------------------------------------------------------------------

bool Session::QueueBefore(QueueId a, QueueId b) const {
  const Queue& left = state_.queue(a);
  const Queue& right = state_.queue(b);
  const int order = FirstOpinion(points_.queue_order, [&](const OrderPoint& point) {
    return point.CompareQueues(left, right);
  });
  if (order != 0) return order < 0;
  return std::tie(left.spec.created, left.spec.uid, left.spec.name) <
         std::tie(right.spec.created, right.spec.uid, right.spec.name);
}

bool Session::JobBefore(JobId a, JobId b) const {
  const Job& left = state_.job(a);
  const Job& right = state_.job(b);
  const int order = FirstOpinion(
      points_.job_order, [&](const OrderPoint& point) { return point.CompareJobs(left, right); });
  if (order != 0) return order < 0;
  return std::tie(left.spec.created, left.spec.uid, left.spec.name) <
         std::tie(right.spec.created, right.spec.uid, right.spec.name);
}

bool Session::SubJobBefore(const Job& job, const SubJob& a, const SubJob& b) const {
  const int order = FirstOpinion(points_.sub_job_order, [&](const OrderPoint& point) {
    return point.CompareSubJobs(job, a, b);
  });
  if (order != 0) return order < 0;
  return std::tie(a.match_index, a.name, a.key) < std::tie(b.match_index, b.name, b.key);
}

bool Session::TaskBefore(TaskId a, TaskId b) const {
  const Task& left = state_.task(a);
  const Task& right = state_.task(b);
  const int order = FirstOpinion(
      points_.task_order, [&](const OrderPoint& point) { return point.CompareTasks(left, right); });
  if (order != 0) return order < 0;
  // Numbered tasks come first, or the order would not be transitive.
  if ((left.index >= 0) != (right.index >= 0)) return left.index >= 0;
  if (left.index != right.index) return left.index < right.index;
  return std::tie(left.created, left.uid, left.name) <
         std::tie(right.created, right.uid, right.name);
}

// ---- what this cycle knows
// ----------------------------------------------------------------------------------------------

const TopologyLimit& Session::LimitOf(JobId job) const {
  static const TopologyLimit unlimited;
  const auto it = limits_.find(job);
  return it == limits_.end() ? unlimited : it->second.job;
}

const TopologyLimit& Session::LimitOf(JobId job, std::size_t sub_job) const {
  const auto it = limits_.find(job);
  return it == limits_.end() ? LimitOf(job) : it->second.sub_jobs[sub_job];
}

std::optional<Refusal> Session::ImpossibleTopology(JobId job) const {
  const auto it = limits_.find(job);
  if (it == limits_.end()) return std::nullopt;
  const auto impossible = [](const TopologyLimit& limit) {
    return limit.kind == TopologyLimit::Kind::kImpossible;
  };
  if (impossible(it->second.job)) return it->second.job.refusal;
  const auto& sub_jobs = it->second.sub_jobs;
  const auto bad = std::find_if(sub_jobs.begin(), sub_jobs.end(), impossible);
  return bad == sub_jobs.end() ? std::nullopt : std::optional(bad->refusal);
}

ClassView& Session::View(ClassId class_id) {
  if (class_id.index() >= views_.size()) views_.resize(state_.class_count());
  auto& view = views_[class_id.index()];
  if (!view) {
    view = std::make_unique<ClassView>(state_, points_.nodes, class_id);
    ++views_made_;
  }
  return *view;
}

// ---- decisions
// ----------------------------------------------------------------------------------------------------------

void Session::Place(TaskId id,
                    NodeId node,
                    DevicePoint::When when,
                    HyperNodeId domain,
                    std::optional<GpuClaim> given) {
  const Task& task = state_.task(id);
  const ClassSpec& spec = state_.task_class(task.class_id);
  const bool now = when == DevicePoint::When::kNow;
  GpuClaim gpus;
  std::optional<DeviceRecord> devices;
  if (spec.gpus && points_.devices != nullptr && state_.node(node).gpus) {
    gpus = given ? *std::move(given) : points_.devices->Choose(state_, spec, node, when);
    if (tracing()) devices = points_.devices->Describe(state_, spec, node, gpus);
  }
  now ? state_.Allocate(id, node, std::move(gpus)) : state_.Pipeline(id, node, std::move(gpus));
  if (!tracing()) return;
  Trace(StepRecord{.kind = now ? StepRecord::Kind::kAllocate : StepRecord::Kind::kPipeline,
                   .job = state_.job(task.job).spec.name,
                   .pod = task.name,
                   .node = state_.node(node).name,
                   .hypernode = tree().at(domain).name,
                   .devices = std::move(devices)});
}

void Session::Commit(JobId job) {
  for (const TaskId id : state_.ChangedSince(0)) {
    const Task& task = state_.task(id);
    if (task.status == TaskStatus::kAllocated) binds_.push_back({id, task.node});
  }
  state_.Commit();
  if (tracing()) {
    Trace(StepRecord{.kind = StepRecord::Kind::kCommit,
                     .job = state_.job(job).spec.name,
                     .pod = "",
                     .node = "",
                     .hypernode = state_.job(job).allocated_hypernode});
  }
}

void Session::SetPhase(JobId job, JobPhase phase) {
  if (state_.job(job).phase == phase) return;
  state_.SetJobPhase(job, phase);
  phases_changed_ = true;
}

std::shared_ptr<const std::vector<CycleResult::Warning>> Session::ListWarnings() const {
  std::set<Warning> sorted;
  for (const auto& [job, its] : unbound_) sorted.insert(its.begin(), its.end());
  auto listed = std::make_shared<std::vector<CycleResult::Warning>>();
  for (const auto& [object, reason, message] : sorted) {
    listed->push_back({object, reason, message});
  }
  return listed;
}

CycleResult Session::Close() {
  CycleResult result;
  for (const TaskId id : state_.HeldTasks()) {
    const Task& task = state_.task(id);
    if (task.status == TaskStatus::kPipelined) result.pipelined.push_back({id, task.node});
  }
  state_.ReleaseHeld();
  MovePhases();
  result.binds = std::move(binds_);
  // A job all of whose pods are placed or on their way out waits for nothing.
  std::erase_if(verdicts_, [&](const auto& entry) {
    const TaskCounts& counts = state_.job(entry.first).counts;
    return counts.Total() > 0 && counts.Of(TaskStatus::kPending) == 0;
  });
  result.verdicts = std::move(verdicts_);
  if (warnings_ == nullptr) warnings_ = ListWarnings();
  result.warnings = warnings_;
  result.phases_changed = phases_changed_;
  trace_ = nullptr;
  return result;
}

}  // namespace strata
