#pragma once

#include <functional>
#include <memory>

#include "apiserver/state/server_state.h"

namespace strata::apiserver {

// Work that is repeated when a part of it failed: once, however many parts ask.
class Retry {
 public:
  Retry(ServerState& state, std::function<void()> again);
  // Repeats it after a second, unless the server is destroyed by then.
  void Ask();

 private:
  ServerState& state_;
  std::weak_ptr<bool> alive_;
  std::function<void()> again_;  // empty once asked
};
using RetryRef = std::shared_ptr<Retry>;

[[nodiscard]] RetryRef RetryInASecond(ServerState& state, std::function<void()> again);

}  // namespace strata::apiserver
