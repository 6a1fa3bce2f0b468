#include "live/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "live/blocked_gpus.h"
#include "report/fragmentation.h"
#include "report/gpu_sums.h"
#include "report/queue_report.h"
#include "report/topology_report.h"
#include "sched/eviction/settings.h"
#include "sched/need.h"

namespace strata::live {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using prometheus::BuildHistogram;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::Registry;

// `count` bounds from `first` to `last`, each larger than the previous one by the same factor.
Histogram::BucketBoundaries Bounds(double first, double last, int count) {
  double factor = last / first;
  // The root by halving: exact enough for bounds, and the same everywhere.
  double low = 1;
  double high = factor;
  for (int i = 0; i < 200; ++i) {
    factor = (low + high) / 2;
    double reached = first;
    for (int step = 1; step < count && reached <= last; ++step) reached *= factor;
    (reached > last ? high : low) = factor;
  }
  Histogram::BucketBoundaries bounds;
  for (double bound = first; static_cast<int>(bounds.size()) < count; bound *= factor) {
    bounds.push_back(bound);
  }
  return bounds;
}

Histogram::BucketBoundaries WaitBounds() {
  return Bounds(1, 1'000'000, 25);
}

Histogram& MakeHistogram(Registry& registry,
                         const char* name,
                         const char* help,
                         const Histogram::BucketBoundaries& bounds) {
  return BuildHistogram().Name(name).Help(help).Register(registry).Add({}, bounds);
}

}  // namespace

class SchedulerMetrics::Impl {
 public:
  // From the start, so that the first plan counts as an increase.
  Impl() {
    for (const std::string_view why : kBlockedWords) blocked_.Add({{"why", std::string(why)}});
    for (const char* action : {"preempt", "reclaim", "gangpreempt", "gangreclaim"}) {
      transactions_.Add({{"action", action}});
    }
  }

  void Record(const CycleTimer& timer,
              const CycleResult& result,
              const ClusterState& state,
              Time now) {
    e2e_.Observe(timer.total_ms());
    open_.Observe(timer.open_ms());
    actions_.Observe(timer.actions_ms());
    for (const auto& [action, ms] : timer.actions()) {
      action_latency_.Add({{"action", action}}, Bounds(1, 2000, 20)).Observe(ms);
    }
    unscheduled_jobs_.Set(static_cast<double>(result.verdicts.size()));
    unscheduled_.Increment(static_cast<double>(result.verdicts.size()));
    unscheduled_tasks_.Begin();
    waits_.clear();
    for (const auto& [id, verdict] : result.verdicts) {
      const Job& job = state.workload().job(id);
      waits_.emplace_back(id, verdict.reason);
      unscheduled_tasks_.Set({{"job_id", job.spec.name}}, job.counts.Of(TaskStatus::kPending));
    }
    unscheduled_tasks_.End();
    RecordWaiting(result, state);
    RecordPlaced(result, state, now);
    RecordEvictions(timer, result);
  }

  void RecordQueues(const ClusterState& state, const SchedulerConfig& config) {
    for (Gauges* gauges : QueueFamilies()) gauges->Begin();
    for (const QueueReport::Row& row : MakeQueueReport(state, config, {}).rows) {
      SetQueue(row, state.resource_names());
    }
    for (Gauges* gauges : QueueFamilies()) gauges->End();
  }

