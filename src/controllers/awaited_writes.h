#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "controllers/cache.h"
#include "kube/client.h"

namespace strata::controllers {

// What the last plan for a key wrote and has not come back yet. Not thread-safe.
class AwaitedWrites {
 public:
  using HasSeen = std::function<bool(const Cache::Expectation& expectation)>;

  // A write that is not seen for so long was undone, or the server started over.
  static constexpr Duration kMaxWait = std::chrono::seconds(5);

  // Takes the place of what the plan before wrote. Forgets what nobody waits for any more: a key
  // need not be looked at again.
  void Add(const std::string& key, std::vector<Cache::Expectation> left, net::SteadyTime now);
  // Whether all has come back, or has been waited for long enough; then it is forgotten.
  [[nodiscard]] bool AllSeen(const std::string& key, net::SteadyTime now, const HasSeen& has_seen);

  // How many keys there are.
  [[nodiscard]] std::size_t size() const { return of_key_.size(); }

 private:
  struct Awaited {
    std::vector<Cache::Expectation> left;
    net::SteadyTime give_up;
  };

  std::map<std::string, Awaited> of_key_;
  std::deque<std::pair<net::SteadyTime, std::string>> give_ups_;  // in order; some are obsolete
};

}  // namespace strata::controllers
