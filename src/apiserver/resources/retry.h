#pragma once

#include <functional>
#include <memory>

#include "apiserver/server_state.h"

namespace strata::apiserver {

// Something that is to be done again when a part of it failed: once, however many parts ask.
class Retry {
 public:
  Retry(ServerState& state, std::function<void()> again);
  // In a second, unless the server has gone by then.
  void Ask();

 private:
  ServerState& state_;
  std::weak_ptr<bool> alive_;
  std::function<void()> again_;  // empty once asked
};
using RetryRef = std::shared_ptr<Retry>;

[[nodiscard]] RetryRef RetryInASecond(ServerState& state, std::function<void()> again);

}  // namespace strata::apiserver
