#pragma once

#include <functional>
#include <optional>

#include "base/clock.h"
#include "kube/failure.h"
#include "net/transport.h"

// How fast, and whether again: values and functions of values.
namespace strata::kube {

// A number in [0, 1) per call. Injected; called on one thread at a time.
using Random = std::function<double()>;

// One for programs, started from the system's entropy. From any thread, also by several at once:
// copies of a Random are handed to parts on different threads.
[[nodiscard]] Random SystemRandom();

// `first`, doubled `times` times, at most `max`; never overflows.
[[nodiscard]] Duration Doubled(Duration first, int times, Duration max);

// Delays that double, each drawn from the upper half of its range so that many clients do not come
// back at once.
class Backoff {
 public:
  struct Limits {
    Duration first = std::chrono::milliseconds(200);
    Duration max = std::chrono::seconds(30);
  };
  Backoff() = default;
  explicit Backoff(Limits limits) : limits_(limits) {}

  [[nodiscard]] Duration Next(const Random& random);
  void Reset() { failures_ = 0; }
  [[nodiscard]] int failures() const { return failures_; }

 private:
  Limits limits_;
  int failures_ = 0;
};

// `rate` per second, `burst` at once. A caller waits as long as Take says; places are
// given in the order of the calls.
class TokenBucket {
 public:
  struct Limits {
    double rate = 0;  // 0: no limit
    double burst = 1;
  };
  explicit TokenBucket(Limits limits) : limits_(limits), tokens_(limits.burst) {}

  [[nodiscard]] Duration Take(net::SteadyTime now);
  // Takes a place when there is one now.
  [[nodiscard]] bool TryTake(net::SteadyTime now);

 private:
  void Refill(net::SteadyTime now);

  Limits limits_;
  double tokens_;  // negative: places given away in advance
  std::optional<net::SteadyTime> last_;
};

// What sending a request a second time would do.
enum class Repeat : std::uint8_t {
  kHarmless,    // reads, and writes that end in the same state
  kNever,       // the caller tries again itself
  kOnlyUnseen,  // creates, binds, patches: only when the server certainly did not act
};

// How long to wait before a failed call is made again; none: it has failed. `attempt` counts from
// 1. A server that asks to come back later (429 or 503 with Retry-After) has not acted, so that
// every call may be repeated then; a 429 without it is an answer (an eviction that a budget
// forbids).
[[nodiscard]] std::optional<Duration> DecideRetry(const Failure& failure,
                                                  Repeat repeat,
                                                  int attempt,
                                                  Duration backoff);

inline constexpr int kMaxAttempts = 6;

}  // namespace strata::kube
