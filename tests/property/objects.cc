#include "tests/property/objects.h"

#include <utility>

#include "base/check.h"

namespace strata::testing {

std::unique_ptr<ClusterState> Objects::Make() const {
  auto state = std::make_unique<ClusterState>();
  for (std::size_t i = 0; i < resources.size(); ++i) {
    state->resource_names().Intern(resources.name(IdAt<ResourceId>(i)));
  }
  state->GrowTables();
  for (const auto& [name, spec] : queues) state->workload().UpsertQueue(spec);
  for (const auto& [name, spec] : hypernodes) state->UpsertHyperNode(spec);
  for (const auto& [name, spec] : nodes) CHECK(state->UpsertNode(spec).has_value());
  for (const auto& [name, spec] : jobs) state->workload().UpsertJob(spec);
  for (const auto& [name, pod] : tasks) {
    TaskSpec spec = pod.spec;
    spec.job = *state->workload().FindJob(pod.job);
    state->workload().AddTask(std::move(spec));
  }
  for (const auto& [name, notes] : noted) {
    const JobId id = *state->workload().FindJob(name);
    state->workload().SetAllocatedHyperNode(id, notes.job);
    for (std::size_t i = 0; i < state->workload().job(id).sub_jobs.size(); ++i) {
      const auto part = notes.parts.find(state->workload().job(id).sub_jobs[i].name);
      if (part != notes.parts.end()) state->workload().SetAllocatedHyperNode(id, i, part->second);
    }
  }
  return state;
}

void Objects::Follow(const ClusterState& state) {
  for (const TaskId id : state.workload().AllTasks()) {
    const Task& task = state.workload().task(id);
    TaskSpec& spec = tasks.at(task.name).spec;
    spec.status = task.status;
    if (task.node.valid()) spec.node_name = state.nodes().spec(task.node).name;
    spec.gpus = state.workload().GpusOf(id);
  }
  noted.clear();
  for (const JobId id : state.workload().jobs()) {
    const Job& job = state.workload().job(id);
    jobs.at(job.spec.name).phase = job.phase;
    Noted& notes = noted[job.spec.name];
    notes.job = job.allocated_hypernode;
    for (const SubJob& sub_job : job.sub_jobs) {
      const bool is_default = &sub_job == job.sub_jobs.data();
      if (is_default || sub_job.key) notes.parts[sub_job.name] = sub_job.allocated_hypernode;
    }
  }
}

}  // namespace strata::testing
