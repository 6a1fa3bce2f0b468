#pragma once

#include <string_view>
#include <vector>

#include "sched/search.h"
#include "sched/session.h"

// The actions of a cycle, and the one table of their names.
namespace strata {

// Admits PodGroups to their queues: phase Pending to Inqueue, as far as the plugins let them.
void Enqueue(Session& session, Search& search);
// Places the gangs of admitted jobs: whole, near together, or not at all.
void Allocate(Session& session, Search& search);
// Places BestEffort pods, which need no room.
void Backfill(Session& session, Search& search);

using Action = void (*)(Session&, Search&);

// Null when there is no such action here.
[[nodiscard]] Action FindAction(std::string_view name);
[[nodiscard]] std::vector<std::string_view> ActionNames();
// Names that Volcano has and Strata has not (yet).
[[nodiscard]] bool IsVolcanoAction(std::string_view name);

}  // namespace strata
