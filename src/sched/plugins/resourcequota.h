#pragma once

#include "base/result.h"
#include "sched/registry.h"

namespace strata {

// Admits jobs only as far as the ResourceQuotas of their namespace reach. Serves JobGatePoint
// (Enqueueable, OnEnqueued). No arguments.
//
// A job may enter when, for every quota of its namespace and every resource that the quota limits
// and the job asks for, what is used, what was admitted in this cycle and its minResources stay
// within the hard limit. A job counts with its minimum of `pods`, whatever minResources says, and
// under the names that only quotas have (limits.cpu, count/pods) with what minResources says there.
// Comparisons are exact. Refusal: NamespaceQuotaExceeded. A job without minResources may always
// enter.
[[nodiscard]] Result<MadePlugin> MakeResourcequota(const PluginConfig& config,
                                                   ResourceNames& resources);

// What the job asks of the quotas of its namespace. REQUIRES: it has minResources.
[[nodiscard]] Resources QuotaRequest(const JobSpec& job);
// The part of the name before '/'.
[[nodiscard]] std::string_view NamespaceOf(const JobSpec& job);

}  // namespace strata
