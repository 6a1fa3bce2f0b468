#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace strata {

// Why an operation on the outside world failed. Stable: maps 1:1 to HTTP/Kubernetes status reasons.
enum class Code : std::uint8_t {
  kInvalidArgument,
  kNotFound,
  kConflict,     // optimistic concurrency lost; re-read and retry
  kGone,         // watch position compacted away; relist
  kUnavailable,  // retry with backoff
  kInternal,     // our bug, reported rather than aborted on
};

struct Error {
  Code code;
  std::string message;

  // Returns this error with `what` put in front: "bind pod ns/a: connect: refused".
  [[nodiscard]] Error Context(std::string what) && {
    what += ": ";
    what += message;
    return Error{code, std::move(what)};
  }
};

// A value or an Error. Dropping one is a compile-time warning (tl::expected 1.0 lacks
// [[nodiscard]]).
template <typename T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
  using Base = tl::expected<T, Error>;

 public:
  using Base::Base;
  Result(Base&& base) : Base(std::move(base)) {}  // NOLINT(google-explicit-constructor)
};
using Status = Result<void>;

[[nodiscard]] inline tl::unexpected<Error> Fail(Code code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

}  // namespace strata

#define STRATA_INTERNAL_CAT2(a, b) a##b
#define STRATA_INTERNAL_CAT(a, b) STRATA_INTERNAL_CAT2(a, b)

// TRY(expr): returns early with the error of a Status/Result.
#define TRY(expr)                                                              \
  do {                                                                         \
    if (auto try_result = (expr); !try_result) {                               \
      return ::tl::unexpected<::strata::Error>(std::move(try_result).error()); \
    }                                                                          \
  } while (false)

// TRY_ASSIGN(const Node node, Load(id)): declares `node`, or returns early with the error.
#define TRY_ASSIGN(decl, expr) \
  STRATA_INTERNAL_TRY_ASSIGN(STRATA_INTERNAL_CAT(try_, __LINE__), decl, expr)
#define STRATA_INTERNAL_TRY_ASSIGN(tmp, decl, expr)                           \
  auto tmp = (expr);                                                          \
  if (!tmp) return ::tl::unexpected<::strata::Error>(std::move(tmp).error()); \
  decl = std::move(*tmp)
