// Any manifests, with a configuration among them or without, give one error line, or a simulation
// that ends, binds pods to nodes that exist, and gives the same bytes when it is run again with a
// listener, for whom every node is scored.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "convert/scheduler_conf.h"
#include "objects/load.h"
#include "sched/config.h"
#include "simulate/render_data.h"
#include "whatif/run.h"

namespace strata {
namespace {

constexpr std::int64_t kMaxPods = 200;  // a Job of a million pods is legal, and slow
constexpr std::int32_t kCycles = 5;

bool IsSmall(const objects::ObjectSet& set) {
  std::int64_t pods = 0;
  for (const objects::Job& job : set.jobs) {
    for (const objects::JobTask& task : job.tasks) pods += task.replicas;
  }
  return pods <= kMaxPods;
}

// What a ConfigMap among the objects holds, where it can be used; else the default.
SchedulerConfig ConfigOf(const objects::ObjectSet& set) {
  for (const objects::ConfigMap& map : set.config_maps) {
    const auto text = map.data.find("volcano-scheduler.conf");
    if (text == map.data.end()) continue;
    auto conf = ParseSchedulerConf({"fuzz.conf", text->second});
    if (conf) return std::move(conf->config);
  }
  return DefaultSchedulerConfig();
}

class Listener final : public CycleTrace {
 public:
  void BeginCycle(std::int32_t /*cycle*/) override {}
  void Record(TraceRecord /*record*/) override {}
};

// What simulate prints; nothing when the objects are refused or too many.
std::optional<std::string> Simulate(const std::string& text, CycleTrace* trace) {
  auto objects = objects::ParseObjects(std::vector<objects::Source>{{"fuzz.yaml", text}});
  if (!objects || !IsSmall(*objects)) return std::nullopt;
  const SchedulerConfig config = ConfigOf(*objects);
  auto cluster = BuildCluster(std::move(*objects));
  if (!cluster) {
    CHECK(cluster.error().message.find('\n') == std::string::npos);
    return std::nullopt;
  }
  RunOptions options;
  options.cycles = kCycles;
  options.trace = trace;
  const auto result = RunCycles(*cluster, config, options);
  CHECK(result.has_value());
  for (const auto& [pod, node] : result->binds) {
    CHECK(cluster->state->nodes().Find(node).has_value());
  }
  for (const auto& [name, job] : result->jobs) {
    CHECK(job.message.find('\n') == std::string::npos);
    CHECK(job.reason.empty() == job.message.empty());
  }
  return RenderJson(*result);
}

}  // namespace
}  // namespace strata

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  strata::Listener listener;
  CHECK(strata::Simulate(text, nullptr) == strata::Simulate(text, &listener));
  return 0;
}
