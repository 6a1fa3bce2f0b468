#include "explain/kept_relaxations.h"

#include <algorithm>
#include <utility>

namespace strata {

void KeptRelaxations::Follow(const Verdicts& verdicts) {
  ++followed_;
  std::erase_if(jobs_, [&](const auto& known) { return !verdicts.contains(known.first); });
  for (const auto& [job, verdict] : verdicts) {
    const auto [known, is_new] = jobs_.try_emplace(job, Entry{verdict, followed_, std::nullopt});
    Entry& entry = known->second;
    if (is_new || entry.verdict == verdict) continue;
    entry.verdict = verdict;
    if (entry.report) entry.due_since = followed_;
    entry.report.reset();
  }
}

std::vector<std::string> KeptRelaxations::Due() const {
  std::vector<std::pair<std::uint64_t, std::string>> due;
  for (const auto& [job, entry] : jobs_) {
    if (!entry.report) due.emplace_back(entry.due_since, job);
  }
  std::sort(due.begin(), due.end());
  std::vector<std::string> jobs;
  jobs.reserve(due.size());
  for (auto& [since, job] : due) jobs.push_back(std::move(job));
  return jobs;
}

const Refusal* KeptRelaxations::VerdictOf(const std::string& job) const {
  const auto known = jobs_.find(job);
  return known == jobs_.end() ? nullptr : &known->second.verdict;
}

void KeptRelaxations::Keep(const std::string& job,
                           const Refusal& verdict,
                           RelaxationReport report) {
  const auto known = jobs_.find(job);
  if (known == jobs_.end() || known->second.verdict != verdict) return;
  known->second.report = std::move(report);
}

const RelaxationReport* KeptRelaxations::Find(const std::string& job,
                                              const Refusal& verdict) const {
  const auto known = jobs_.find(job);
  if (known == jobs_.end() || known->second.verdict != verdict) return nullptr;
  return known->second.report ? &*known->second.report : nullptr;
}

}  // namespace strata
