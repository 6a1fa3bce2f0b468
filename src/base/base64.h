#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace strata {

// Standard base64 with padding. Line ends and blanks are passed over, as Kubernetes does; none for
// anything else that is not base64.
[[nodiscard]] std::optional<std::string> DecodeBase64(std::string_view text);

// In one line.
[[nodiscard]] std::string EncodeBase64(std::string_view bytes);

}  // namespace strata
