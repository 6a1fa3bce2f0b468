#include "explain/relax_by_eviction.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "explain/eviction_text.h"
#include "explain/own_names.h"
#include "report/names.h"

namespace strata {
namespace {

struct EvictionChoice {
  std::string_view action;
  std::string_view like;  // the other action of its kind
  bool own_queue = false;
};

constexpr std::array kEvictionChoices = {EvictionChoice{"gangpreempt", "preempt", true},
                                         EvictionChoice{"gangreclaim", "reclaim", false}};

bool IsConfigured(const SchedulerConfig& config, const EvictionChoice& choice) {
  return std::any_of(config.actions.begin(), config.actions.end(), [&](const auto& action) {
    return action.name == choice.action || action.name == choice.like;
  });
}

// True when some job runs that the action may look at.
bool HasSomebodyToEvict(const RelaxationQuery& query, const EvictionChoice& choice) {
  const WorkloadTable& workload = query.state->workload();
  const auto id = workload.FindJob(query.job);
  if (!id) return false;
  const Job& job = workload.job(*id);
  return std::any_of(workload.jobs().begin(), workload.jobs().end(), [&](JobId other_id) {
    const Job& other = workload.job(other_id);
    if (other.counts.Of(TaskStatus::kRunning) == 0) return false;
    return choice.own_queue ? other.queue == job.queue && other.spec.priority < job.spec.priority
                            : other.queue != job.queue;
  });
}

std::string ActionNames(const SchedulerConfig& config) {
  std::vector<std::string_view> names;
  names.reserve(config.actions.size());
  for (const ActionConfig& action : config.actions) names.push_back(action.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

// Behind allocate, which finds what needs no eviction.
SchedulerConfig WithAction(SchedulerConfig config, std::string_view name) {
  const auto allocate = std::find_if(config.actions.begin(),
                                     config.actions.end(),
                                     [](const auto& action) { return action.name == "allocate"; });
  const auto behind = allocate == config.actions.end() ? allocate : std::next(allocate);
  config.actions.insert(behind, ActionConfig{std::string(name), {}});
  return config;
}

// What the run evicts for the job; null when it starts without that.
const RunResult::Evictions* PlanFor(const RunResult& result, const std::string& job) {
  const auto found =
      std::find_if(result.evictions.begin(), result.evictions.end(), [&](const auto& plan) {
        return plan.claimant == job && !plan.TakesBack();
      });
  return found == result.evictions.end() ? nullptr : &*found;
}

}  // namespace

void TryEvictions(const RelaxationQuery& query,
                  Resolver& resolver,
                  std::vector<Relaxation>& found) {
  const OwnNames own(*query.objects);
  for (const EvictionChoice& choice : kEvictionChoices) {
    if (IsConfigured(*query.config, choice) || !HasSomebodyToEvict(query, choice)) continue;
    const SchedulerConfig config = WithAction(*query.config, choice.action);
    if (!resolver.PlacesWith(fmt::format("with action {}", choice.action), config)) continue;
    const RunResult::Evictions* plan = PlanFor(resolver.last_result(), query.job);
    if (plan == nullptr) continue;
    std::vector<std::string> jobs;
    std::size_t pods = 0;
    for (const RunResult::Evictions::Victim& victim : plan->victims) {
      jobs.push_back(own.Of(victim.job));
      pods += victim.pods.size();
    }
    Relaxation relaxation{.kind = Relaxation::Kind::kEvict,
                          .object = "scheduler configuration",
                          .field = "actions",
                          .from = ActionNames(*query.config),
                          .to = ActionNames(config),
                          .nodes = {},
                          .size = static_cast<std::int64_t>(pods),
                          .text = fmt::format("add the action {}: it would evict {} of {}{}",
                                              choice.action,
                                              CountVictims(*plan),
                                              NameSome(jobs),
                                              WhereOf(*plan)),
                          .command = ActionsCommand(ActionNames(config))};
    found.push_back(resolver.WithBinds(std::move(relaxation)));
  }
}

}  // namespace strata
