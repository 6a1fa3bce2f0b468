#pragma once

#include <optional>

#include "agent/publish.h"
#include "kube/pacing.h"
#include "net/transport.h"

namespace strata::agent {

// When the Node is to be looked at and written: at once when there is something new to tell, again
// later when that failed, and to show that the agent is alive. A value; time is an argument.
class PublishAgenda {
 public:
  explicit PublishAgenda(kube::Random random) : random_(std::move(random)) {}

  // There is something new to tell.
  void Hurry(net::SteadyTime now) { due_ = now; }
  // None while it is being written.
  [[nodiscard]] std::optional<net::SteadyTime> NextDue() const {
    return under_way_ ? std::nullopt : due_;
  }
  // True when it is to be written now; then it is under way until Finish.
  [[nodiscard]] bool Begin(net::SteadyTime now) {
    if (under_way_ || !due_ || now < *due_) return false;
    under_way_ = true;
    due_.reset();
    return true;
  }
  void Finish(bool written, net::SteadyTime now) {
    under_way_ = false;
    if (written) backoff_.Reset();
    const Duration later = written ? kHeartbeat : backoff_.Next(random_);
    // What came meanwhile does not make a server that refuses be asked more often.
    if (!due_ || !written) due_ = now + later;
  }

 private:
  kube::Random random_;
  kube::Backoff backoff_{{.first = std::chrono::seconds(1), .max = std::chrono::seconds(30)}};
  std::optional<net::SteadyTime> due_;
  bool under_way_ = false;
};

}  // namespace strata::agent
