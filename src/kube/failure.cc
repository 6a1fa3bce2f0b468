#include "kube/failure.h"

#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "objects/value.h"

namespace strata::kube {
namespace {

constexpr std::size_t kShownBytes = 200;

// A line that a terminal can show.
std::string OneLine(std::string_view text) {
  std::string line;
  for (const char c : Trim(text).substr(0, kShownBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    line += byte < 0x20 || byte == 0x7f ? ' ' : c;
  }
  return line;
}

std::string TextOf(const objects::Value& object, std::string_view key) {
  const auto found = object.Find(key);
  return found && found->type() == objects::Value::Type::kString ? std::string(found->AsString())
                                                                 : "";
}

// The reasons in details.causes.
std::vector<std::string> ReadCauses(const objects::Value& status) {
  using Type = objects::Value::Type;
  std::vector<std::string> reasons;
  const auto details = status.Find("details");
  if (!details || details->type() != Type::kObject) return reasons;
  const auto causes = details->Find("causes");
  if (!causes || causes->type() != Type::kArray) return reasons;
  for (const objects::Value& cause : causes->Items()) {
    if (cause.type() == Type::kObject) reasons.push_back(TextOf(cause, "reason"));
  }
  return reasons;
}

// False when the body is not a Status.
bool ReadStatusBody(std::string_view body, Failure& failure) {
  const auto document = objects::Document::ParseJson(body);
  if (!document || document->root().type() != objects::Value::Type::kObject) return false;
  if (TextOf(document->root(), "kind") != "Status") return false;
  failure.reason = TextOf(document->root(), "reason");
  failure.error.message = TextOf(document->root(), "message");
  failure.causes = ReadCauses(document->root());
  return true;
}

}  // namespace

Code CodeOf(int http_status) {
  switch (http_status) {
    case 404:
      return Code::kNotFound;
    case 409:
      return Code::kConflict;
    case 410:
      return Code::kGone;
    case 401:  // credentials may be renewed
    case 408:
    case 429:
      return Code::kUnavailable;
    default:
      return http_status >= 500 ? Code::kUnavailable : Code::kInvalidArgument;
  }
}

std::optional<Duration> RetryAfter(std::span<const net::Header> headers) {
  constexpr std::int64_t kMaxSeconds = 3600;
  for (const net::Header& header : headers) {
    if (LowerCase(header.name) != "retry-after") continue;
    if (const auto seconds = WholeNumber(Trim(header.value), kMaxSeconds)) {
      return std::chrono::seconds(*seconds);
    }
  }
  return std::nullopt;
}

Failure ReadFailure(int http_status, std::span<const net::Header> headers, std::string_view body) {
  Failure failure;
  failure.http_status = http_status;
  failure.retry_after = RetryAfter(headers);
  failure.error.code = CodeOf(http_status);
  if (!ReadStatusBody(body, failure)) failure.error.message = OneLine(body);
  if (failure.error.message.empty()) {
    failure.error.message = fmt::format("the server answered with HTTP code {}", http_status);
  }
  return failure;
}

Failure ReadFailure(const net::TransportError& error) {
  Failure failure;
  failure.error = {Code::kUnavailable, error.message};
  failure.sent = error.sent;
  failure.cause = error.cause;
  return failure;
}

}  // namespace strata::kube
