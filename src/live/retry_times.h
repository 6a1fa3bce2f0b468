#pragma once

#include <map>
#include <string>
#include <utility>

#include "kube/pacing.h"
#include "net/transport.h"

namespace strata::live {

// When what failed may be tried again, by name: later and later until it works. A value; time is an
// argument, chance is injected.
class RetryTimes {
 public:
  explicit RetryTimes(kube::Random random, kube::Backoff::Limits limits = {})
      : random_(std::move(random)), limits_(limits) {}

  // Returns the moment from which on it may be tried again.
  net::SteadyTime Failed(const std::string& name, net::SteadyTime now);
  // It worked, or is not wanted any more.
  void Forget(const std::string& name) { failed_.erase(name); }

  // The moment, in the past when it may be tried; the beginning of time for what has not failed.
  [[nodiscard]] net::SteadyTime Due(const std::string& name) const;
  [[nodiscard]] bool HasFailed(const std::string& name) const { return failed_.contains(name); }

 private:
  struct Entry {
    kube::Backoff backoff;
    net::SteadyTime due{};
  };
  // What was given up by somebody who did not say so is not kept for good.
  void DropOld(net::SteadyTime now);

  kube::Random random_;
  kube::Backoff::Limits limits_;
  std::map<std::string, Entry> failed_;
  net::SteadyTime next_sweep_ = net::SteadyTime::min();
};

}  // namespace strata::live
