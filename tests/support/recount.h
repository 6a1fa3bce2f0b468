#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "model/cluster_state.h"
#include "model/constraints.h"
#include "model/gpu_amounts.h"

// Every sum a ClusterState keeps, counted again from its tasks and nodes by the table of
// docs/differences.md's source (Volcano's node accounting), without any of its code.
namespace strata::testing {

class Recount {
 public:
  explicit Recount(const ClusterState& state) : state_(state) {}

  // One line per sum that is not what it should be; "" when all is well.
  [[nodiscard]] std::string Mistakes() {
    for (const NodeId id : state_.nodes().all()) Node(id);
    for (std::size_t i = 0; i < state_.tree().hypernodes().size(); ++i) {
      HyperNode(IdAt<HyperNodeId>(i));
    }
    for (const QueueId id : state_.workload().queues()) Queue(id);
    for (const JobId id : state_.workload().jobs()) Job(id);
    Gpus();
    return std::move(mistakes_);
  }

 private:
  struct Sums {
    Resources used;
    Resources pipelined;
    Resources releasing;
    Resources counted;            // what `used` counts as
    Resources pipelined_counted;  // and `pipelined`
    Amount nonzero_cpu = 0;
    Amount nonzero_memory = 0;
    std::size_t tasks = 0;
    std::size_t ports = 0;
  };

  [[nodiscard]] const ClassSpec& ClassOf(const Task& task) const {
    return state_.classes().spec(task.class_id);
  }

  // ---- shares of GPUs, by the words of docs/gpu-topology.md
  [[nodiscard]] static Amount PartOf(const Gpu& gpu, std::int64_t memory_mib, std::int32_t cores) {
    const auto part = [](std::int64_t of, std::int64_t all) {
      Amount thousandths = 0;
      while (thousandths < 1000 && thousandths * all < of * 1000) ++thousandths;
      return thousandths;
    };
    return std::max(part(memory_mib, gpu.memory_mib), part(cores, gpu.cores));
  }
  // What the GPUs that it holds are together; none when the node does not know them.
  [[nodiscard]] static std::optional<Amount> HeldAmount(const GpuClaim& claim,
                                                        const NodeGpus& node) {
    if (claim.containers.empty()) return std::nullopt;
    Amount most = 0;
    Amount apps = 0;
    for (std::size_t i = 0; i < claim.containers.size(); ++i) {
      Amount sum = apps;
      for (const GpuShare& share : claim.containers[i]) {
        const auto gpu = std::find_if(node.gpus.begin(), node.gpus.end(), [&](const Gpu& one) {
          return one.uuid == share.uuid;
        });
        if (gpu == node.gpus.end()) return std::nullopt;
        sum += PartOf(*gpu, share.memory_mib, share.cores);
      }
      most = std::max(most, sum);
      if (!claim.IsInit(i)) apps = sum;
    }
    return most;
  }
  // The same on GPUs like this one that nobody else uses. No test has MIG here.
  [[nodiscard]] static std::optional<Amount> AskedAmount(const GpuRequest& pod, const Gpu& gpu) {
    GpuClaim claim;
    for (const ContainerGpuRequest& container : pod.containers) {
      const std::int64_t memory = container.memory_mib > 0
                                      ? container.memory_mib
                                      : gpu.memory_mib * container.memory_percent / 100;
      const bool serves = memory <= gpu.memory_mib && container.cores <= gpu.cores;
      if (container.count > 0 && !serves) return std::nullopt;
      if (container.init) claim.init_containers.push_back(claim.containers.size());
      claim.containers.emplace_back(
          static_cast<std::size_t>(container.count),
          GpuShare{.uuid = gpu.uuid, .memory_mib = memory, .cores = container.cores});
    }
    NodeGpus alone;
    alone.gpus = {gpu};
    return HeldAmount(claim, alone);
  }
  [[nodiscard]] std::optional<Amount> LargestAmount(const ClassSpec& spec) const {
    std::optional<Amount> most;
    for (const NodeId id : state_.nodes().all()) {
      const NodeSpec& node = state_.nodes().spec(id);
      if (!node.gpus) continue;
      if (!MatchesNode(spec.node_selector, spec.affinity, node.name, node.labels)) continue;
      for (const Gpu& gpu : node.gpus->gpus) {
        if (!IsWantedKind(*spec.gpus, gpu) || !IsWantedUuid(*spec.gpus, gpu)) continue;
        if (const auto one = AskedAmount(*spec.gpus, gpu)) most = std::max(most.value_or(0), *one);
      }
    }
    return most;
  }
  // Takes what is asked for by volcano.sh/vgpu-number out of the amounts: the GPUs in all.
  Amount MoveToGpus(ResourceId gpu, Resources& amounts) const {
    const auto vgpu = state_.resource_names().Find("volcano.sh/vgpu-number");
    const Amount vgpus = vgpu ? amounts.Get(*vgpu) : 0;
    if (vgpu) amounts.Set(*vgpu, 0);
    return amounts.Get(gpu) + vgpus;
  }
  [[nodiscard]] Resources CountedOf(TaskId id) const {
    const Task& task = state_.workload().task(id);
    const ClassSpec& spec = ClassOf(task);
    Resources counted = spec.request;
    const auto gpu = state_.resource_names().Find("nvidia.com/gpu");
    const bool volcano = spec.gpus && spec.gpus->dialect == GpuDialect::kVolcano;
    if (!spec.gpus || (!volcano && !spec.gpus->TakesShares()) || !gpu) return counted;
    std::optional<Amount> amount = LargestAmount(spec);
    if (task.node.valid()) {
      const auto& gpus = state_.nodes().spec(task.node).gpus;
      const auto held =
          gpus ? HeldAmount(state_.workload().GpusOf(id), *gpus) : std::optional<Amount>();
      const bool registered = gpus && (volcano ? gpus->volcano : gpus->hami).registered;
      if (held || !registered) amount = held;
    }
    const Amount asked = MoveToGpus(*gpu, counted);
    counted.Set(*gpu, std::min(amount.value_or(asked), asked));
    return counted;
  }
  [[nodiscard]] Resources CountedOf(const NodeSpec& spec) const {
    Resources counted = spec.allocatable;
    const auto gpu = state_.resource_names().Find("nvidia.com/gpu");
    if (!spec.gpus || !gpu) return counted;
    Amount serve = 0;
    for (const Gpu& one : spec.gpus->gpus) serve += one.healthy && !one.cordoned ? 1000 : 0;
    counted.Set(*gpu, std::min(serve, MoveToGpus(*gpu, counted)));
    return counted;
  }

