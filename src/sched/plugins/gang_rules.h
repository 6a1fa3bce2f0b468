#pragma once

#include <cstdint>

#include "model/workload.h"

// What the gang plugin and eviction both know of a gang.
namespace strata {

// Roles bind only while minMember covers all their minimums; otherwise any pods make up the gang.
[[nodiscard]] inline bool RolesCount(const Job& job) {
  std::int64_t sum = 0;
  for (const Role& role : job.roles) sum += role.min_member;
  return job.spec.min_available >= sum;
}

}  // namespace strata
