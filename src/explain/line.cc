#include "explain/line.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "convert/specs.h"
#include "whatif/cycle_trace.h"
#include "whatif/what_if.h"

namespace strata {
namespace {

// Keeps the order in which jobs started.
class StartTrace final : public CycleTrace {
 public:
  void BeginCycle(std::int32_t /*cycle*/) override {}
  void Record(TraceRecord record) override {
    const auto* step = std::get_if<StepRecord>(&record);
    if (step == nullptr || step->kind != StepRecord::Kind::kCommit) return;
    if (std::find(started_.begin(), started_.end(), step->job) != started_.end()) return;
    started_.push_back(step->job);
  }
  [[nodiscard]] bool WantsNodes() const override { return false; }
  [[nodiscard]] std::vector<std::string>& started() { return started_; }

 private:
  std::vector<std::string> started_;
};

}  // namespace

std::optional<Line> FindLine(const RunResult& result, const std::string& job) {
  for (const auto& [queue, line] : result.lines) {
    const auto at = std::find(line.begin(), line.end(), job);
    if (at == line.end()) continue;
    return Line{.queue = queue,
                .jobs = line,
                .position = static_cast<std::size_t>(at - line.begin()) + 1,
                .starts = {}};
  }
  return std::nullopt;
}

Result<std::vector<std::string>> FindStarts(const CompletedObjects& objects,
                                            const SchedulerConfig& config,
                                            const RunOptions& options,
                                            const RunResult& before) {
  const auto ends = [&](const std::string& group) {
    const auto job = before.jobs.find(group);
    if (job == before.jobs.end()) return false;
    // One that has its minimum runs, though more pods of it may wait.
    return job->second.reason.empty() || job->second.phase == "Running";
  };
  const Change end_all = [&](objects::ObjectSet& changed) {
    std::erase_if(changed.pods, [&](const objects::Pod& pod) { return ends(GroupOf(pod)); });
    std::erase_if(changed.pod_groups, [&](const objects::PodGroup& group) {
      return ends(objects::NamespacedName(group.meta));
    });
  };
  StartTrace trace;
  RunOptions quiet;
  quiet.now = options.now;
  quiet.trace = &trace;
  quiet.explain_only = "";
  TRY(WhatIf(objects, end_all, config, quiet));
  return std::move(trace.started());
}

}  // namespace strata
