#include "live/eviction_book.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "live/bind_book.h"

namespace strata::live {
namespace {

using Kind = EvictionStep::Kind;

const char* WordOf(Kind kind) {
  switch (kind) {
    case Kind::kTryOut:
      return "budgets";
    case Kind::kNominate:
    case Kind::kClear:
      return "nominations";
    case Kind::kMark:
    case Kind::kUnmark:
      return "marks";
    case Kind::kDelete:
    case Kind::kEvict:
      return "evictions";
  }
  return "";
}

}  // namespace

// Writes of one kind to one pod wait for each other.
std::string EvictionStep::Key() const {
  return fmt::format("{}/{}/{}", WordOf(kind), NameOf(pod), pod.uid);
}

EvictionBook::Steps EvictionBook::Begin(EvictionOrder order) {
  return Start(std::move(order), Phase::kTryOut);
}

EvictionBook::Steps EvictionBook::GoOn(EvictionOrder order) {
  return Start(std::move(order), Phase::kMark);
}

EvictionBook::Steps EvictionBook::Start(EvictionOrder order, Phase phase) {
  const std::uint64_t id = ++last_plan_;
  plans_.emplace(id, Plan{std::move(order), phase, {}});
  std::erase_if(later_, [&](const auto& entry) { return IsWanted(entry.second); });
  return Advance(id, phase);
}

bool EvictionBook::IsWanted(const EvictionStep& step) const {
  const auto is_pod = [&](const auto& one) {
    return NameOf(one.pod) == NameOf(step.pod) && one.pod.uid == step.pod.uid;
  };
  return std::any_of(plans_.begin(), plans_.end(), [&](const auto& entry) {
    const EvictionOrder& order = entry.second.order;
    return step.kind == Kind::kClear
               ? std::any_of(order.nominations.begin(), order.nominations.end(), is_pod)
               : step.kind == Kind::kUnmark &&
                     std::any_of(order.victims.begin(), order.victims.end(), is_pod);
  });
}

EvictionBook::Steps EvictionBook::Enter(std::uint64_t id, Phase phase) {
  Plan& plan = plans_.at(id);
  plan.phase = phase;
  const EvictionOrder& order = plan.order;
  Steps steps;
  if (phase == Phase::kNominate) {
    for (const EvictionOrder::Nomination& one : order.nominations) {
      steps.push_back({Kind::kNominate, id, one.pod, one.node});
    }
  } else {
    for (const EvictionOrder::Victim& victim : order.victims) {
      if (phase == Phase::kTryOut && !victim.budgeted) continue;
      const Kind going = victim.budgeted ? Kind::kEvict : Kind::kDelete;
      const Kind kind = phase == Phase::kTryOut ? Kind::kTryOut
                        : phase == Phase::kMark ? Kind::kMark
                                                : going;
      steps.push_back({kind, id, victim.pod, ""});
    }
  }
  for (const EvictionStep& step : steps) plan.open.insert(step.Key());
  return steps;
}

EvictionBook::Steps EvictionBook::Advance(std::uint64_t id, Phase phase) {
  for (int next = static_cast<int>(phase); next <= static_cast<int>(Phase::kDelete); ++next) {
    Steps steps = Enter(id, static_cast<Phase>(next));
    if (!steps.empty()) return steps;
  }
  outcomes_.push_back({Outcome::Kind::kGone, std::move(plans_.at(id).order), ""});
  plans_.erase(id);
  return {};
}

EvictionBook::Steps EvictionBook::Drop(std::uint64_t id, Outcome::Kind kind, std::string why) {
  Plan plan = std::move(plans_.extract(id).mapped());
  std::erase_if(later_, [&](const auto& entry) { return entry.second.plan == id; });
  Steps steps;
  if (plan.phase >= Phase::kNominate) {
    for (const EvictionOrder::Nomination& one : plan.order.nominations) {
      steps.push_back({Kind::kClear, 0, one.pod, ""});
    }
  }
  if (plan.phase >= Phase::kMark) {
    for (const EvictionOrder::Victim& victim : plan.order.victims) {
      steps.push_back({Kind::kUnmark, 0, victim.pod, ""});
    }
  }
  outcomes_.push_back({kind, std::move(plan.order), std::move(why)});
  return steps;
}

bool EvictionBook::Cancel(const std::string& job, const std::string& why, Steps& steps) {
  const auto plan = std::find_if(plans_.begin(), plans_.end(), [&](const auto& entry) {
    return entry.second.order.job == job && entry.second.phase != Phase::kDelete;
  });
  if (plan == plans_.end()) return false;
  steps = Drop(plan->first, Outcome::Kind::kCancelled, why);
  return true;
}

const EvictionOrder* EvictionBook::FindCancellable(const std::string& job) const {
  const auto plan = std::find_if(plans_.begin(), plans_.end(), [&](const auto& entry) {
    return entry.second.order.job == job && entry.second.phase != Phase::kDelete;
  });
  return plan == plans_.end() ? nullptr : &plan->second.order;
}

bool EvictionBook::IsBusyFor(const std::string& job) const {
  return std::any_of(plans_.begin(), plans_.end(), [&](const auto& entry) {
    return entry.second.order.job == job;
  });
}

EvictionBook::Steps EvictionBook::Clear(const std::vector<kube::PodName>& pods) {
  Steps steps;
  for (const kube::PodName& pod : pods) steps.push_back({Kind::kClear, 0, pod, ""});
  return steps;
}

EvictionBook::Steps EvictionBook::Take(const EvictionStep& step,
                                       StepAnswer answer,
                                       net::SteadyTime now) {
  const bool takes_back = step.kind == Kind::kUnmark || step.kind == Kind::kClear;
  const bool ends = answer == StepAnswer::kDone || answer == StepAnswer::kGone;
  if (takes_back) {
    if (answer == StepAnswer::kNone && !IsWanted(step)) Retry(step, now);
    return {};
  }
  const auto found = plans_.find(step.plan);
  if (found == plans_.end() || !found->second.open.contains(step.Key())) return {};
  Plan& plan = found->second;
  if (step.kind == Kind::kTryOut && answer == StepAnswer::kRefused) {
    return Drop(step.plan,
                Outcome::Kind::kDropped,
                fmt::format("the budget of pod {} refuses", NameOf(step.pod)));
  }
  if (step.kind == Kind::kNominate && answer == StepAnswer::kRefused) {
    return Drop(step.plan,
                Outcome::Kind::kDropped,
                fmt::format("pod {} cannot be nominated", NameOf(step.pod)));
  }
  if (step.kind == Kind::kNominate && answer == StepAnswer::kGone) {
    return Drop(
        step.plan, Outcome::Kind::kDropped, fmt::format("pod {} is gone", NameOf(step.pod)));
  }
  if (!ends) {
    Retry(step, now);
    return {};
  }
  retries_.Forget(step.Key());
  plan.open.erase(step.Key());
  if (!plan.open.empty()) return {};
  if (plan.phase == Phase::kDelete) {
    outcomes_.push_back({Outcome::Kind::kGone, std::move(plan.order), ""});
    plans_.erase(found);
    return {};
  }
  return Advance(step.plan, static_cast<Phase>(static_cast<int>(plan.phase) + 1));
}

void EvictionBook::Retry(const EvictionStep& step, net::SteadyTime now) {
  later_.emplace(retries_.Failed(step.Key(), now), step);
}

EvictionBook::Steps EvictionBook::TakeDue(net::SteadyTime now) {
  Steps due;
  while (!later_.empty() && now >= later_.begin()->first) {
    due.push_back(std::move(later_.extract(later_.begin()).mapped()));
  }
  return due;
}

std::optional<net::SteadyTime> EvictionBook::NextDue() const {
  if (later_.empty()) return std::nullopt;
  return later_.begin()->first;
}

}  // namespace strata::live
