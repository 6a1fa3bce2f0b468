#include "explain/explain.h"

#include <algorithm>
#include <set>
#include <utility>

#include "model/gpu_amounts.h"
#include "sched/plugins/deviceshare.h"
#include "whatif/changes.h"

namespace strata {
namespace {

constexpr std::string_view kInsufficient = "Insufficient ";

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
    if (reason.starts_with(kNoSuitableGpus)) add(kGpuResource);
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
    if (queue.valid() && out_.outcome.reason.starts_with("Queue")) {
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

Status Stopped(const std::stop_token& stop) {
  return stop.stop_requested() ? Status(Fail(Code::kUnavailable, "stopped")) : Status();
}

}  // namespace

Result<Explanation> ExplainJob(const ExplainQuery& query) {
  const objects::ObjectSet& objects = query.objects->objects;
  JobTrace trace(
      query.job,
      objects.nodes.size() * std::max<std::size_t>(objects.pods.size(), 1) <= kMaxNodeScores);
  RunOptions options = query.options;
  options.trace = &trace;
  TRY_ASSIGN(LoadedCluster cluster, LoadCompleted(*query.objects));
  TRY(Stopped(query.stop));
  TRY_ASSIGN(const RunResult result, RunCycles(cluster, *query.config, options));
  if (!result.jobs.contains(query.job)) {
    return Fail(Code::kNotFound, "there is no job " + query.job);
  }
  Explanation out = TellStory(result, trace.log(), query.job);
  // A job that would lose its pods runs until then; nobody asked what it would lack afterwards.
  if (out.outcome.reason.empty() || !out.evicted_for.empty()) return out;
  std::vector<Holder> holders = Holders(*query.objects, *cluster.state, out).Find();
  const Refusal verdict{out.outcome.reason, out.outcome.message};
  if (query.kept != nullptr) {
    if (const RelaxationReport* known = query.kept->Find(query.job, verdict)) {
      out.relaxations = *known;
      return out;
    }
  }
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

bool WasPlacedEarlier(const Explanation& explanation) {
  return explanation.cycle == 0 && explanation.outcome.reason.empty() &&
         explanation.outcome.phase == "Running";
}

Result<Explanation> ExplainPlacedAgain(const ExplainQuery& query) {
  CompletedObjects released = *query.objects;
  ReleaseGroup(released.objects, query.job);
  ExplainQuery again = query;
  again.objects = &released;
  return ExplainJob(again);
}

}  // namespace strata
