#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "controllers/cache.h"
#include "controllers/plan.h"

namespace strata::controllers {

// On a queue that was closed because its parent was; it is opened with it.
inline constexpr std::string_view kClosedByParentKey = "volcano.sh/closed-by-parent";

// PodGroups of one queue by phase; one without a phase is pending.
struct GroupCounts {
  std::int64_t pending = 0;
  std::int64_t inqueue = 0;
  std::int64_t running = 0;
  std::int64_t unknown = 0;
  std::int64_t completed = 0;

  friend bool operator==(const GroupCounts&, const GroupCounts&) = default;
};
// By the name of the queue; a queue without PodGroups is not there.
[[nodiscard]] std::map<std::string, GroupCounts> CountGroups(const std::vector<ObjectRef>& groups);

struct QueueView {
  ObjectRef queue;
  ObjectRef parent;                 // may be null
  std::vector<ObjectRef> commands;  // with the queue as target, by namespace and name
  GroupCounts groups;
};

// What is to be done for a Queue: the counts and the state in its status. A closed queue that still
// has PodGroups is Closing. A queue whose parent is closed closes, too, and opens with it; alone it
// cannot be opened.
[[nodiscard]] Plan ReconcileQueue(const QueueView& view);

}  // namespace strata::controllers
