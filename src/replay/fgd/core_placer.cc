#include "replay/fgd/core_placer.h"

#include <chrono>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ascii.h"
#include "base/check.h"
#include "model/cluster_state.h"
#include "model/gpu_amounts.h"
#include "sched/scheduler.h"

namespace strata::replay::fgd {
namespace {

constexpr std::int32_t kPerCent = 10;  // thousandths
constexpr std::int32_t kSlots = 100;   // pods that may share a GPU: shares are whole per cents
constexpr Amount kPlenty = Amount{1} << 40U;
constexpr const char* kPlugin = "fragmentation";
constexpr const char* kTypicalPodsKey = "fragmentation.typicalPods";
constexpr const char* kLastPodsKey = "fragmentation.lastPods";

std::vector<std::string> ModelNames(const PodKind& kind, const PodList& list) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kind.accepts.size(); ++i) {
    if (kind.accepts[i] != 0) names.push_back(LowerCase(list.models[i]));
  }
  return names;
}

SchedulerConfig WithTypicalPods(SchedulerConfig config, const PodList& list) {
  for (auto& tier : config.tiers) {
    for (PluginConfig& plugin : tier) {
      const bool says = plugin.arguments.Has(kTypicalPodsKey) || plugin.arguments.Has(kLastPodsKey);
      if (plugin.name == kPlugin && !says) {
        plugin.arguments.Set(kTypicalPodsKey, TypicalPodsText(list));
      }
    }
  }
  return config;
}

class CorePlacer final : public Placer {
 public:
  CorePlacer(const PodList& list, const Fabric& fabric, std::uint64_t seed)
      : list_(list), order_(NodeOrder(fabric, seed)) {
    gpu_ = state_.resource_names().Intern(kGpuResource);
  }

