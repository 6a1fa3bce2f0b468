#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/http_message.h"
#include "net/transport.h"

namespace strata::kube {

// Why a call failed: an Error, and what a caller may need to tell apart.
struct Failure {
  Error error{Code::kInternal, ""};
  int http_status = 0;                  // 0: there was no answer
  std::string reason;                   // of the server's Status: "AlreadyExists", "Expired"
  std::optional<Duration> retry_after;  // as the server asked
  net::TransportError::Sent sent = net::TransportError::Sent::kMaybe;
  net::TransportError::Cause cause = net::TransportError::Cause::kConnection;  // without an answer

  std::vector<std::string> causes;  // the reasons of the causes that the Status names

  // 409 of a create, as against one of an update.
  [[nodiscard]] bool AlreadyExists() const { return reason == "AlreadyExists"; }
  // The server has never given out the version that was asked for: it was restored from a backup.
  [[nodiscard]] bool IsVersionTooLarge() const {
    return std::find(causes.begin(), causes.end(), "ResourceVersionTooLarge") != causes.end();
  }
};

// The body of an answer, or why there is none.
using Reply = tl::expected<std::string, Failure>;

// What an answer with an HTTP code of 400 and more means. The message is the server's own where the
// body is a Status, and the beginning of the body where it is something else.
[[nodiscard]] Failure ReadFailure(int http_status,
                                  std::span<const net::Header> headers,
                                  std::string_view body);
[[nodiscard]] Failure ReadFailure(const net::TransportError& error);

// The code that Error carries for an HTTP code.
[[nodiscard]] Code CodeOf(int http_status);

// Seconds of a Retry-After header; dates are not read (no API server sends them). At most an hour.
[[nodiscard]] std::optional<Duration> RetryAfter(std::span<const net::Header> headers);

}  // namespace strata::kube
