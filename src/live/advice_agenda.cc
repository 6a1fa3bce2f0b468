#include "live/advice_agenda.h"

#include <algorithm>
#include <utility>

namespace strata::live {

bool AdviceAgenda::Follow(const KeptRelaxations::Verdicts& verdicts, net::SteadyTime now) {
  std::erase_if(since_, [&](const auto& known) { return !verdicts.contains(known.first); });
  for (const auto& [job, verdict] : verdicts) {
    const Refusal* before = kept_.VerdictOf(job);
    if (before != nullptr && *before == verdict) continue;
    since_.insert_or_assign(job, now);
    if (!look_at_) look_at_ = now + kSettle;
  }
  kept_.Follow(verdicts);
  if (!under_way_) return false;
  const Refusal* current = kept_.VerdictOf(under_way_->job);
  return current == nullptr || *current != under_way_->verdict;
}

std::optional<net::SteadyTime> AdviceAgenda::NextLook() const {
  if (under_way_ || !look_at_) return std::nullopt;
  return std::max(*look_at_, rest_until_);
}

std::optional<AdviceAgenda::Item> AdviceAgenda::Begin(net::SteadyTime now) {
  const auto next = NextLook();
  if (!next || now < *next) return std::nullopt;
  look_at_.reset();
  for (const std::string& job : kept_.Due()) {
    const net::SteadyTime settled = since_.at(job) + kSettle;
    if (settled > now) {
      look_at_ = std::min(look_at_.value_or(settled), settled);
      continue;
    }
    under_way_ = Item{job, *kept_.VerdictOf(job)};
    began_ = now;
    return under_way_;
  }
  return std::nullopt;
}

bool AdviceAgenda::Finish(std::optional<RelaxationReport> report, net::SteadyTime now) {
  const Item item = *std::exchange(under_way_, std::nullopt);
  rest_until_ = now + (now - began_) * kRest;
  look_at_ = now;
  if (!report) return false;
  kept_.Keep(item.job, item.verdict, *std::move(report));
  return kept_.Find(item.job, item.verdict) != nullptr;
}

}  // namespace strata::live
