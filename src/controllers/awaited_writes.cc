#include "controllers/awaited_writes.h"

#include <algorithm>

namespace strata::controllers {

void AwaitedWrites::Add(const std::string& key,
                        std::vector<Cache::Expectation> left,
                        net::SteadyTime now) {
  while (!give_ups_.empty() && give_ups_.front().first <= now) {
    const auto found = of_key_.find(give_ups_.front().second);
    if (found != of_key_.end() && found->second.give_up <= now) of_key_.erase(found);
    give_ups_.pop_front();
  }
  of_key_[key] = {std::move(left), now + kMaxWait};
  give_ups_.emplace_back(now + kMaxWait, key);
}

bool AwaitedWrites::AllSeen(const std::string& key, net::SteadyTime now, const HasSeen& has_seen) {
  const auto found = of_key_.find(key);
  if (found == of_key_.end()) return true;
  std::erase_if(found->second.left, has_seen);
  if (!found->second.left.empty() && now < found->second.give_up) return false;
  of_key_.erase(found);
  return true;
}

}  // namespace strata::controllers
