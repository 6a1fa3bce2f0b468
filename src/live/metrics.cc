#include "live/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <map>
#include <set>
#include <utility>

namespace strata::live {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using prometheus::BuildHistogram;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::Registry;

// `count` bounds from `first` to `last`, each larger than the one before by the same factor.
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

Histogram& MakeHistogram(Registry& registry,
                         const char* name,
                         const char* help,
                         const Histogram::BucketBoundaries& bounds) {
  return BuildHistogram().Name(name).Help(help).Register(registry).Add({}, bounds);
}

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

}  // namespace

class SchedulerMetrics::Impl {
 public:
  void Record(const CycleTimer& timer, const CycleResult& result, const ClusterState& state) {
    e2e_.Observe(timer.total_ms());
    open_.Observe(timer.open_ms());
    actions_.Observe(timer.actions_ms());
    unscheduled_jobs_.Set(static_cast<double>(result.verdicts.size()));
    unscheduled_.Increment(static_cast<double>(result.verdicts.size()));
    unscheduled_tasks_.Begin();
    for (const auto& [id, verdict] : result.verdicts) {
      const Job& job = state.job(id);
      unscheduled_tasks_.Set({{"job_id", job.spec.name}}, job.counts.Of(TaskStatus::kPending));
    }
    unscheduled_tasks_.End();
    RecordQueues(state);
  }

  void CountBind() { scheduled_.Increment(); }
  void CountFailedBind() { errors_.Increment(); }

  [[nodiscard]] std::string Text() const {
    return prometheus::TextSerializer().Serialize(registry_.Collect());
  }

 private:
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

  static void Set(QueueGauges& gauges,
                  const ClusterState& state,
                  const std::string& queue,
                  const Resources& amounts) {
    gauges.cpu.Set({{"queue_name", queue}}, static_cast<double>(amounts.Get(kCpu)));
    gauges.memory.Set({{"queue_name", queue}}, static_cast<double>(amounts.Get(kMemory)));
    for (std::size_t i = 0; i < amounts.size(); ++i) {
      const auto id = IdAt<ResourceId>(i);
      if (id == kCpu || id == kMemory || amounts.Get(id) == 0) continue;
      gauges.scalars.Set({{"queue_name", queue}, {"resource", state.resource_names().name(id)}},
                         static_cast<double>(amounts.Get(id)));
    }
  }

  void RecordQueues(const ClusterState& state) {
    Gauges* const all[] = {&weight_,
                           &allocated_.cpu,
                           &allocated_.memory,
                           &allocated_.scalars,
                           &request_.cpu,
                           &request_.memory,
                           &request_.scalars};
    for (Gauges* gauges : all) gauges->Begin();
    for (const QueueId id : state.queues()) {
      const Queue& queue = state.queue(id);
      Resources request = queue.allocated;
      request.Add(queue.pending);
      Set(allocated_, state, queue.spec.name, queue.allocated);
      Set(request_, state, queue.spec.name, request);
      weight_.Set({{"queue_name", queue.spec.name}}, queue.spec.weight);
    }
    for (Gauges* gauges : all) gauges->End();
  }

  Registry registry_;
  Histogram& e2e_ = MakeHistogram(registry_,
                                  "volcano_e2e_scheduling_latency_milliseconds",
                                  "Time of a scheduling cycle, without binding",
                                  Bounds(1, 5000, 20));
  Histogram& open_ = MakeHistogram(registry_,
                                   "volcano_open_session_duration_milliseconds",
                                   "Time to open a session",
                                   Bounds(1, 5000, 20));
  Histogram& actions_ = BuildHistogram()
                            .Name("volcano_scheduling_stage_duration_milliseconds")
                            .Help("Time of a stage of a cycle")
                            .Register(registry_)
                            .Add({{"stage", "actions"}}, Bounds(0.1, 500, 20));
  Family<prometheus::Counter>& attempts_ = BuildCounter()
                                               .Name("volcano_schedule_attempts_total")
                                               .Help("Attempts to schedule, by what came of them")
                                               .Register(registry_);
  prometheus::Counter& scheduled_ = attempts_.Add({{"result", "scheduled"}});
  prometheus::Counter& unscheduled_ = attempts_.Add({{"result", "unschedulable"}});
  prometheus::Counter& errors_ = attempts_.Add({{"result", "error"}});
  Gauge& unscheduled_jobs_ = BuildGauge()
                                 .Name("volcano_unschedule_job_count")
                                 .Help("Jobs that could not be scheduled")
                                 .Register(registry_)
                                 .Add({});
  Gauges unscheduled_tasks_{
      registry_, "volcano_unschedule_task_count", "Tasks that could not be scheduled, by job"};
  Gauges weight_{registry_, "volcano_queue_weight", "Weight of a queue"};
  QueueGauges allocated_{registry_, "allocated", "What the jobs of a queue hold:"};
  QueueGauges request_{registry_, "request", "What the jobs of a queue ask for:"};
};

SchedulerMetrics::SchedulerMetrics() : impl_(std::make_unique<Impl>()) {}
SchedulerMetrics::~SchedulerMetrics() = default;

void SchedulerMetrics::Record(const CycleTimer& timer,
                              const CycleResult& result,
                              const ClusterState& state) {
  impl_->Record(timer, result, state);
}

void SchedulerMetrics::CountBind() {
  impl_->CountBind();
}

void SchedulerMetrics::CountFailedBind() {
  impl_->CountFailedBind();
}

std::string SchedulerMetrics::Text() const {
  return impl_->Text();
}

}  // namespace strata::live