  Status Open(const SchedulerConfig& config, const Fabric& fabric) {
    for (const PodKind& kind : list_.kinds) {
      if (kind.milli % kPerCent == 0) continue;
      return Fail(Code::kInvalidArgument,
                  fmt::format("a share of {} thousandths of a GPU: the scheduler takes whole per "
                              "cents",
                              kind.milli));
    }
    state_.GrowTables();
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const auto added = state_.UpsertNode(NodeOf(fabric.nodes[order_[i]], i));
      if (!added) return tl::unexpected<Error>(added.error());
      if (index_.size() <= added->index()) index_.resize(added->index() + 1);
      index_[added->index()] = order_[i];
    }
    QueueSpec queue;
    queue.name = "default";
    state_.workload().UpsertQueue(std::move(queue));
    TRY_ASSIGN(Scheduler::Made made, Scheduler::Make(WithTypicalPods(config, list_), state_));
    scheduler_ = std::move(made.scheduler);
    return {};
  }

  std::optional<Placed> Place(std::uint32_t kind) override {
    const Time now{std::chrono::milliseconds(++pods_)};
    const JobId job = AddJob(now);
    const TaskId id = AddTask(job, kind, now);
    scheduler_->Open(now, nullptr);
    scheduler_->RunActions();
    static_cast<void>(scheduler_->Close());
    const Task& task = state_.workload().task(id);
    if (task.status != TaskStatus::kBinding) {
      state_.workload().RemoveJob(job);
      return std::nullopt;
    }
    state_.workload().SetTaskStatus(id, TaskStatus::kRunning);
    Placed placed{.node = index_[task.node.index()], .gpus = {}};
    const NodeGpus& gpus = *state_.nodes().spec(task.node).gpus;
    for (const auto& container : state_.workload().GpusOf(id).containers) {
      for (const GpuShare& share : container) {
        const auto at = gpus.Find(share.uuid);
        CHECK(at.has_value());
        placed.gpus.push_back(static_cast<std::int32_t>(*at));
      }
    }
    return placed;
  }

 private:
  NodeSpec NodeOf(const Fabric::Node& node, std::size_t place) const {
    NodeSpec spec;
    spec.name = fmt::format("node-{:07}", place);
    spec.allocatable.Set(gpu_, Amount{node.gpus} * kSlots * kWholeGpu);
    spec.allocatable.Set(kPods, kPlenty);
    spec.allocatable.Set(kCpu, node.cpu_milli > 0 ? node.cpu_milli : kPlenty);
    spec.allocatable.Set(kMemory, node.memory > 0 ? node.memory : kPlenty * 1000);
    spec.gpus.emplace();
    for (std::int32_t i = 0; i < node.gpus; ++i) {
      Gpu gpu;
      gpu.uuid = fmt::format("{}-{:02}", spec.name, i);
      gpu.index = i;
      gpu.slots = kSlots;
      gpu.memory_mib = 100;  // so that a per cent is one of them
      gpu.cores = 100;
      gpu.type = node.gpu_model;
      gpu.healthy = true;
      spec.gpus->gpus.push_back(std::move(gpu));
    }
    return spec;
  }

  JobId AddJob(Time now) {
    JobSpec spec;
    spec.name = fmt::format("fill/{:09}", pods_);
    spec.uid = spec.name;
    spec.queue = "default";
    spec.min_available = 1;
    spec.created = now;
    spec.phase = JobPhase::kInqueue;
    return state_.workload().UpsertJob(std::move(spec));
  }

  TaskId AddTask(JobId job, std::uint32_t number, Time now) {
    const PodKind& kind = list_.kinds[number];
    TaskSpec task;
    task.name = fmt::format("fill/{:09}-0", pods_);
    task.uid = task.name;
    task.job = job;
    task.created = now;
    ClassSpec& spec = task.constraints;
    spec.request.Set(kCpu, kind.cpu_milli);
    spec.request.Set(kMemory, kind.memory);
    spec.request.Set(kPods, 1);
    spec.nonzero_cpu = kind.cpu_milli;
    spec.nonzero_memory = kind.memory;
    if (kind.gpus > 0) {
      spec.request.Set(gpu_, Amount{kind.gpus} * kWholeGpu);
      spec.gpus.emplace();
      spec.gpus->policy.order = {GpuOrder::kBinpack};
      spec.gpus->use_types = ModelNames(kind, list_);
      spec.gpus->containers = {{.container = "main",
                                .init = false,
                                .count = kind.gpus,
                                .memory_mib = 0,
                                .memory_percent = kind.milli / kPerCent,
                                .cores = kind.milli / kPerCent}};
    }
    return state_.workload().AddTask(std::move(task));
  }

  const PodList& list_;
  std::vector<NodeIndex> order_;
  ClusterState state_;
  std::unique_ptr<Scheduler> scheduler_;
  ResourceId gpu_;
  std::vector<NodeIndex> index_;  // by NodeId
  std::int64_t pods_ = 0;
};

}  // namespace

std::string TypicalPodsText(const PodList& list) {
  std::string text;
  for (const TypicalPod& one : list.typical) {
    text += fmt::format("{}cpu={}m", text.empty() ? "" : "; ", one.kind.cpu_milli);
    if (one.kind.gpus > 0) text += fmt::format(",gpus={},milli={}", one.kind.gpus, one.kind.milli);
    const std::vector<std::string> models = ModelNames(one.kind, list);
    if (!models.empty()) text += fmt::format(",models={}", fmt::join(models, "|"));
    text += fmt::format(",weight={}", one.weight);
  }
  return text;
}

Result<std::unique_ptr<Placer>> MakeCorePlacer(const SchedulerConfig& config,
                                               const PodList& list,
                                               const Fabric& fabric,
                                               std::uint64_t seed) {
  auto placer = std::make_unique<CorePlacer>(list, fabric, seed);
  TRY(placer->Open(config, fabric));
  return Result<std::unique_ptr<Placer>>(std::move(placer));
}

}  // namespace strata::replay::fgd
