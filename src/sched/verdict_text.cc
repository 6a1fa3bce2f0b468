#include "sched/verdict_text.h"

#include <fmt/format.h>

namespace strata {

std::string WithDetail(std::string sentence,
                       std::string_view separator,
                       const std::string& detail) {
  if (!detail.empty()) sentence.append(separator).append(detail);
  return sentence;
}

std::string Heading(const Job& job) {
  const bool gang = job.counts.Ready() < job.spec.min_available;
  return fmt::format("{}/{} tasks{} unschedulable: ",
                     job.counts.Of(TaskStatus::kPending),
                     job.counts.Total(),
                     gang ? " in gang" : "");
}

std::string NameOf(const HyperNodeTree& tree, HyperNodeId id) {
  return id == tree.top() ? "the whole cluster" : fmt::format("HyperNode {}", tree.at(id).name);
}

}  // namespace strata
