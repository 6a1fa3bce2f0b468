#include "inspect/job_choice.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ascii.h"
#include "report/names.h"

namespace strata::inspect {
namespace {

constexpr std::array<std::pair<std::string_view, JobOrder>, 7> kOrders = {
    {{"name", JobOrder::kName},
     {"queue", JobOrder::kQueue},
     {"phase", JobOrder::kPhase},
     {"domain", JobOrder::kDomain},
     {"gpus", JobOrder::kGpus},
     {"time", JobOrder::kTime},
     {"age", JobOrder::kAge}}};

constexpr std::array<JobState, 4> kAllStates = {
    JobState::kWaiting, JobState::kRunning, JobState::kFinished, JobState::kSuspended};

Status AddWord(std::string_view word, StateChoice& choice) {
  const std::string lower = LowerCase(std::string(word));
  for (const JobState state : kAllStates) {
    if (lower != ToString(state)) continue;
    // "Running" is a phase, too; people who ask for what runs want all of it.
    choice.states.push_back(state);
    return {};
  }
  std::string phase = lower;
  if (!phase.empty() && phase.front() >= 'a' && phase.front() <= 'z') {
    phase.front() = static_cast<char>(phase.front() - 'a' + 'A');
  }
  if (!StateOfPhase(phase)) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("unknown state \"{}\" (want waiting, running, finished, suspended, or a "
                    "phase such as Pending, Inqueue, Completed or Failed)",
                    word));
  }
  choice.phases.push_back(std::move(phase));
  return {};
}

bool Takes(const StateChoice& choice, const JobReport& job) {
  return std::find(choice.states.begin(), choice.states.end(), job.state) != choice.states.end() ||
         std::find(choice.phases.begin(), choice.phases.end(), job.phase) != choice.phases.end();
}

bool Takes(const JobChoice& choice, const JobReport& job) {
  return (choice.queue.empty() || choice.queue == job.queue) &&
         (!choice.states || Takes(*choice.states, job)) &&
         (!choice.labels || choice.labels(job.labels));
}

bool NameLess(const JobReport& a, const JobReport& b) {
  if (a.key.ns != b.key.ns) return NaturalLess(a.key.ns, b.key.ns);
  return NaturalLess(ShownName(a), ShownName(b));
}

// What is unknown comes last.
constexpr Duration kUnknown{-1};

bool Less(JobOrder order, Time now, const JobReport& a, const JobReport& b) {
  switch (order) {
    case JobOrder::kName:
      return NameLess(a, b);
    case JobOrder::kQueue:
      return NaturalLess(a.queue, b.queue);
    case JobOrder::kPhase:
      return a.phase < b.phase;
    case JobOrder::kDomain:
      return NaturalLess(a.domain, b.domain);
    case JobOrder::kGpus:
      return a.gpus > b.gpus;
    case JobOrder::kTime:
      return TimeOf(a, now).value_or(kUnknown) > TimeOf(b, now).value_or(kUnknown);
    case JobOrder::kAge:
      return a.created < b.created;
  }
  return false;
}

}  // namespace

Result<StateChoice> ParseStates(std::string_view text) {
  StateChoice choice;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    TRY(AddWord(rest.substr(0, comma), choice));
    if (comma == std::string_view::npos) return choice;
    rest.remove_prefix(comma + 1);
  }
}

Result<JobOrder> ParseJobOrder(std::string_view text) {
  for (const auto& [word, order] : kOrders) {
    if (word == text) return order;
  }
  return Fail(Code::kInvalidArgument,
              fmt::format("unknown order \"{}\" (want {})", text, KnownJobOrders()));
}

std::string KnownJobOrders() {
  std::vector<std::string_view> words;
  words.reserve(kOrders.size());
  for (const auto& [word, order] : kOrders) words.push_back(word);
  return fmt::format("{}", fmt::join(words, "|"));
}

void ChooseJobs(const JobChoice& choice, Time now, std::vector<JobReport>& jobs) {
  std::erase_if(jobs, [&](const JobReport& job) { return !Takes(choice, job); });
  std::stable_sort(jobs.begin(), jobs.end(), NameLess);
  std::stable_sort(jobs.begin(), jobs.end(), [&](const JobReport& a, const JobReport& b) {
    return Less(choice.order, now, a, b);
  });
}

}  // namespace strata::inspect
