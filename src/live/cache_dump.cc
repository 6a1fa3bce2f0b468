#include "live/cache_dump.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <span>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "model/amount_format.h"

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
      const Task& task = state.task(id);
      lines.push_back(fmt::format("  pod {} {} {}\n",
                                  task.name,
                                  kStatusWords[static_cast<std::size_t>(task.status)],
                                  task.node.valid() ? state.node(task.node).name : "-"));
    }
  }
  std::sort(lines.begin(), lines.end());
  for (const std::string& line : lines) out += line;
}

}  // namespace

std::string DescribeState(const ClusterState& state) {
  std::string out;
  std::vector<std::string> nodes;
  for (const NodeId id : state.nodes()) {
    nodes.push_back(fmt::format("node {} has {}; idle {}; {} pods\n",
                                state.node(id).name,
                                Amounts(state, state.Allocatable(id)),
                                Amounts(state, state.Idle(id)),
                                state.TasksOn(id).size()));
  }
  std::sort(nodes.begin(), nodes.end());
  for (const std::string& node : nodes) out += node;
  for (const QueueId id : state.queues()) {
    const Queue& queue = state.queue(id);
    out += fmt::format("queue {} weight {} holds {}; waits for {}\n",
                       queue.spec.name,
                       queue.spec.weight,
                       Amounts(state, queue.allocated.amounts()),
                       Amounts(state, queue.pending.amounts()));
  }
  for (const JobId id : state.jobs()) AddJob(state, state.job(id), out);
  return out;
}

Result<std::string> WriteCacheDump(const ClusterState& state, const std::string& folder, Time now) {
  std::string path = fmt::format("{}/strata-cache-{}.txt", folder, now.time_since_epoch().count());
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (file) file << DescribeState(state) << std::flush;
  if (!file) {
    return Fail(Code::kUnavailable, path + ": " + std::generic_category().message(errno));
  }
  return path;
}

}  // namespace strata::live
