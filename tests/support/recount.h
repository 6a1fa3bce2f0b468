#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "model/cluster_state.h"

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
    Amount nonzero_cpu = 0;
    Amount nonzero_memory = 0;
    std::size_t tasks = 0;
    std::size_t ports = 0;
  };

  [[nodiscard]] const ClassSpec& ClassOf(const Task& task) const {
    return state_.classes().spec(task.class_id);
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
        continue;
      }
      sums.used.Add(spec.request);
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
        name + " allocatable", state_.nodes().Allocatable(id), state_.nodes().spec(id).allocatable);
    Expect(name + " used", state_.nodes().Used(id), sums.used);
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
      allocatable.Add(state_.nodes().spec(node).allocatable);
      used.Add(sums.used);
      used.Add(sums.pipelined);
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
      if (Holds(task.status)) allocated.Add(ClassOf(task).request);
      const bool fits = ClassOf(task).request.FitsIn(state_.nodes().Largest());
      if (task.status == TaskStatus::kPending && fits) pending.Add(ClassOf(task).request);
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
      if (task.job == id && Holds(task.status)) allocated.Add(ClassOf(task).request);
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
