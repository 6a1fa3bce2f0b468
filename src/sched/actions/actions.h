#pragma once

#include <string_view>
#include <vector>

#include "sched/search.h"
#include "sched/session.h"

// The actions of a cycle, and the one table of their names.
namespace strata {

// Admits PodGroups to their queues (phase Pending to Inqueue) as far as the plugins permit.
void Enqueue(Session& session, Search& search);
// Places the gangs of admitted jobs, whole or not at all, within their topology.
void Allocate(Session& session, Search& search);
// Places BestEffort pods, which request no resources.
void Backfill(Session& session, Search& search);
// Evict pods so that the gangs of admitted jobs can start within their topology: of the same queue
// (preempt) or of others (reclaim); the first two without breaking gangs, unless gang allows it.
void Preempt(Session& session, Search& search);
void Reclaim(Session& session, Search& search);
void GangPreempt(Session& session, Search& search);
void GangReclaim(Session& session, Search& search);

using Action = void (*)(Session&, Search&);

// Null when the action is unknown or not supported.
[[nodiscard]] Action FindAction(std::string_view name);
[[nodiscard]] std::vector<std::string_view> ActionNames();
// True for an action of Volcano that is not supported yet.
[[nodiscard]] bool IsVolcanoAction(std::string_view name);

}  // namespace strata
