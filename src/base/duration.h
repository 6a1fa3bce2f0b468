#pragma once

#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace strata {

// A duration as Go writes it: a sign, then numbers with units, "1h30m", "1.5s", "-300ms"; units ns,
// us, ms, s, m, h; a bare "0". What is finer than a millisecond is cut off.
//
// kInvalidArgument with one sentence that quotes `text`, also when it is beyond 2^63-1 nanoseconds
// (about 292 years).
[[nodiscard]] Result<Duration> ParseDuration(std::string_view text);

}  // namespace strata