  void RecordHyperNodes(const ClusterState& state) {
    hypernode_gpus_.Begin();
    const ResourceNames& names = state.resource_names();
    const auto all = state.tree().hypernodes();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto id = IdAt<HyperNodeId>(i);
      if (id == state.tree().top() || !all[i].in_tree) continue;
      const std::int64_t used = GpusIn(names, state.sums().Used(id));
      const std::int64_t free = GpusIn(names, FreeBelow(state, id));
      if (used == 0 && free == 0) continue;  // it has none
      const std::string tier = std::to_string(all[i].tier);
      const auto set = [&](const char* use, std::int64_t gpus) {
        hypernode_gpus_.Set({{"hypernode", all[i].name}, {"tier", tier}, {"state", use}},
                            static_cast<double>(gpus));
      };
      set("used", used);
      set("free", free);
    }
    hypernode_gpus_.End();
  }

  void RecordFragmentation(const ClusterState& state, Time now) {
    const objects::ResourceList pod = DefaultPodShape(state);
    const auto report = MakeFragmentationReport(state, pod);
    if (!report) return;  // a shape of the cluster's own nodes
    const std::array<Gauges*, 4> families = {&largest_gang_, &placeable_, &rack_loss_, &gini_};
    for (Gauges* gauges : families) gauges->Begin();
    for (const FragmentationReport::Tier& tier : report->tiers) {
      const bool whole = &tier == &report->tiers.back();
      SetTier(tier, whole ? "cluster" : std::to_string(tier.tier), ShapeText(pod));
    }
    for (Gauges* gauges : families) gauges->End();
    stranded_.Set(report->stranded);
    fgd_.Set(report->fgd);
    RecordBlocked(state, report->free_gpus, now);
  }

  void CountBind() { scheduled_.Increment(); }
  void CountFailedBind() { errors_.Increment(); }
  void CountClaimEnd(const ClaimEnd& end) {
    if (end.kind == ClaimEnd::Kind::kInVain) in_vain_.Increment();
  }

  [[nodiscard]] std::string Text() const {
    return prometheus::TextSerializer().Serialize(registry_.Collect());
  }

 private:
  // Gauges that come and go with what they are labelled with.
  class Gauges {
   public:
    Gauges(Registry& registry, const char* name, const char* help)
        : family_(BuildGauge().Name(name).Help(help).Register(registry)) {}

    void Begin() { seen_.clear(); }
    void Set(const prometheus::Labels& labels, double value) {
      auto& gauge = known_[labels];
      if (gauge == nullptr) gauge = &family_.Add(labels);
      gauge->Set(value);
      seen_.insert(labels);
    }
    void End() {
      std::erase_if(known_, [this](const auto& entry) {
        if (seen_.contains(entry.first)) return false;
        family_.Remove(entry.second);
        return true;
      });
    }

   private:
    Family<Gauge>& family_;
    std::map<prometheus::Labels, Gauge*> known_;
    std::set<prometheus::Labels> seen_;
  };

  struct QueueGauges {
    QueueGauges(Registry& registry, const std::string& what, const std::string& help)
        : cpu(registry, ("volcano_queue_" + what + "_milli_cpu").c_str(), (help + " CPU").c_str()),
          memory(registry,
                 ("volcano_queue_" + what + "_memory_bytes").c_str(),
                 (help + " memory").c_str()),
          scalars(registry,
                  ("volcano_queue_" + what + "_scalar_resources").c_str(),
                  (help + " scalar resources").c_str()) {}
    Gauges cpu;
    Gauges memory;
    Gauges scalars;
  };

  static std::string ShapeText(const objects::ResourceList& pod) {
    std::string text;
    for (const auto& [name, amount] : pod) {
      text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, amount.ToString());
    }
    return text;
  }

  void SetTier(const FragmentationReport::Tier& figures,
               const std::string& tier,
               const std::string& pod) {
    largest_gang_.Set({{"tier", tier}, {"pod", pod}}, static_cast<double>(figures.largest_gang));
    gini_.Set({{"tier", tier}}, figures.gini);
    for (std::size_t i = 0; i < kGangSizes.size(); ++i) {
      const prometheus::Labels labels = {{"tier", tier}, {"k", std::to_string(kGangSizes[i])}};
      placeable_.Set(labels, static_cast<double>(figures.placeable[i]));
      rack_loss_.Set(labels, figures.rack_loss[i]);
    }
  }

  // Adds what jobs have asked for since the last time, and sees what they ask for now.
  void RecordBlocked(const ClusterState& state, std::int64_t free, Time now) {
    const double seconds =
        blocked_since_ ? std::max(std::chrono::duration<double>(now - *blocked_since_).count(), 0.0)
                       : 0.0;
    for (std::size_t i = 0; i < kBlockedKinds; ++i) {
      blocked_.Add({{"why", std::string(kBlockedWords[i])}})
          .Increment(static_cast<double>(blocked_gpus_[i]) * seconds);
    }
    blocked_since_ = now;
    blocked_gpus_ = {};
    for (const auto& [id, reason] : waits_) {
      const std::int64_t asked = WaitingGpus(state, id);
      blocked_gpus_[static_cast<std::size_t>(WhyBlocked(reason, asked, free))] += asked;
    }
  }

  // What the pending pods of a job ask for; 0 of a job that has gone since its cycle.
  static std::int64_t WaitingGpus(const ClusterState& state, JobId id) {
    const Job& job = state.workload().job(id);
    if (!job.alive) return 0;
    std::vector<TaskId> pending;
    for (const SubJob& sub_job : job.sub_jobs) {
      for (const TaskId task : sub_job.tasks) {
        if (state.workload().task(task).status == TaskStatus::kPending) pending.push_back(task);
      }
    }
    return GpusIn(state.resource_names(), SumOf(state, pending).counted().amounts());
  }

  void RecordWaiting(const CycleResult& result, const ClusterState& state) {
    std::map<std::pair<std::string, std::string>, int> jobs;  // by queue and reason
    for (const auto& [id, verdict] : result.verdicts) {
      ++jobs[{state.workload().job(id).spec.queue, verdict.reason}];
    }
    waiting_jobs_.Begin();
    for (const auto& [key, count] : jobs) {
      waiting_jobs_.Set({{"queue_name", key.first}, {"reason", key.second}}, count);
    }
    waiting_jobs_.End();
  }

  // From the making of a job to the cycle that placed it, and of each pod likewise.
  void RecordPlaced(const CycleResult& result, const ClusterState& state, Time now) {
    const auto ms_since = [now](Time begin) {
      return std::chrono::duration<double, std::milli>(now - begin).count();
    };
    std::set<JobId> placed;
    for (const CycleResult::Bind& bind : result.binds) {
      const Task& task = state.workload().task(bind.task);
      task_latency_.Observe(ms_since(task.created));
      placed.insert(task.job);
    }
    for (const JobId id : placed) {
      job_latency_.Observe(ms_since(state.workload().job(id).spec.created));
    }
  }

  void RecordEvictions(const CycleTimer& timer, const CycleResult& result) {
    claims_.Set(static_cast<double>(result.claims));
    for (const auto& [action, ms] : timer.actions()) {
      if (IsEvictionAction(action)) plan_seconds_.Observe(ms / 1000);
    }
    for (const CycleResult::EvictionPlan& plan : result.evictions) {
      transactions_.Add({{"action", plan.action}}).Increment();
      if (plan.action == "preempt" || plan.action == "gangpreempt") {
        preemption_attempts_.Increment();
        preemption_victims_.Set(static_cast<double>(plan.PodCount()));
      }
      for (const CycleResult::EvictionPlan::Victim& victim : plan.victims) {
        const bool gang = victim.unit == VictimUnit::Kind::kGang;
        victims_.Add({{"action", plan.action}, {"unit", gang ? "gang" : "surplus"}})
            .Increment(static_cast<double>(victim.tasks.size()));
      }
    }
  }

  static void SetAmounts(QueueGauges& gauges,
                         const ResourceNames& names,
                         const std::string& queue,
                         const strata::Amounts& amounts) {
    for (std::size_t i = 0; i < amounts.size(); ++i) {
      const auto id = IdAt<ResourceId>(i);
      const double amount = amounts[i];
      if (!std::isfinite(amount)) continue;  // without a limit
      if (id == kCpu || id == kMemory) {
        (id == kCpu ? gauges.cpu : gauges.memory).Set({{"queue_name", queue}}, amount);
      } else if (amount != 0) {
        gauges.scalars.Set({{"queue_name", queue}, {"resource", names.name(id)}}, amount);
      }
    }
  }

  void SetQueue(const QueueReport::Row& row, const ResourceNames& names) {
    SetAmounts(allocated_, names, row.name, row.allocated);
    SetAmounts(request_, names, row.name, row.request);
    if (row.deserved) SetAmounts(deserved_, names, row.name, *row.deserved);
    if (row.real_capability) SetAmounts(real_capacity_, names, row.name, *row.real_capability);
    strata::Amounts capacity(row.allocated.size(), std::numeric_limits<double>::infinity());
    for (const auto& [id, amount] : row.capability) {
      if (id.index() < capacity.size()) capacity[id.index()] = static_cast<double>(amount);
    }
    SetAmounts(capacity_, names, row.name, capacity);
    weight_.Set({{"queue_name", row.name}}, row.weight);
    if (row.share) share_.Set({{"queue_name", row.name}}, *row.share);
    if (row.deserved) {
      const bool overused = std::equal(row.deserved->begin(),
                                       row.deserved->end(),
                                       row.allocated.begin(),
                                       row.allocated.end(),
                                       std::less_equal<>());
      overused_.Set({{"queue_name", row.name}}, overused ? 1 : 0);
    }
  }

  std::vector<Gauges*> QueueFamilies() {
    std::vector<Gauges*> families = {&weight_, &share_, &overused_};
    for (QueueGauges* amounts : {&allocated_, &request_, &deserved_, &capacity_, &real_capacity_}) {
      families.insert(families.end(), {&amounts->cpu, &amounts->memory, &amounts->scalars});
    }
    return families;
  }

  Registry registry_;
  Histogram& e2e_ = MakeHistogram(registry_,
                                  "volcano_e2e_scheduling_latency_milliseconds",
                                  "Duration of a scheduling cycle, without binds",
                                  Bounds(1, 5000, 20));
  Histogram& open_ = MakeHistogram(registry_,
                                   "volcano_open_session_duration_milliseconds",
                                   "Duration of opening a session",
                                   Bounds(1, 5000, 20));
  Histogram& actions_ = BuildHistogram()
                            .Name("volcano_scheduling_stage_duration_milliseconds")
                            .Help("Duration of a stage of a cycle")
                            .Register(registry_)
                            .Add({{"stage", "actions"}}, Bounds(0.1, 500, 20));
  Family<Histogram>& action_latency_ = BuildHistogram()
                                           .Name("volcano_action_scheduling_latency_milliseconds")
                                           .Help("Duration of an action of a cycle")
                                           .Register(registry_);
  Histogram& job_latency_ =
      MakeHistogram(registry_,
                    "volcano_e2e_job_scheduling_latency_milliseconds",
                    "From the creation of a PodGroup to the cycle that placed it",
                    WaitBounds());
  Histogram& task_latency_ = MakeHistogram(registry_,
                                           "volcano_task_scheduling_latency_milliseconds",
                                           "From the creation of a pod to the cycle that placed it",
                                           WaitBounds());
  Family<prometheus::Counter>& attempts_ = BuildCounter()
                                               .Name("volcano_schedule_attempts_total")
                                               .Help("Scheduling attempts by result")
                                               .Register(registry_);
  prometheus::Counter& scheduled_ = attempts_.Add({{"result", "scheduled"}});
  prometheus::Counter& unscheduled_ = attempts_.Add({{"result", "unschedulable"}});
  prometheus::Counter& errors_ = attempts_.Add({{"result", "error"}});
  Gauge& unscheduled_jobs_ = BuildGauge()
                                 .Name("volcano_unschedule_job_count")
                                 .Help("Jobs that wait after the last cycle")
                                 .Register(registry_)
                                 .Add({});
  Gauges unscheduled_tasks_{
      registry_, "volcano_unschedule_task_count", "Pods that wait after the last cycle, by job"};
  Gauges waiting_jobs_{
      registry_, "strata_waiting_jobs", "Jobs that wait after the last cycle, by queue and reason"};
  Gauges hypernode_gpus_{registry_,
                         "strata_hypernode_gpus",
                         "GPUs below a HyperNode that are in use, and those that are free"};
  Gauges largest_gang_{
      registry_, "strata_largest_gang", "Pods of a shape that one HyperNode of a tier takes now"};
  Gauges placeable_{registry_,
                    "strata_placeable",
                    "Gangs of k pods that could start now, each in one HyperNode of a tier"};
  Gauges rack_loss_{registry_,
                    "strata_rack_loss",
                    "Share of the free slots that no gang of k pods can use in one HyperNode"};
  Gauges gini_{registry_, "strata_gini", "Gini coefficient of free slots over HyperNodes"};
  Gauge& stranded_ = BuildGauge()
                         .Name("strata_stranded")
                         .Help("Share of the free GPUs that are on nodes used in part")
                         .Register(registry_)
                         .Add({});
  Gauge& fgd_ = BuildGauge()
                    .Name("strata_fgd")
                    .Help("Idle GPUs that pods like the last ones cannot use, on average")
                    .Register(registry_)
                    .Add({});
  Family<prometheus::Counter>& blocked_ = BuildCounter()
                                              .Name("strata_blocked_gpu_seconds_total")
                                              .Help("GPU-seconds that waiting jobs asked for")
                                              .Register(registry_);
  std::vector<std::pair<JobId, std::string>> waits_;  // after the last cycle, with their reasons
  std::array<std::int64_t, kBlockedKinds> blocked_gpus_{};
  std::optional<Time> blocked_since_;
  Gauge& preemption_victims_ = BuildGauge()
                                   .Name("volcano_pod_preemption_victims")
                                   .Help("Pods that the last plan of preempt evicts")
                                   .Register(registry_)
                                   .Add({});
  prometheus::Counter& preemption_attempts_ =
      BuildCounter()
          .Name("volcano_total_preemption_attempts")
          .Help("Jobs for which preempt or gangpreempt evicted pods")
          .Register(registry_)
          .Add({});
  Family<prometheus::Counter>& transactions_ = BuildCounter()
                                                   .Name("volcano_eviction_transactions_total")
                                                   .Help("Plans of eviction by action")
                                                   .Register(registry_);
  Histogram& plan_seconds_ = MakeHistogram(registry_,
                                           "strata_eviction_plan_seconds",
                                           "Time that the actions that evict took in a cycle",
                                           Bounds(0.0001, 10, 20));
  Family<prometheus::Counter>& victims_ = BuildCounter()
                                              .Name("strata_eviction_victims_total")
                                              .Help("Pods evicted, by action and unit")
                                              .Register(registry_);
  Gauge& claims_ = BuildGauge()
                       .Name("strata_eviction_claims")
                       .Help("Jobs for which pods have gone or are going")
                       .Register(registry_)
                       .Add({});
  prometheus::Counter& in_vain_ = BuildCounter()
                                      .Name("strata_eviction_in_vain_total")
                                      .Help("Claims that ended although the job did not start")
                                      .Register(registry_)
                                      .Add({});
  Gauges weight_{registry_, "volcano_queue_weight", "Weight of a queue"};
  Gauges share_{
      registry_, "volcano_queue_share", "Share of a queue: allocated divided by deserved"};
  Gauges overused_{
      registry_, "volcano_queue_overused", "Whether a queue uses all that it deserves"};
  QueueGauges allocated_{registry_, "allocated", "Allocated to the jobs of a queue:"};
  QueueGauges request_{registry_, "request", "Requested by the jobs of a queue:"};
  QueueGauges deserved_{registry_, "deserved", "Deserved by a queue:"};
  QueueGauges capacity_{registry_, "capacity", "Limit of a queue by its spec:"};
  QueueGauges real_capacity_{registry_, "real_capacity", "Limit of a queue in this cluster:"};
};

SchedulerMetrics::SchedulerMetrics() : impl_(std::make_unique<Impl>()) {}
SchedulerMetrics::~SchedulerMetrics() = default;

void SchedulerMetrics::Record(const CycleTimer& timer,
                              const CycleResult& result,
                              const ClusterState& state,
                              Time now) {
  impl_->Record(timer, result, state, now);
}

void SchedulerMetrics::RecordQueues(const ClusterState& state, const SchedulerConfig& config) {
  impl_->RecordQueues(state, config);
}

void SchedulerMetrics::RecordHyperNodes(const ClusterState& state) {
  impl_->RecordHyperNodes(state);
}

void SchedulerMetrics::RecordFragmentation(const ClusterState& state, Time now) {
  impl_->RecordFragmentation(state, now);
}

void SchedulerMetrics::CountBind() {
  impl_->CountBind();
}

void SchedulerMetrics::CountFailedBind() {
  impl_->CountFailedBind();
}

void SchedulerMetrics::CountClaimEnd(const ClaimEnd& end) {
  impl_->CountClaimEnd(end);
}

std::string SchedulerMetrics::Text() const {
  return impl_->Text();
}

}  // namespace strata::live
