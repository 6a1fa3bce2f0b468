#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "base/ids.h"

namespace strata {

// Counts the work of one cycle in HyperNodes and nodes looked at, which is the same on every
// machine, and says which queue may still use how much of the budget. The queues that have a job to
// try share the budget equally, and what one of them leaves is not given to another.
//
// The turn of a job is never cut off, so a queue may exceed its share by one turn.
class WorkMeter {
 public:
  // The jobs of a queue that fell behind are in two accounts, so that neither waits for the other:
  // those that this round has not come to, and those that are tried again before its end.
  enum class Account : std::uint8_t { kFirst, kAgain };

  WorkMeter() = default;
  explicit WorkMeter(std::uint64_t budget) : budget_(budget) {}

  // So many HyperNodes or nodes are looked at.
  void Look(std::size_t count) { looked_ += count; }
  [[nodiscard]] std::uint64_t looked() const { return looked_; }

  // The queue has a job to try in this cycle.
  void Expect(QueueId queue) { used_.try_emplace(queue); }
  // True when the account may have one more turn. `behind`: the queue has jobs in both accounts,
  // each of which has one half of the queue's share.
  [[nodiscard]] bool Allows(QueueId queue, Account account, bool behind) const {
    if (!budget_) return true;
    const auto used = used_.find(queue);
    if (used == used_.end()) return true;
    const std::uint64_t share = *budget_ / used_.size();
    // A turn that looks at nothing is always allowed.
    return used->second[Index(account)] < std::max<std::uint64_t>(behind ? share / 2 : share, 1);
  }
  // What was looked at since the previous call was looked at for this account.
  void Charge(QueueId queue, Account account) {
    used_[queue][Index(account)] += looked_ - charged_;
    charged_ = looked_;
  }

 private:
  static std::size_t Index(Account account) { return static_cast<std::size_t>(account); }

  std::optional<std::uint64_t> budget_;  // none: no limit
  std::uint64_t looked_ = 0;
  std::uint64_t charged_ = 0;
  std::map<QueueId, std::array<std::uint64_t, 2>> used_;  // by account
};

}  // namespace strata
