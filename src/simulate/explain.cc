#include "simulate/explain.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace strata {
namespace {

constexpr std::size_t kShownNames = 6;

// "s0, s1 and 8 more".
std::string NameSome(const std::vector<std::string>& names) {
  std::string text;
  const std::size_t shown = std::min(names.size(), kShownNames);
  for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

const std::string& JobOf(const TraceRecord& record) {
  return std::visit([](const auto& known) -> const std::string& { return known.job; }, record);
}

std::int32_t LastCycleOf(const TraceLog& trace, const std::string& job) {
  std::int32_t cycle = 0;
  for (const TraceLog::Entry& entry : trace.entries()) {
    if (JobOf(entry.record) == job) cycle = entry.cycle;
  }
  return cycle;
}

// What one cycle did with one job, told record by record.
class Story {
 public:
  void operator()(const GradientRecord& record) {
    lines_.push_back(
        fmt::format("  {}the search began at {}", SubJob(record.sub_job), record.root));
    for (const GradientRecord::Tier& tier : record.tiers) {
      if (!tier.eligible.empty()) {
        lines_.push_back(fmt::format("    tier {}: open: {}", tier.tier, NameSome(tier.eligible)));
      }
      std::map<std::string, std::vector<std::string>> by_reason;
      for (const GradientRecord::Rejected& entry : tier.rejected) {
        by_reason[entry.reason].push_back(entry.hypernode);
      }
      for (const auto& [reason, names] : by_reason) {
        lines_.push_back(
            fmt::format("    tier {}: ruled out: {}: {}", tier.tier, NameSome(names), reason));
      }
    }
  }

  void operator()(const HyperNodeScoreRecord& record) {
    if (!record.failed.empty()) {
      lines_.push_back(fmt::format("  {}tried, but the gang did not fit: {}",
                                   SubJob(record.sub_job),
                                   NameSome(record.failed)));
    }
    if (record.chosen.empty()) return;
    const auto score = record.total.find(record.chosen);
    lines_.push_back(fmt::format("  {}chosen: {} (score {:.3f}, {} of its tier compared)",
                                 SubJob(record.sub_job),
                                 record.chosen,
                                 score == record.total.end() ? 0.0 : ToDouble(score->second),
                                 record.total.size()));
  }

  void operator()(const NodeScoreRecord& record) { static_cast<void>(record); }

  void operator()(const RejectRecord& record) {
    rejected_[fmt::format("{}: {}", record.plugin, record.reason)].insert(record.node);
  }

  void operator()(const StepRecord& record) {
    if (record.kind == StepRecord::Kind::kAllocate) {
      placed_.push_back({record.pod, record.node, DevicesOf(record)});
    }
    if (record.kind == StepRecord::Kind::kDiscard) placed_.clear();
  }

  std::vector<std::string> Lines() {
    for (const auto& [reason, nodes] : rejected_) {
      const std::vector<std::string> names(nodes.begin(), nodes.end());
      lines_.push_back(fmt::format("  nodes that do not take it: {}: {}", NameSome(names), reason));
    }
    for (const Placed& placed : placed_) {
      lines_.push_back(fmt::format("  {} on {}", placed.pod, placed.node));
      lines_.insert(lines_.end(), placed.devices.begin(), placed.devices.end());
    }
    return std::move(lines_);
  }

 private:
  struct Placed {
    std::string pod;
    std::string node;
    std::vector<std::string> devices;  // a line per container
  };

  // "    main: GPU-a, GPU-b: 0-3 NV2+PHB; pair score 230, the best possible 250".
  static std::vector<std::string> DevicesOf(const StepRecord& record) {
    std::vector<std::string> lines;
    if (!record.devices) return lines;
    for (const DeviceRecord::Container& container : record.devices->containers) {
      std::string line = fmt::format("    {}: {}", container.name, NameSome(container.uuids));
      if (!container.links.empty()) {
        line += fmt::format(": {}; pair score {}, the best possible {}",
                            fmt::join(container.links, ", "),
                            container.score,
                            container.best);
      }
      lines.push_back(std::move(line));
    }
    return lines;
  }

  static std::string SubJob(const std::string& name) {
    return name.empty() ? "" : "sub-group " + name + ": ";
  }

  std::vector<std::string> lines_;
  std::map<std::string, std::set<std::string>> rejected_;
  std::vector<Placed> placed_;
};

std::string FirstSentence(const SimulationResult::Job& job, const std::string& name) {
  if (!job.reason.empty()) return fmt::format("{} waits ({}): {}", name, job.reason, job.message);
  if (job.allocated_hypernode.empty()) return fmt::format("{} is {}.", name, job.phase);
  return fmt::format(
      "{} is {} in {} (tier {}).", name, job.phase, job.allocated_hypernode, job.tier);
}

}  // namespace

Result<std::string> FindJobByName(const SimulationResult& result,
                                  const SimulatedCluster& cluster,
                                  std::string_view name) {
  if (result.jobs.contains(std::string(name))) return std::string(name);
  const auto it = cluster.group_of_job.find(name);
  if (it != cluster.group_of_job.end() && result.jobs.contains(it->second)) return it->second;
  std::vector<std::string> known;
  for (const auto& entry : result.jobs) known.push_back(entry.first);
  return Fail(Code::kNotFound,
              known.empty() ? fmt::format("no job {}: there are no jobs", name)
                            : fmt::format("no job {} (there is {})", name, NameSome(known)));
}

std::vector<std::string> ExplainJob(const SimulationResult& result,
                                    const TraceLog& trace,
                                    const std::string& job) {
  std::vector<std::string> lines = {FirstSentence(result.jobs.at(job), job)};
  const std::int32_t cycle = LastCycleOf(trace, job);
  Story story;
  for (const TraceLog::Entry& entry : trace.entries()) {
    if (entry.cycle == cycle && JobOf(entry.record) == job) std::visit(story, entry.record);
  }
  for (std::string& line : story.Lines()) lines.push_back(std::move(line));
  return lines;
}

}  // namespace strata
