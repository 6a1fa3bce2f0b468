#include "kube/pacing.h"

#include <algorithm>
#include <random>

namespace strata::kube {

Random SystemRandom() {
  return [] {
    static thread_local std::mt19937_64 engine(std::random_device{}());
    return std::uniform_real_distribution<double>(0, 1)(engine);
  };
}

Duration Doubled(Duration first, int times, Duration max) {
  for (int i = 0; i < times && first < max; ++i) {
    first = first > max / 2 ? max : first * 2;
  }
  return std::min(first, max);
}

Duration Backoff::Next(const Random& random) {
  constexpr int kMaxDoublings = 64;
  const Duration range = Doubled(limits_.first, failures_, limits_.max);
  failures_ = std::min(failures_ + 1, kMaxDoublings);
  const double part = 0.5 + random() / 2;
  return Duration(static_cast<Duration::rep>(static_cast<double>(range.count()) * part));
}

void TokenBucket::Refill(net::SteadyTime now) {
  if (last_ && now > *last_) {
    const auto passed = static_cast<double>((now - *last_).count()) / 1000;
    tokens_ = std::min(limits_.burst, tokens_ + passed * limits_.rate);
  }
  last_ = last_ ? std::max(*last_, now) : now;
}

Duration TokenBucket::Take(net::SteadyTime now) {
  if (limits_.rate <= 0) return Duration(0);
  Refill(now);
  tokens_ -= 1;
  if (tokens_ >= 0) return Duration(0);
  constexpr double kLongest = 1e12;  // milliseconds: some thirty years
  return Duration(static_cast<Duration::rep>(std::min(-tokens_ / limits_.rate * 1000, kLongest)) +
                  1);
}

bool TokenBucket::TryTake(net::SteadyTime now) {
  Refill(now);
  if (limits_.rate > 0 && tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

std::optional<Duration> DecideRetry(const Failure& failure,
                                    Repeat repeat,
                                    int attempt,
                                    Duration backoff) {
  using net::TransportError;
  if (attempt >= kMaxAttempts || repeat == Repeat::kNever) return std::nullopt;
  if (failure.http_status == 0) {
    const bool useless = failure.cause == TransportError::Cause::kTrust ||
                         failure.cause == TransportError::Cause::kCancelled;
    if (useless) return std::nullopt;
    const bool safe = repeat == Repeat::kHarmless || failure.sent == TransportError::Sent::kNo;
    return safe ? std::optional(backoff) : std::nullopt;
  }
  const int status = failure.http_status;
  if ((status == 429 || status == 503) && failure.retry_after) {
    return std::max(*failure.retry_after, backoff);
  }
  const bool passing =
      status == 408 || status == 500 || status == 502 || status == 503 || status == 504;
  if (!passing || repeat != Repeat::kHarmless) return std::nullopt;
  return std::max(failure.retry_after.value_or(Duration(0)), backoff);
}

}  // namespace strata::kube