  [[nodiscard]] Sums SumsOf(NodeId id) const {
    Sums sums;
    for (const TaskId task_id : state_.workload().AllTasks()) {
      const Task& task = state_.workload().task(task_id);
      if (task.node != id) continue;
      ++sums.tasks;
      const ClassSpec& spec = ClassOf(task);
      if (task.status == TaskStatus::kPipelined) {
        sums.pipelined.Add(spec.request);
        sums.pipelined_counted.Add(CountedOf(task_id));
        continue;
      }
      sums.used.Add(spec.request);
      sums.counted.Add(CountedOf(task_id));
      sums.nonzero_cpu += spec.nonzero_cpu;
      sums.nonzero_memory += spec.nonzero_memory;
      sums.ports += spec.host_ports.size();
      if (task.status == TaskStatus::kReleasing) sums.releasing.Add(spec.request);
    }
    return sums;
  }

  void Expect(const std::string& what, Amount kept, Amount counted) {
    if (kept == counted) return;
    mistakes_ += what + " is " + std::to_string(kept) + ", should be " + std::to_string(counted);
    mistakes_ += '\n';
  }
  void Expect(const std::string& what, std::span<const Amount> kept, const Resources& counted) {
    for (std::size_t i = 0; i < std::max(kept.size(), counted.size()); ++i) {
      const auto id = IdAt<ResourceId>(i);
      Expect(what + " " + state_.resource_names().name(id),
             i < kept.size() ? kept[i] : 0,
             counted.Get(id));
    }
  }

  // What each namespace holds of GPUs.
  void Gpus() {
    std::map<std::string, std::int64_t> held;
    for (const TaskId id : state_.workload().AllTasks()) {
      const std::string& name = state_.workload().task(id).name;
      for (const auto& shares : state_.workload().GpusOf(id).containers) {
        held[name.substr(0, name.find('/'))] += static_cast<std::int64_t>(shares.size());
      }
    }
    for (const auto& [ns, gpus] : held) {
      Expect("GPUs in " + ns, state_.workload().GpusIn(ns).gpus, gpus);
    }
  }

  void Node(NodeId id) {
    const std::string name = "node " + state_.nodes().spec(id).name;
    const Sums sums = SumsOf(id);
    Resources idle = state_.nodes().spec(id).allocatable;
    idle.Sub(sums.used);
    Resources future = idle;
    future.Add(sums.releasing);
    future.Sub(sums.pipelined);
    Expect(name + " open",
           static_cast<Amount>(state_.nodes().IsOpen(id)),
           static_cast<Amount>(state_.nodes().spec(id).taints.empty() &&
                               !state_.nodes().spec(id).unschedulable));
    Expect(
        name + " allocatable", state_.nodes().Allocatable(id), CountedOf(state_.nodes().spec(id)));
    Expect(name + " used", state_.nodes().Used(id), sums.counted);
    Expect(name + " idle", state_.nodes().Idle(id), idle);
    Expect(name + " future idle", state_.nodes().FutureIdle(id), future);
    Expect(name + " nonzero cpu", state_.nodes().NonzeroCpu(id), sums.nonzero_cpu);
    Expect(name + " nonzero memory", state_.nodes().NonzeroMemory(id), sums.nonzero_memory);
    Expect(name + " tasks",
           static_cast<Amount>(state_.nodes().TasksOn(id).size()),
           static_cast<Amount>(sums.tasks));
    Expect(name + " ports",
           static_cast<Amount>(state_.nodes().PortsInUse(id).size()),
           static_cast<Amount>(sums.ports));
  }

