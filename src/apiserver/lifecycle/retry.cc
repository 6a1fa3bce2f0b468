#include "apiserver/lifecycle/retry.h"

#include <chrono>
#include <utility>

namespace strata::apiserver {

Retry::Retry(ServerState& state, std::function<void()> again)
    : state_(state), alive_(state.alive), again_(std::move(again)) {}

void Retry::Ask() {
  // The store may tell of a failure while it and the server go.
  if (again_ == nullptr || alive_.expired()) return;
  state_.timers.After(std::chrono::seconds(1),
                      [again = std::exchange(again_, nullptr), alive = alive_] {
                        if (!alive.expired()) again();
                      });
}

RetryRef RetryInASecond(ServerState& state, std::function<void()> again) {
  return std::make_shared<Retry>(state, std::move(again));
}

}  // namespace strata::apiserver
