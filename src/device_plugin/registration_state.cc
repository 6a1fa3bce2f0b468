#include "device_plugin/registration_state.h"

#include <algorithm>

namespace strata::device_plugin {

void RegistrationState::KubeletAppeared(Instant now) {
  kubelet_ = true;
  phase_ = Phase::kDown;
  failures_ = 0;
  retry_at_ = now;
}

void RegistrationState::KubeletGone() {
  kubelet_ = false;
  phase_ = Phase::kDown;
}

void RegistrationState::OurSocketGone(Instant now) {
  if (phase_ == Phase::kDown) return;
  phase_ = Phase::kDown;
  retry_at_ = now;
}

void RegistrationState::Registered(Instant now) {
  phase_ = Phase::kAwaitingStream;
  stream_by_ = now + times_.stream_limit;
}

void RegistrationState::RegisterFailed(Instant now) {
  BackOff(now);
}

void RegistrationState::StreamOpened(Instant now) {
  if (phase_ != Phase::kAwaitingStream) return;
  phase_ = Phase::kConnected;
  connected_at_ = now;
}

void RegistrationState::StreamEnded(Instant now) {
  if (phase_ == Phase::kDown) return;
  if (phase_ == Phase::kConnected && now - connected_at_ >= times_.steady) {
    failures_ = 0;
    phase_ = Phase::kDown;
    retry_at_ = now;
    return;
  }
  BackOff(now);
}

RegistrationState::Next RegistrationState::Decide(Instant now) {
  if (phase_ == Phase::kAwaitingStream && now >= stream_by_) BackOff(now);
  if (!kubelet_ || phase_ == Phase::kConnected) return {};
  if (phase_ == Phase::kAwaitingStream) return {.action = Action::kWait, .wake = stream_by_};
  if (now < retry_at_) return {.action = Action::kWait, .wake = retry_at_};
  return {.action = Action::kRegister, .wake = std::nullopt};
}

void RegistrationState::BackOff(Instant now) {
  Duration delay = times_.min_backoff;
  for (int i = 0; i < failures_ && delay < times_.max_backoff; ++i) delay *= 2;
  ++failures_;
  phase_ = Phase::kDown;
  retry_at_ = now + std::min(delay, times_.max_backoff);
}

}  // namespace strata::device_plugin
