#pragma once

#include <string>

#include "model/resources.h"
#include "report/queue_report.h"
#include "report/text.h"

namespace strata {

// One row per queue and resource, then the jobs that wait. Text that ends in a newline.
[[nodiscard]] std::string RenderTable(const QueueReport& report,
                                      const ResourceNames& names,
                                      const TextStyle& style);

// The only queue of the report for a person: what it is, its resources, the jobs that wait.
[[nodiscard]] std::string RenderQueue(const QueueReport& report,
                                      const ResourceNames& names,
                                      const TextStyle& style);
// The same as one document: its members in the list, and its name.
[[nodiscard]] std::string RenderQueueJson(const QueueReport& report, const ResourceNames& names);

// One document that ends in a newline. Amounts are numbers, in cores, bytes and pieces, since a
// share may be a fraction of the smallest unit; what is 0 or not limited is left out.
[[nodiscard]] std::string RenderJson(const QueueReport& report, const ResourceNames& names);

}  // namespace strata
