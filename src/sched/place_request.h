#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/ids.h"
#include "sched/extension.h"
#include "sched/obstacles.h"
#include "sched/rank_order.h"

namespace strata {

// A gang is first searched for in idle resources (kReady). Only when that fails everywhere is it
// searched for in resources that are being released, too (kWaiting).
enum class Pass : std::uint8_t { kReady, kWaiting };

// The order to place tasks of one sub-job inside one HyperNode.
struct PlaceRequest {
  JobId job;
  std::size_t sub_job = 0;
  std::span<const TaskId> tasks;     // pending, in task order
  const RankOrder* ranks = nullptr;  // of the job; REQUIRED for more than one task
  HyperNodeId domain;
  Pass pass = Pass::kReady;
  bool ask_quota = true;           // false for BestEffort tasks, which use no quota
  Obstacles* obstacles = nullptr;  // receives what kept the last unplaced task off the nodes
};

struct PlaceOutcome {
  // Something was placed and the sub-job is ready (in the second pass: or pipelined).
  bool ok = false;
  std::size_t placed = 0;  // also counts tasks that were rolled back because they were not enough
  std::size_t taken = 0;   // tasks of the request that were placed or refused in this cycle
  std::optional<Refusal> quota;  // the refusal of the queue's quota, if there was one
  // ---- of a sub-job with topology none of whose tasks had a node, once ok
  std::size_t leaves = 0;      // in which tasks were placed; 0: not counted
  bool follows_ranks = false;  // the ring of the tasks by rank enters each of these leaves once
};

}  // namespace strata
