#include "explain/resolver.h"

#include <algorithm>
#include <utility>

#include "convert/specs.h"

namespace strata {

Resolver::Resolver(const RelaxationQuery& query) : query_(query) {
  for (const objects::Pod& pod : query.objects->objects.pods) {
    if (GroupOf(pod) == query.job) pods_.insert(objects::NamespacedName(pod.meta));
  }
  const auto bound = [&](const std::string& pod) { return query.before->binds.contains(pod); };
  had_minimum_ = query.before->jobs.at(query.job).phase == "Running" ||
                 std::any_of(pods_.begin(), pods_.end(), bound);
}

bool Resolver::Places(const std::string& what, const Change& change) {
  return Solve(what, change, *query_.config);
}

bool Resolver::PlacesWith(const std::string& what, const SchedulerConfig& config) {
  return Solve(
      what, [](objects::ObjectSet&) {}, config);
}

bool Resolver::Solve(const std::string& what, const Change& change, const SchedulerConfig& config) {
  if (query_.stop.stop_requested()) return false;
  if (query_.progress) query_.progress(what);
  ++solved_;
  RunOptions options = query_.options;
  options.trace = nullptr;
  options.explain_only = "";  // whether jobs wait is all that counts
  options.on_cycle = nullptr;
  options.stopwatch = nullptr;
  auto outcome = WhatIf(*query_.objects, change, config, options);
  if (!outcome || !Placed(outcome->result)) return false;
  last_ = std::move(*outcome);
  return true;
}

bool Resolver::Placed(const RunResult& result) const {
  const auto job = result.jobs.find(query_.job);
  if (job == result.jobs.end()) return false;
  if (job->second.reason.empty()) return true;
  // All or nothing: one pod of a gang that is bound means that the gang started.
  return !had_minimum_ && std::any_of(pods_.begin(), pods_.end(), [&](const std::string& pod) {
    return result.binds.contains(pod);
  });
}

Relaxation Resolver::WithBinds(Relaxation relaxation) const {
  for (const std::string& pod : pods_) {
    const auto bind = last_.result.binds.find(pod);
    if (bind != last_.result.binds.end()) relaxation.binds.insert(*bind);
  }
  return relaxation;
}

std::int64_t Resolver::Nearest(std::int64_t fails,
                               std::int64_t works,
                               const std::function<bool(std::int64_t)>& try_value) {
  while (std::max(fails, works) - std::min(fails, works) > 1) {
    const std::int64_t middle = fails + (works - fails) / 2;
    (try_value(middle) ? works : fails) = middle;
  }
  return works;
}

}  // namespace strata
