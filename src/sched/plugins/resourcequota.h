#pragma once

#include "base/result.h"
#include "sched/registry.h"

namespace strata {

// Lets jobs in only as far as the ResourceQuotas of their namespace reach. Serves JobGatePoint
// (Enqueueable, OnEnqueued). No arguments.
//
// A job may enter when, for every quota of its namespace and every resource that the quota limits
// and the job asks for, what is used, what was let in during this cycle and its minResources stay
// within the hard limit. Of `pods` a job asks for its minimum, whatever minResources says.
// Comparisons are exact. Refusal: NamespaceQuotaExceeded. A job without minResources may always
// enter.
[[nodiscard]] Result<MadePlugin> MakeResourcequota(const PluginConfig& config,
                                                   ResourceNames& resources);

// What the job asks of the quotas of its namespace. REQUIRES: it has minResources.
[[nodiscard]] Resources QuotaRequest(const JobSpec& job);
// The part of the name before '/'.
[[nodiscard]] std::string_view NamespaceOf(const JobSpec& job);

}  // namespace strata
