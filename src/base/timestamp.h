#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace strata {

// RFC 3339 with any offset: "2026-08-20T10:00:00Z", "2026-08-20T12:00:00.5+02:00". Fractions finer
// than a millisecond are cut off. Years 0000 to 9999, in UTC too; a leap second (:60) is the next
// second. As Go, it takes offsets of 24 hours or 60 minutes, and a comma before the fraction.
[[nodiscard]] Result<Time> ParseTimestamp(std::string_view text);

// In UTC: "2026-08-20T10:00:00Z", with ".250" before the Z where there are milliseconds.
[[nodiscard]] std::string FormatTimestamp(Time time);

// What Kubernetes calls a MicroTime: always with a fraction of six digits.
[[nodiscard]] std::string FormatMicroTime(Time time);

}  // namespace strata
