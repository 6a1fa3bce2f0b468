#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/clock.h"

namespace strata::device_plugin {

struct RegistrationTimes {
  Duration stream_limit = std::chrono::seconds(10);  // the kubelet opens ListAndWatch within it
  Duration call_limit = std::chrono::seconds(10);  // of Register; the kubelet dials back meanwhile
  Duration min_backoff = std::chrono::seconds(1);
  Duration max_backoff = std::chrono::seconds(30);
  Duration steady = std::chrono::seconds(10);     // a stream of that age ends without a backoff
  Duration look_again = std::chrono::seconds(5);  // at the sockets, should inotify fail
};

// When to register with the kubelet: at first, when its socket is new, when our socket has gone,
// when the kubelet ends the stream, when it does not open one. A value that is told what happened;
// it never gives up.
class RegistrationState {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  explicit RegistrationState(RegistrationTimes times) : times_(times) {}

  void KubeletAppeared(Instant now);  // its socket exists, and is another one than before
  void KubeletGone();                 // there is no socket
  void OurSocketGone(Instant now);
  void Registered(Instant now);
  void RegisterFailed(Instant now);
  void StreamOpened(Instant now);
  void StreamEnded(Instant now);

  enum class Action : std::uint8_t { kWait, kRegister };
  struct Next {
    Action action = Action::kWait;
    std::optional<Instant> wake;  // when to ask again; none: when something has happened
  };
  // What to do now. After kRegister the caller calls Registered or RegisterFailed.
  [[nodiscard]] Next Decide(Instant now);

  [[nodiscard]] bool connected() const { return phase_ == Phase::kConnected; }

 private:
  enum class Phase : std::uint8_t { kDown, kAwaitingStream, kConnected };

  void BackOff(Instant now);

  RegistrationTimes times_;
  Phase phase_ = Phase::kDown;
  bool kubelet_ = false;
  int failures_ = 0;
  Instant retry_at_{};      // in kDown
  Instant stream_by_{};     // in kAwaitingStream
  Instant connected_at_{};  // in kConnected
};

}  // namespace strata::device_plugin
