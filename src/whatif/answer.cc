#include "whatif/answer.h"

#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace strata {
namespace {

constexpr const char* kNotThere = "not there";
constexpr std::string_view kWaits = "waits";

// The runs are to explain nothing but to decide: only words of reasons count.
std::string StandingOf(const RunResult& result, const std::string& job) {
  const auto it = result.jobs.find(job);
  if (it == result.jobs.end()) return kNotThere;
  const RunResult::Job& one = it->second;
  if (!one.reason.empty()) return fmt::format("{} ({})", kWaits, one.reason);
  if (!one.allocated_hypernode.empty()) {
    return fmt::format("in {} (tier {})", one.allocated_hypernode, one.tier);
  }
  const bool waits = one.phase == "Pending" || one.phase == "Inqueue";
  return std::string(waits ? kWaits : "placed");
}

}  // namespace

std::vector<JobDifference> CompareJobs(
    const RunResult& before,
    const RunResult& after,
    const std::map<std::string, std::string, std::less<>>& group_of_job) {
  std::map<std::string, std::string> own;
  for (const auto& [job, group] : group_of_job) own.emplace(group, job);
  std::set<std::string> groups;
  for (const auto& [group, job] : before.jobs) groups.insert(group);
  for (const auto& [group, job] : after.jobs) groups.insert(group);
  std::map<std::string, JobDifference> found;
  for (const std::string& group : groups) {
    const auto name = own.find(group);
    JobDifference one{.job = name == own.end() ? group : name->second,
                      .before = StandingOf(before, group),
                      .after = StandingOf(after, group)};
    if (one.before != one.after) found.emplace(one.job, std::move(one));
  }
  std::vector<JobDifference> differences;
  differences.reserve(found.size());
  for (auto& [name, one] : found) differences.push_back(std::move(one));
  return differences;
}

Result<WhatIfAnswer> AnswerWhatIf(const CompletedObjects& objects,
                                  std::span<const Edit> edits,
                                  const std::string& ns,
                                  const SchedulerConfig& config,
                                  const RunOptions& options) {
  WhatIfAnswer answer;
  answer.objects = objects;
  TRY_ASSIGN(answer.changes, ApplyEdits(edits, ns, answer.objects));
  RunOptions quiet = options;
  quiet.trace = nullptr;
  quiet.stopwatch = nullptr;
  quiet.on_cycle = nullptr;
  const auto nothing = [](objects::ObjectSet&) {};
  TRY_ASSIGN(const Outcome before, WhatIf(objects, nothing, config, quiet));
  TRY_ASSIGN(answer.outcome, WhatIf(answer.objects, nothing, config, options));
  answer.differences = CompareJobs(before.result, answer.outcome.result, objects.group_of_job);
  return answer;
}

std::vector<std::string> Sentences(const std::vector<JobDifference>& differences) {
  std::vector<std::string> lines;
  for (const JobDifference& one : differences) {
    std::string_view after = one.after;
    const bool waits = after.starts_with(kWaits);
    if (waits) after.remove_prefix(kWaits.size());
    lines.push_back(fmt::format(
        "{}: {}, {}{}", one.job, one.before, waits ? "would wait" : "would be ", after));
  }
  return lines;
}

}  // namespace strata
