#include "replay/workload.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "replay/room.h"

namespace strata::replay {
namespace {

// The highest level whose tier is not above the one that `text` says, by number or by name.
Result<std::size_t> LevelOf(const Fabric& fabric, std::string_view text, std::string_view job) {
  std::int32_t tier = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), tier);
  const bool number = error == std::errc{} && end == text.data() + text.size();
  for (std::size_t level = fabric.levels.size(); level-- > 0;) {
    if (number ? fabric.levels[level].tier <= tier : fabric.levels[level].name == text) {
      return level;
    }
  }
  std::vector<std::string> known;
  for (const Fabric::Level& level : fabric.levels) {
    known.push_back(level.name.empty() ? std::to_string(level.tier)
                                       : fmt::format("{} ({})", level.tier, level.name));
  }
  return Fail(Code::kInvalidArgument,
              fmt::format("job \"{}\": tier \"{}\": the cluster has {}",
                          job,
                          text,
                          known.empty() ? "no tiers" : fmt::format("{}", fmt::join(known, ", "))));
}

std::vector<char> AcceptingNodes(const Fabric& fabric, std::string_view models) {
  std::vector<char> accepts;
  if (models.empty()) return accepts;
  for (const Fabric::Node& node : fabric.nodes) {
    bool accepted = false;
    for (std::size_t at = 0; at <= models.size();) {
      const std::size_t end = std::min(models.find('|', at), models.size());
      accepted = accepted || models.substr(at, end - at) == node.gpu_model;
      at = end + 1;
    }
    accepts.push_back(accepted ? 1 : 0);
  }
  return accepts;
}

// How many pods of the gang each domain of a level takes on the empty cluster.
std::vector<std::int32_t> SlotsByDomain(const Room& empty, std::size_t level, const JobClass& job) {
  std::vector<std::int32_t> slots(empty.DomainCount(level));
  for (NodeIndex node = 0; node < empty.nodes(); ++node) {
    const DomainIndex domain = empty.DomainOf(level, node);
    if (domain == Fabric::kNoDomain || !job.Accepts(node)) continue;
    slots[domain] = std::min(slots[domain] + empty.Slots(node, job.pod, job.pods), job.pods);
  }
  return slots;
}

// 0 when the gang does not fit.
std::int32_t FewestLeaves(const Room& empty, const JobClass& job) {
  const std::size_t widest = job.wish == Wish::kHard ? job.max_level : empty.levels();
  const std::vector<std::int32_t> allowed = SlotsByDomain(empty, widest, job);
  if (*std::max_element(allowed.begin(), allowed.end()) < job.pods) return 0;
  std::vector<std::int32_t> slots = SlotsByDomain(empty, 0, job);
  std::sort(slots.begin(), slots.end(), std::greater<>());
  std::int32_t left = job.pods;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    left -= slots[i];
    if (left <= 0) return static_cast<std::int32_t>(i) + 1;
  }
  return static_cast<std::int32_t>(slots.size()) + 1;  // some on nodes without a leaf
}

Result<JobClass> ClassOf(const TraceJob& job,
                         const Fabric& fabric,
                         const WorkloadOptions& options) {
  if (job.gpu_milli < 1000) {
    return Fail(Code::kInvalidArgument,
                fmt::format("job \"{}\": gpu_milli {}: shares of GPUs are placed only by "
                            "strata replay fgd",
                            job.name,
                            job.gpu_milli));
  }
  JobClass out;
  out.pod = {.gpus = job.gpus, .cpu_milli = job.cpu_milli, .memory = job.memory};
  out.last = out.pod;
  out.last.gpus = job.last_gpus;
  out.pods = job.pods;
  out.slice = job.groups > 1 ? job.pods / job.groups : 1;
  out.queue = job.queue;
  out.accepts = AcceptingNodes(fabric, job.gpu_model);
  out.max_level = fabric.levels.size();
  out.wish = job.wish;
  std::string_view tier = job.tier;
  if (job.wish == Wish::kUnsaid) {
    out.wish = job.pods > 1 ? options.wish : Wish::kNone;
    if (tier.empty()) tier = options.tier;
  }
  if (out.wish == Wish::kHard) {
    TRY_ASSIGN(out.max_level, LevelOf(fabric, tier, job.name));
  }
  return out;
}

}  // namespace

Result<Workload> MakeWorkload(const Trace& trace,
                              const Fabric& fabric,
                              const WorkloadOptions& options) {
  Workload workload;
  std::map<JobClass, std::uint32_t> known;
  for (const TraceJob& job : trace.jobs) {
    TRY_ASSIGN(JobClass made, ClassOf(job, fabric, options));
    const auto [entry, added] =
        known.emplace(std::move(made), static_cast<std::uint32_t>(workload.classes.size()));
    if (added) workload.classes.push_back(entry->first);
    workload.jobs.push_back({.submit = job.submit,
                             .duration = job.duration,
                             .walltime = job.walltime.value_or(job.duration),
                             .priority = job.priority,
                             .job_class = entry->second});
  }
  const Room empty(fabric);
  for (const JobClass& one : workload.classes) {
    workload.fewest_leaves.push_back(FewestLeaves(empty, one));
  }
  for (Workload::Job& job : workload.jobs) job.fits = workload.fewest_leaves[job.job_class] > 0;
  return workload;
}

}  // namespace strata::replay
