#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "base/ids.h"
#include "model/resources.h"
#include "model/workload.h"
#include "sched/session.h"
#include "sched/shortage.h"

namespace strata {

// What a plan for a job depends on, where nothing of it has been placed: jobs that are equal in it
// get the same plan, or the same refusal.
struct LikeJob {
  QueueId queue;
  std::int32_t priority = 0;
  std::int32_t min_available = 0;
  std::tuple<TopologySpec::Mode, std::optional<std::int32_t>, std::string> topology;
  std::optional<Resources> min_resources;
  Wanted tasks;

  auto operator<=>(const LikeJob&) const = default;
};

// None for a job that is like no other, and for one with a task that never preempts, whose refusal
// names that task. COST: O(its tasks), and to sort them if they are of several classes.
[[nodiscard]] std::optional<LikeJob> WhatItIsLike(const Session& session, JobId job);

}  // namespace strata
