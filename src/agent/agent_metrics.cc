#include "agent/agent_metrics.h"

#include <fmt/format.h>

namespace strata::agent {

void AgentMetrics::Count(const GpuWatch::Turned& turned) {
  for (const std::uint64_t xid : turned.xids) ++xids_[xid];
  for (const HealthChange& change : turned.changes) {
    if (change.after == Health::kUnhealthy) ++failures_[change.uuid];
  }
}

obs::Families AgentMetrics::Families() const {
  obs::Families families;
  auto& driver = families.emplace_back(obs::GaugeFamily(
      "strata_agent_driver_up", "1 when the driver of the GPUs can be asked, else 0"));
  obs::AddSample(driver, {}, driver_answers_ ? 1 : 0);
  auto healthy = obs::GaugeFamily("strata_agent_gpu_healthy", "1 for a GPU that new pods may get");
  auto memory = obs::GaugeFamily("strata_agent_gpu_memory_mib", "Memory of a GPU");
  if (machine_) {
    for (const Gpu& gpu : machine_->node.gpus) {
      const prometheus::Labels labels = {{"uuid", gpu.uuid},
                                         {"index", fmt::format("{}", gpu.index)}};
      obs::AddSample(healthy, labels, gpu.healthy ? 1 : 0);
      obs::AddSample(memory, labels, static_cast<double>(gpu.memory_mib));
    }
  }
  families.push_back(std::move(healthy));
  families.push_back(std::move(memory));
  auto& failures = families.emplace_back(
      obs::CounterFamily("strata_agent_gpu_failures_total", "How often a GPU became unhealthy"));
  for (const auto& [uuid, count] : failures_) {
    obs::AddSample(failures, {{"uuid", uuid}}, static_cast<double>(count));
  }
  auto& xids = families.emplace_back(obs::CounterFamily(
      "strata_agent_xids_total", "Critical errors that the driver reported, also ignored ones"));
  for (const auto& [xid, count] : xids_) {
    obs::AddSample(xids, {{"xid", fmt::format("{}", xid)}}, static_cast<double>(count));
  }
  auto& writes = families.emplace_back(obs::CounterFamily(
      "strata_agent_publications_total", "Times that the Node was brought up to date, or was not"));
  obs::AddSample(writes, {{"result", "success"}}, static_cast<double>(written_));
  obs::AddSample(writes, {{"result", "failure"}}, static_cast<double>(failed_));
  return families;
}

}  // namespace strata::agent