  void HyperNode(HyperNodeId id) {
    const std::string name = "HyperNode " + state_.tree().at(id).name;
    Resources allocatable;
    Resources used;
    Resources idle;
    Resources future;
    for (const NodeId node : state_.nodes().all()) {
      if (!state_.tree().Contains(id, node)) continue;
      const Sums sums = SumsOf(node);
      allocatable.Add(CountedOf(state_.nodes().spec(node)));
      used.Add(sums.counted);
      used.Add(sums.pipelined_counted);
      idle.Add(state_.nodes().spec(node).allocatable);
      idle.Sub(sums.used);
      future.Add(sums.releasing);
      future.Sub(sums.pipelined);
    }
    future.Add(idle);
    Expect(name + " allocatable", state_.sums().Allocatable(id), allocatable);
    Expect(name + " used", state_.sums().Used(id), used);
    Expect(name + " idle", state_.sums().Idle(id), idle);
    Expect(name + " future idle", state_.sums().FutureIdle(id), future);
  }

  [[nodiscard]] static bool Holds(TaskStatus status) {
    return IsAllocated(status) || status == TaskStatus::kPipelined;
  }

  void Queue(QueueId id) {
    const std::string name = "queue " + state_.workload().queue(id).spec.name;
    Resources allocated;
    Resources pending;
    for (const TaskId task_id : state_.workload().AllTasks()) {
      const Task& task = state_.workload().task(task_id);
      if (!task.job.valid() ||
          state_.workload().job(task.job).spec.queue != state_.workload().queue(id).spec.name) {
        continue;
      }
      if (Holds(task.status)) allocated.Add(CountedOf(task_id));
      const bool fits = ClassOf(task).request.FitsIn(state_.nodes().Largest());
      if (task.status == TaskStatus::kPending && fits) pending.Add(CountedOf(task_id));
    }
    Expect(name + " allocated", state_.workload().queue(id).allocated.amounts(), allocated);
    Expect(name + " pending", state_.workload().queue(id).pending.Clamped().amounts(), pending);
  }

  template <typename Belongs>
  void Counts(const std::string& name, const TaskCounts& kept, const Belongs& belongs) {
    TaskCounts counted;
    for (const TaskId id : state_.workload().AllTasks()) {
      const Task& task = state_.workload().task(id);
      if (!belongs(task)) continue;
      ++counted.by_status[static_cast<std::size_t>(task.status)];
      if (task.status == TaskStatus::kPending && ClassOf(task).request.IsBestEffort()) {
        ++counted.pending_best_effort;
      }
    }
    for (std::size_t i = 0; i < kTaskStatusCount; ++i) {
      Expect(
          name + " count of status " + std::to_string(i), kept.by_status[i], counted.by_status[i]);
    }
    Expect(name + " BestEffort", kept.pending_best_effort, counted.pending_best_effort);
  }

  void Job(JobId id) {
    const strata::Job& job = state_.workload().job(id);
    const std::string name = "job " + job.spec.name;
    Resources allocated;
    for (const TaskId task_id : state_.workload().AllTasks()) {
      const Task& task = state_.workload().task(task_id);
      if (task.job == id && Holds(task.status)) allocated.Add(CountedOf(task_id));
    }
    Expect(name + " allocated", job.allocated.amounts(), allocated);
    Counts(name, job.counts, [&](const Task& task) { return task.job == id; });
    for (std::uint32_t i = 0; i < job.sub_jobs.size(); ++i) {
      Counts(name + " sub-job " + job.sub_jobs[i].name,
             job.sub_jobs[i].counts,
             [&](const Task& task) { return task.job == id && task.sub_job == i; });
    }
    for (std::uint32_t i = 0; i < job.roles.size(); ++i) {
      Counts(name + " role " + job.roles[i].name, job.roles[i].counts, [&](const Task& task) {
        return task.job == id && task.role == i;
      });
    }
  }

  const ClusterState& state_;
  std::string mistakes_;
};

[[nodiscard]] inline std::string RecountMistakes(const ClusterState& state) {
  return Recount(state).Mistakes();
}

}  // namespace strata::testing
