#pragma once

#include <cstdint>

#include "base/ids.h"
#include "sched/worksheet.h"

namespace strata {

// For whom room is to be made.
struct RoomRequest {
  enum class For : std::uint8_t {
    kGang,     // as many of the tasks as the gang lacks; whole gangs may go for it
    kReplicas  // all of the tasks, which the gang can do without; only surplus pods go for them
  };

  JobId job;
  const Worksheet& worksheet;  // the tasks; must outlive the request
  For what = For::kGang;
};

}  // namespace strata
