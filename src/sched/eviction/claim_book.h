#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "sched/eviction/claim.h"

namespace strata {

// The claims that live, from cycle to cycle. A value: it may be carried to another scheduler.
class ClaimBook {
 public:
  // In the place of the job's earlier claim, if there is one.
  void Add(GangClaim claim) {
    given_up_.erase(claim.uid);
    claims_.insert_or_assign(claim.job, std::move(claim));
  }
  // The plan for the job with this uid came to nothing. It is as if its claim had never been made,
  // since nobody went for it; and nobody is asked to before `until`.
  void Refuse(const std::string& job, const std::string& uid, std::string why, Time until) {
    refused_.insert_or_assign(uid, Refused{std::move(why), until});
    const auto it = claims_.find(job);
    if (it != claims_.end() && it->second.uid == uid) claims_.erase(it);
  }
  struct Refused {
    std::string why;
    Time until{};
  };
  // Null when the job with this uid may evict now.
  [[nodiscard]] const Refused* FindRefused(const std::string& uid, Time now) const {
    const auto it = refused_.find(uid);
    return it == refused_.end() || now >= it->second.until ? nullptr : &it->second;
  }
  // What another scheduler broke before this time is not known: for a minute it may have been as
  // many gangs as any limit allows.
  void KnowsNothingBefore(Time now) { unknown_until_ = now + std::chrono::minutes(1); }
  // So many gangs were broken at this time.
  void CountGangs(std::size_t gangs, Time now) {
    std::erase_if(broken_, [&](Time time) { return time + std::chrono::minutes(1) <= now; });
    broken_.insert(broken_.end(), gangs, now);
  }
  // When so many more may be broken, if at most `limit` may be within a minute; none: now. What
  // exceeds the limit by itself waits until nobody else has gone for a minute.
  [[nodiscard]] std::optional<Time> MayBreakFrom(std::size_t gangs,
                                                 std::size_t limit,
                                                 Time now) const {
    if (now < unknown_until_) return unknown_until_;
    std::vector<Time> recent;
    for (const Time time : broken_) {
      if (time + std::chrono::minutes(1) > now) recent.push_back(time + std::chrono::minutes(1));
    }
    if (recent.empty() || recent.size() + gangs <= limit) return std::nullopt;
    const std::size_t over = std::min(recent.size() + gangs - limit, recent.size());
    return recent[over - 1];
  }
  // By name of the job.
  [[nodiscard]] const std::map<std::string, GangClaim>& all() const { return claims_; }
  [[nodiscard]] const GangClaim* Find(const std::string& job) const {
    const auto it = claims_.find(job);
    return it == claims_.end() ? nullptr : &it->second;
  }
  // The first moment at which a victim has taken too long; none without claims.
  [[nodiscard]] std::optional<Time> NextDeadline() const {
    std::optional<Time> next;
    for (const auto& [job, claim] : claims_) {
      for (const GangClaim::Victim& victim : claim.victims) {
        next = std::min(next.value_or(victim.until), victim.until);
      }
    }
    return next;
  }

 private:
  friend class CycleClaims;
  std::map<std::string, GangClaim> claims_;
  std::vector<Time> broken_;                     // gangs, ascending
  Time unknown_until_{};                         // others may have broken gangs in this minute
  std::map<std::string, Refused> refused_;       // by uid of the job
  std::map<std::string, std::string> given_up_;  // why, by uid of jobs that still wait
};

}  // namespace strata
