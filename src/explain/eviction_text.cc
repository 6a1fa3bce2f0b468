#include "explain/eviction_text.h"

#include <algorithm>
#include <chrono>
#include <cstddef>

#include <fmt/format.h>

#include "base/age.h"
#include "base/plural.h"
#include "report/names.h"
#include "report/text.h"

namespace strata {

std::string CountVictims(const RunResult::Evictions& plan) {
  std::size_t pods = 0;
  std::size_t gangs = 0;
  for (const RunResult::Evictions::Victim& victim : plan.victims) {
    pods += victim.pods.size();
    gangs += victim.whole_gang ? 1 : 0;
  }
  return (gangs > 0 ? Plural(gangs, "gang") + ", " : "") + Plural(pods, "pod");
}

std::string WhereOf(const RunResult::Evictions& plan) {
  if (plan.hypernode.empty()) return "";
  return fmt::format(" in {} (tier {})", plan.hypernode, plan.tier);
}

std::string DescribeVictim(const RunResult::Evictions::Victim& victim) {
  std::string text = fmt::format("{} {} (queue {}, priority {}): {} on {}",
                                 victim.whole_gang ? "gang" : "surplus of",
                                 victim.job,
                                 victim.queue,
                                 victim.priority,
                                 Plural(victim.pods.size(), "pod"),
                                 NameSome(victim.nodes));
  if (victim.runs_for) {
    text += fmt::format("; has run for {}", HumanDuration(std::chrono::seconds(*victim.runs_for)));
  }
  return text + fmt::format("; may take {} to stop",
                            HumanDuration(std::chrono::seconds(victim.grace_seconds)));
}

}  // namespace strata
