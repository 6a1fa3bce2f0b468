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
namespace {

const char* InWords(DomainCriterion criterion) {
  switch (criterion) {
    case DomainCriterion::kGangs:
      return "more gangs would break";
    case DomainCriterion::kPriorities:
      return "it costs important jobs more";
    case DomainCriterion::kPodCount:
      return "more pods would go";
    case DomainCriterion::kTier:
      return "the pods would be further apart";
    case DomainCriterion::kLostWork:
      return "more work would be lost";
    case DomainCriterion::kGrace:
      return "it may take longer";
    case DomainCriterion::kName:
      break;
  }
  return "it costs the same, and the first name was taken";
}

}  // namespace

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

std::string DescribeOther(const EvictionRecord::Domain& other) {
  const std::int64_t gangs = other.cost.BrokenGangs();
  std::string text = other.hypernode.empty()
                         ? "the whole cluster"
                         : fmt::format("{} (tier {})", other.hypernode, other.tier);
  text += ": " + (gangs > 0 ? Plural(static_cast<std::size_t>(gangs), "gang") + ", " : "");
  text += Plural(static_cast<std::size_t>(other.cost.pods), "pod");
  if (!other.cost.levels.empty()) {
    text += fmt::format(" of priority {} at most", other.cost.levels.front().priority);
  }
  return text + "; " + InWords(other.worse_by);
}

std::string DescribeProtected(const EvictionRecord::Protected& kept) {
  return fmt::format("{} ({} {})", kept.job, Plural(kept.pods, "pod"), kept.kind);
}

const char* WordOf(DomainCriterion criterion) {
  switch (criterion) {
    case DomainCriterion::kGangs:
      return "gangs";
    case DomainCriterion::kPriorities:
      return "priorities";
    case DomainCriterion::kPodCount:
      return "pods";
    case DomainCriterion::kTier:
      return "tier";
    case DomainCriterion::kLostWork:
      return "lostWork";
    case DomainCriterion::kGrace:
      return "grace";
    case DomainCriterion::kName:
      break;
  }
  return "name";
}

}  // namespace strata
