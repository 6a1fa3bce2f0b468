#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace strata::schema {

enum class TimeLayout : std::uint8_t {
  kSeconds,  // "2006-01-02T15:04:05Z07:00"; a fraction is allowed
  kMicro,    // "2006-01-02T15:04:05.000000Z07:00"
};

// Why Go's time package does not take `text` in that layout, in its words (`parsing time "x" as
// "2006-...": cannot parse "x" as "2006"`); "" when it does.
[[nodiscard]] std::string WhyNoTime(std::string_view text, TimeLayout layout);

}  // namespace strata::schema
