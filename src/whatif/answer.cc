#include "whatif/answer.h"

#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace strata {
namespace {

using StandingKind = JobStanding::Kind;

constexpr std::string_view kWaits = "waits";

JobStanding StandingOf(const RunResult::Job& job) {
  const bool waits = !job.reason.empty() || job.phase == "Pending" || job.phase == "Inqueue";
  if (waits) {
    return {.kind = StandingKind::kWaiting, .hypernode = {}, .tier = 0, .reason = job.reason};
  }
  return {.kind = StandingKind::kPlaced,
          .hypernode = job.allocated_hypernode,
          .tier = job.allocated_hypernode.empty() ? 0 : job.tier,
          .reason = {}};
}

JobStanding Find(const JobStandings& standings, const std::string& name) {
  const auto it = standings.find(name);
  return it == standings.end() ? JobStanding() : it->second;
}

}  // namespace

std::string ToText(const JobStanding& standing) {
  switch (standing.kind) {
    case StandingKind::kAbsent:
      return "not there";
    case StandingKind::kWaiting:
      return std::string(kWaits) +
             (standing.reason.empty() ? "" : fmt::format(" ({})", standing.reason));
    case StandingKind::kPlaced:
      break;
  }
  if (standing.hypernode.empty()) return "placed";
  return fmt::format("in {} (tier {})", standing.hypernode, standing.tier);
}

JobStandings StandingsOf(const RunResult& result, const NameOfGroup& name_of) {
  JobStandings standings;
  for (const auto& [group, job] : result.jobs) {
    const bool is_new = standings.emplace(name_of(group), StandingOf(job)).second;
    if (!is_new) standings.emplace(group, StandingOf(job));
  }
  return standings;
}

std::vector<JobDifference> CompareJobs(const JobStandings& before, const JobStandings& after) {
  std::set<std::string> names;
  for (const JobStandings* side : {&before, &after}) {
    for (const auto& [name, standing] : *side) names.insert(name);
  }
  std::vector<JobDifference> differences;
  for (const std::string& name : names) {
    JobDifference one{.job = name, .before = Find(before, name), .after = Find(after, name)};
    if (one.before != one.after) differences.push_back(std::move(one));
  }
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
  std::map<std::string, std::string> own;
  for (const auto& [job, group] : objects.group_of_job) own.emplace(group, job);
  const NameOfGroup name_of = [&own](const std::string& group) {
    const auto name = own.find(group);
    return name == own.end() ? group : name->second;
  };
  answer.differences =
      CompareJobs(StandingsOf(before.result, name_of), StandingsOf(answer.outcome.result, name_of));
  return answer;
}

std::vector<std::string> Sentences(const std::vector<JobDifference>& differences) {
  std::vector<std::string> lines;
  lines.reserve(differences.size());
  for (const JobDifference& one : differences) {
    const std::string text = ToText(one.after);
    std::string_view after = text;
    const bool waits = one.after.kind == StandingKind::kWaiting;
    if (waits) after.remove_prefix(kWaits.size());
    lines.push_back(fmt::format(
        "{}: {}, {}{}", one.job, ToText(one.before), waits ? "would wait" : "would be ", after));
  }
  return lines;
}

}  // namespace strata
