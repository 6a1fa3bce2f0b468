#include "live/cache_dump.h"

#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "json/dump.h"
#include "model/amount_format.h"
#include "os/private_file.h"
#include "sched/need.h"

namespace strata::live {
namespace {

constexpr const char* kStatusWords[kTaskStatusCount] = {"Pending",
                                                        "Allocated",
                                                        "Pipelined",
                                                        "Binding",
                                                        "Bound",
                                                        "Running",
                                                        "Releasing",
                                                        "Succeeded",
                                                        "Failed",
                                                        "Unknown"};

std::string Amounts(const ClusterState& state, std::span<const Amount> amounts) {
  std::string text;
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    if (amounts[i] == 0) continue;
    const std::string& name = state.resource_names().name(IdAt<ResourceId>(i));
    text += (text.empty() ? "" : ", ") + FormatAmount(name, amounts[i]);
  }
  return text.empty() ? "nothing" : text;
}

// Exact, in the units of the state: milli-CPU, bytes, thousandths of everything else.
nlohmann::ordered_json AmountsJson(const ClusterState& state, std::span<const Amount> amounts) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    if (amounts[i] != 0) json[state.resource_names().name(IdAt<ResourceId>(i))] = amounts[i];
  }
  return json;
}

nlohmann::ordered_json JobJson(const ClusterState& state, const Job& job) {
  std::map<std::string, nlohmann::ordered_json> pods;
  for (const SubJob& sub_job : job.sub_jobs) {
    for (const TaskId id : sub_job.tasks) {
      const Task& task = state.workload().task(id);
      pods[task.name] = {{"status", kStatusWords[static_cast<std::size_t>(task.status)]},
                         {"node", task.node.valid() ? state.nodes().spec(task.node).name : ""}};
    }
  }
  return {{"queue", job.spec.queue},
          {"phase", ToString(job.phase)},
          {"minAvailable", job.spec.min_available},
          {"allocatedHyperNode", job.allocated_hypernode},
          {"pods", pods}};
}

void AddJob(const ClusterState& state, const Job& job, std::string& out) {
  out += fmt::format("job {} queue {} phase {} minimum {} in \"{}\"\n",
                     job.spec.name,
                     job.spec.queue,
                     ToString(job.phase),
                     job.spec.min_available,
                     job.allocated_hypernode);
  std::vector<std::string> lines;
  for (const SubJob& sub_job : job.sub_jobs) {
    for (const TaskId id : sub_job.tasks) {
      const Task& task = state.workload().task(id);
      lines.push_back(fmt::format("  pod {} {} {}\n",
                                  task.name,
                                  kStatusWords[static_cast<std::size_t>(task.status)],
                                  task.node.valid() ? state.nodes().spec(task.node).name : "-"));
    }
  }
  std::sort(lines.begin(), lines.end());
  for (const std::string& line : lines) out += line;
}

}  // namespace

std::string DescribeState(const ClusterState& state) {
  std::string out;
  std::vector<std::string> nodes;
  for (const NodeId id : state.nodes().all()) {
    nodes.push_back(fmt::format("node {} has {}; idle {}; {} pods\n",
                                state.nodes().spec(id).name,
                                Amounts(state, state.nodes().Allocatable(id)),
                                Amounts(state, FreeOn(state, id)),
                                state.nodes().TasksOn(id).size()));
  }
  std::sort(nodes.begin(), nodes.end());
  for (const std::string& node : nodes) out += node;
  for (const QueueId id : state.workload().queues()) {
    const Queue& queue = state.workload().queue(id);
    out += fmt::format("queue {} weight {} holds {}; waits for {}\n",
                       queue.spec.name,
                       queue.spec.weight,
                       Amounts(state, queue.allocated.amounts()),
                       Amounts(state, queue.pending.Clamped().amounts()));
  }
  for (const JobId id : state.workload().jobs()) AddJob(state, state.workload().job(id), out);
  return out;
}

std::string StateJson(const ClusterState& state) {
  using nlohmann::ordered_json;
  std::map<std::string, ordered_json> nodes;
  for (const NodeId id : state.nodes().all()) {
    nodes[state.nodes().spec(id).name] = {
        {"allocatable", AmountsJson(state, state.nodes().Allocatable(id))},
        {"idle", AmountsJson(state, FreeOn(state, id))},
        {"pods", state.nodes().TasksOn(id).size()}};
  }
  ordered_json queues = ordered_json::object();
  for (const QueueId id : state.workload().queues()) {
    const Queue& queue = state.workload().queue(id);
    queues[queue.spec.name] = {{"weight", queue.spec.weight},
                               {"allocated", AmountsJson(state, queue.allocated.amounts())},
                               {"pending", AmountsJson(state, queue.pending.Clamped().amounts())}};
  }
  ordered_json jobs = ordered_json::object();
  for (const JobId id : state.workload().jobs()) {
    jobs[state.workload().job(id).spec.name] = JobJson(state, state.workload().job(id));
  }
  const ordered_json all = {
      {"nodes", nodes}, {"queues", std::move(queues)}, {"jobs", std::move(jobs)}};
  return DumpPrettyJson(all) + "\n";
}

Result<std::string> WriteCacheDump(const ClusterState& state,
                                   DumpForm form,
                                   const std::string& folder,
                                   Time now) {
  const bool text = form == DumpForm::kText;
  return os::WriteNewPrivateFile(
      {.folder = folder,
       .prefix =
           fmt::format("{}-{}", text ? "strata-cache" : "snapshot", now.time_since_epoch().count()),
       .suffix = text ? ".txt" : ".json"},
      text ? DescribeState(state) : StateJson(state));
}

}  // namespace strata::live
