#include "explain/explain.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "convert/specs.h"
#include "explain/own_names.h"
#include "model/gpu_amounts.h"
#include "sched/devices/gpu_filter.h"
#include "sched/plugins/deviceshare.h"
#include "whatif/changes.h"

namespace strata {
namespace {

constexpr std::string_view kInsufficient = "Insufficient ";

// Whether the other jobs of the queue are what keeps the job back, or some of it.
bool IsAboutQueue(std::string_view reason) {
  return reason.starts_with("Queue") || reason == "ClusterFull" || reason == "GuaranteedToOthers";
}

// Keeps what is said about one job.
class JobTrace final : public CycleTrace {
 public:
  JobTrace(std::string job, bool nodes) : job_(std::move(job)), nodes_(nodes) {}

  void BeginCycle(std::int32_t cycle) override { log_.BeginCycle(cycle); }
  void Record(TraceRecord record) override {
    const bool ours = std::visit([&](const auto& one) { return one.job == job_; }, record);
    if (ours) log_.Record(std::move(record));
  }
  [[nodiscard]] bool WantsNodes() const override { return nodes_; }
  [[nodiscard]] const TraceLog& log() const { return log_; }

 private:
  std::string job_;
  bool nodes_;
  TraceLog log_;
};

// Resources that were short in the miss: in all, or on nodes that would take the pod otherwise.
std::set<ResourceId> ShortIn(const NearestMissRecord& miss, const ResourceNames& names) {
  std::set<ResourceId> ids;
  const auto add = [&](std::string_view name) {
    if (name == kVgpuResource) name = kGpuResource;  // what holders are counted by
    if (const auto id = names.Find(name)) ids.insert(*id);
  };
  for (const auto& [name, amount] : miss.short_of) add(name);
  for (const auto& [reason, nodes] : miss.nodes) {
    if (reason.starts_with(kNoSuitableGpus) && IsGpuShortage(reason)) add(kGpuResource);
    if (!reason.starts_with(kInsufficient)) continue;
    add(std::string_view(reason).substr(kInsufficient.size()));
  }
  return ids;
}

// What the pods of the job that wait ask for, `pods` aside.
std::set<ResourceId> AskedFor(const ClusterState& state, const Job& job) {
  std::set<ResourceId> ids;
  for (const SubJob& sub_job : job.sub_jobs) {
    for (const TaskId task : sub_job.tasks) {
      const Resources& counted = state.classes().counted(state.workload().task(task).class_id);
      for (const ResourceId id : NamedIn(state.resource_names(), counted)) {
        if (id != kPods && counted.Get(id) > 0) ids.insert(id);
      }
    }
  }
  return ids;
}

class Holders {
 public:
  Holders(const CompletedObjects& objects, const ClusterState& state, Explanation& out)
      : objects_(objects), state_(state), out_(out) {}

  // Fills in who holds what is short, and returns whom to try without: those at the nearest miss of
  // the highest tier first.
  std::vector<Holder> Find() {
    const auto job = state_.workload().FindJob(out_.job);
    if (!job) return {};
    std::set<ResourceId> all;
    for (Explanation::Miss& miss : out_.misses) {
      const auto resources = ShortIn(miss.record, state_.resource_names());
      all.insert(resources.begin(), resources.end());
      const auto domain = state_.tree().Find(miss.record.hypernode);
      if (domain && !resources.empty()) {
        miss.holders = HoldersBelow(state_, *domain, Query(resources));
      }
    }
    if (all.empty()) all = AskedFor(state_, state_.workload().job(*job));
    const QueueId queue = state_.workload().job(*job).queue;
    if (queue.valid() && IsAboutQueue(out_.outcome.reason)) {
      out_.queue = state_.workload().queue(queue).spec.name;
      out_.queue_holders = HoldersInQueue(state_, queue, Query(all));
    }
    AddAll(out_.queue_holders);
    for (auto miss = out_.misses.rbegin(); miss != out_.misses.rend(); ++miss) {
      AddAll(miss->holders);
    }
    const std::vector<Holder> everywhere = HoldersBelow(state_, state_.tree().top(), Query(all));
    AddAll(everywhere);
    out_.holders = order_.size();
    for (const Holder& holder : everywhere) whole_.insert_or_assign(holder.name, holder);
    std::vector<Holder> holders;  // as a whole, not only what they hold in one place
    for (const Holder& holder : order_) {
      const auto known = whole_.find(holder.name);
      holders.push_back(known == whole_.end() ? holder : known->second);
    }
    return holders;
  }

 private:
  [[nodiscard]] HolderQuery Query(const std::set<ResourceId>& resources) const {
    return {.resources = {resources.begin(), resources.end()},
            .except = out_.job,
            .made_groups = &objects_.made_groups};
  }

  void AddAll(const std::vector<Holder>& holders) {
    for (const Holder& holder : holders) {
      if (known_.insert(holder.name).second) order_.push_back(holder);
    }
  }

