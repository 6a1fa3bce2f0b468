#include "live/retry_times.h"

namespace strata::live {
namespace {

constexpr Duration kForgotten = std::chrono::minutes(10);
constexpr std::size_t kMany = 1024;  // fewer are not worth a look

}  // namespace

net::SteadyTime RetryTimes::Failed(const std::string& name, net::SteadyTime now) {
  if (failed_.size() >= kMany && now >= next_sweep_) DropOld(now);
  Entry& entry = failed_.try_emplace(name, Entry{kube::Backoff(limits_), {}}).first->second;
  entry.due = now + entry.backoff.Next(random_);
  return entry.due;
}

net::SteadyTime RetryTimes::Due(const std::string& name) const {
  const auto known = failed_.find(name);
  return known == failed_.end() ? net::SteadyTime::min() : known->second.due;
}

void RetryTimes::DropOld(net::SteadyTime now) {
  std::erase_if(failed_, [now](const auto& known) { return known.second.due + kForgotten < now; });
  next_sweep_ = now + kForgotten / 10;
}

}  // namespace strata::live
