#pragma once

#include <string>
#include <string_view>

#include "net/http_server.h"

// Access to a page that only this machine reaches.
namespace strata::page {

// Everything below this path is data; the rest are the files of the page, which have no secrets.
inline constexpr std::string_view kDataPath = "/page/v1/";

// Refused (403) are requests that another site's page sent: by another Origin, or by a name other
// than localhost or an address. Data need "Authorization: Bearer TOKEN", else 401; without a token
// ("") they need none.
[[nodiscard]] net::HeadCheck CheckAccess(const std::string& token);

// The same for a server that others reach, which decides about tokens itself: requests that another
// site's page sent are refused.
[[nodiscard]] net::HeadCheck CheckAccessByReview();

// 32 random bytes in hexadecimal digits.
[[nodiscard]] std::string NewToken();

}  // namespace strata::page