  const CompletedObjects& objects_;
  const ClusterState& state_;
  Explanation& out_;
  std::vector<Holder> order_;
  std::set<std::string> known_;
  std::map<std::string, Holder> whole_;
};

// Everybody whom the story names.
void NameAll(const CompletedObjects& objects, Explanation& out) {
  const OwnNames own(objects);
  const auto add = [&](const std::string& group) {
    if (own.Of(group) != group) out.own_names.emplace(group, own.Of(group));
  };
  const auto add_holders = [&](const std::vector<Holder>& holders) {
    for (const Holder& holder : holders) add(holder.name);
  };
  const auto add_plan = [&](const RunResult::Evictions& plan) {
    add(plan.claimant);
    for (const RunResult::Evictions::Victim& victim : plan.victims) add(victim.job);
  };
  add(out.job);
  add_holders(out.queue_holders);
  for (const Explanation::Miss& miss : out.misses) add_holders(miss.holders);
  for (const Explanation::Plan& plan : out.evictions) {
    add_plan(plan.evictions);
    for (const EvictionRecord::Protected& kept : plan.choice.kept) add(kept.job);
  }
  for (const RunResult::Evictions& plan : out.evicted_for) add_plan(plan);
  if (!out.line) return;
  for (const std::string& group : out.line->jobs) add(group);
  for (const std::string& group : out.line->starts) add(group);
}

// Whether the pod exists in the run alone.
bool IsMadeUp(const CompletedObjects& objects, const std::string& pod) {
  const auto& pods = objects.objects.pods;
  return std::any_of(pods.begin(), pods.end(), [&](const objects::Pod& one) {
    return !one.meta.origin.empty() && objects::NamespacedName(one.meta) == pod;
  });
}

bool IsLive(const ExplainQuery& query) {
  return query.source == ExplainQuery::Source::kRunningCluster;
}

// What there is of a job that has its minimum, and waits for the rest.
std::optional<Explanation::Part> FindPart(const ExplainQuery& query,
                                          const RunResult& result,
                                          const Explanation& story) {
  if (story.outcome.reason.empty() || story.outcome.phase != "Running") return std::nullopt;
  const Reality reality = FindReality(*query.objects, query.job);
  Explanation::Part part{.wanted = reality.wanted,
                         .needed = reality.needed,
                         .placed = reality.placed,
                         .ended = reality.ended};
  if (!IsLive(query)) {
    for (const objects::Pod& pod : query.objects->objects.pods) {
      if (GroupOf(pod) != query.job || !pod.spec.node_name.empty()) continue;
      if (!result.binds.contains(objects::NamespacedName(pod.meta))) continue;
      ++part.placed;
      part.expected = true;
    }
  }
  const bool runs = part.placed > 0 && part.placed >= part.needed && part.placed < part.wanted;
  return runs ? std::optional(part) : std::nullopt;
}

// What keeps pods from being made or looked at comes before what the run says of room. True when
// that is why the job waits.
bool TellObstacles(const ExplainQuery& query, Explanation& out) {
  if (IsLive(query)) out.obstacles = FindMissingClasses(*query.objects, query.job);
  std::vector<Obstacle> unserved = FindUnserved(*query.objects, query.job);
  std::move(unserved.begin(), unserved.end(), std::back_inserter(out.obstacles));
  if (out.obstacles.empty()) return false;
  const auto& reality = out.reality;
  const bool waits = reality ? reality->placed < reality->needed : !out.outcome.reason.empty();
  std::size_t told = 0;
  if (waits && !out.part) {
    // That there are no pods says the same.
    if (!out.outcome.reason.empty() && !out.outcome.reason.starts_with("NotEnough")) {
      out.notes.push_back(fmt::format(
          "apart from that it waits ({}): {}", out.outcome.reason, out.outcome.message));
    }
    out.outcome = {.phase = reality ? reality->phase : out.outcome.phase,
                   .allocated_hypernode = "",
                   .tier = 0,
                   .reason = out.obstacles.front().reason,
                   .message = out.obstacles.front().message};
    out.searches.clear();
    out.misses.clear();
    out.pods.clear();
    told = 1;
  }
  for (std::size_t i = told; i < out.obstacles.size(); ++i) {
    out.notes.push_back(out.obstacles[i].message);
  }
  return told > 0;
}

Status Stopped(const std::stop_token& stop) {
  return stop.stop_requested() ? Status(Fail(Code::kUnavailable, "stopped")) : Status();
}

enum class Starts : std::uint8_t { kFind, kSkip };

[[nodiscard]] Result<Explanation> ExplainWith(const ExplainQuery& query, Starts starts) {
  const objects::ObjectSet& objects = query.objects->objects;
  JobTrace trace(
      query.job,
      objects.nodes.size() * std::max<std::size_t>(objects.pods.size(), 1) <= kMaxNodeScores);
  RunOptions options = query.options;
  options.trace = &trace;
  options.explain_only = query.job;
  TRY_ASSIGN(LoadedCluster cluster, LoadCompleted(*query.objects));
  TRY(Stopped(query.stop));
  TRY_ASSIGN(const RunResult result, RunCycles(cluster, *query.config, options));
  if (!result.jobs.contains(query.job)) {
    return Fail(Code::kNotFound, "there is no job " + query.job);
  }
  Explanation out = TellStory(result, trace.log(), query.job);
  if (IsLive(query)) out.reality = FindReality(*query.objects, query.job);
  out.part = FindPart(query, result, out);
  const Refusal verdict{out.outcome.reason, out.outcome.message};
  const bool blocked = TellObstacles(query, out);
  // A job that would lose its pods runs until then; nobody asked what it would lack afterwards.
  const bool waits = !out.outcome.reason.empty() && out.evicted_for.empty();
  std::vector<Holder> holders;
  if (waits && !blocked) holders = Holders(*query.objects, *cluster.state, out).Find();
  if (waits) out.line = FindLine(result, query.job);
  if (out.line && !blocked && starts == Starts::kFind) {
    TRY_ASSIGN(out.line->starts, FindStarts(*query.objects, *query.config, query.options, result));
    TRY(Stopped(query.stop));
  }
  NameAll(*query.objects, out);
  if (!waits) return out;
  if (blocked) {  // no change of anything else helps
    out.relaxations.emplace();
    if (query.kept != nullptr) query.kept->Keep(query.job, verdict, *out.relaxations);
    return out;
  }
  if (query.kept != nullptr) {
    if (const RelaxationReport* known = query.kept->Find(query.job, verdict)) {
      out.relaxations = *known;
      return out;
    }
  }
  if (query.early) query.early(out);
  out.relaxations = FindRelaxations({.objects = query.objects,
                                     .config = query.config,
                                     .options = query.options,
                                     .job = query.job,
                                     .before = &result,
                                     .state = cluster.state.get(),
                                     .holders = std::move(holders),
                                     .progress = query.progress,
                                     .stop = query.stop});
  TRY(Stopped(query.stop));
  if (query.kept != nullptr) query.kept->Keep(query.job, verdict, *out.relaxations);
  return out;
}

}  // namespace

Result<Explanation> ExplainJob(const ExplainQuery& query) {
  return ExplainWith(query, Starts::kSkip);
}

Result<Explanation> ExplainSubject(const ExplainQuery& query,
                                   const Subject& subject,
                                   const ClusterState& state) {
  const Time now = query.options.now.value_or(query.objects->latest);
  Explanation out;
  if (const auto told = TellWithoutRun(*query.objects, state, subject, now)) {
    out.job = subject.groups.empty() ? subject.name : subject.groups.front();
    out.ended = told->sentence;
    out.outcome.phase = told->phase;
  } else {
    ExplainQuery of_group = query;
    of_group.job = subject.groups.front();
    Result<Explanation> story = ExplainWith(of_group, Starts::kFind);
    if (!story && story.error().code == Code::kNotFound) {
      // A run lets the PodGroup of a pod go together with the pod.
      return Fail(Code::kNotFound,
                  fmt::format("{} {} is being deleted", subject.kind, subject.name));
    }
    TRY_ASSIGN(out, std::move(story));
    out.heading = TellSubject(*query.objects, subject);
    if (subject.kind == "Pod" && IsLive(query) && IsMadeUp(*query.objects, subject.name)) {
      out.heading = fmt::format("Pod {} does not exist yet.", subject.name);
    }
  }
  out.subject_kind = subject.kind;
  out.subject = subject.name;
  return out;
}

bool SaysNothingNew(const Explanation& explanation,
                    std::string_view reason,
                    std::string_view message) {
  static constexpr std::array<std::string_view, 4> kVerdicts = {
      "Unschedulable", "PodGroupPending", "FailedScheduling", "SchedulerNotFound"};
  if (std::find(kVerdicts.begin(), kVerdicts.end(), reason) != kVerdicts.end()) return true;
  const auto has = [&](const std::string& text) {
    return !text.empty() && message.find(text) != std::string_view::npos;
  };
  return has(explanation.outcome.message) ||
         std::any_of(explanation.obstacles.begin(),
                     explanation.obstacles.end(),
                     [&](const Obstacle& obstacle) {
                       return obstacle.reason == "PriorityClassNotFound" && has("PriorityClass") &&
                              has(obstacle.name);
                     });
}

bool IsForecast(const Explanation& explanation) {
  const auto& reality = explanation.reality;
  return reality && explanation.outcome.reason.empty() && reality->placed < reality->wanted;
}

bool WasPlacedEarlier(const Explanation& explanation) {
  return explanation.cycle == 0 && explanation.outcome.reason.empty() &&
         explanation.outcome.phase == "Running" && !IsForecast(explanation);
}

Result<Explanation> ExplainPlacedAgain(const ExplainQuery& query) {
  CompletedObjects released = *query.objects;
  ReleaseGroup(released.objects, query.job);
  ExplainQuery again = query;
  again.objects = &released;
  return ExplainJob(again);
}

}  // namespace strata
