#pragma once

#include <string>
#include <string_view>

namespace strata::schema {

// Why a Go program does not take `text` as a Kubernetes quantity, in its words; "" when it does
// (what is too large is capped, which is not an error).
[[nodiscard]] std::string WhyNoQuantity(std::string_view text);

// The same of base64 (`illegal base64 data at input byte 4`).
[[nodiscard]] std::string WhyNoBase64(std::string_view text);

}  // namespace strata::schema
