#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "admission/resource_info.h"
#include "schema/check.h"

namespace strata::admission {

// Why a request is refused, in the shape of a Kubernetes Status.
struct ApiError {
  int code = 500;
  std::string reason;  // "NotFound", "" for none
  std::string message;
  std::string name;  // details.name and so on; "" leaves them out
  std::string group;
  std::string kind;
  std::string uid;
  std::vector<schema::Problem> causes;
  int retry_after_seconds = 0;
};

template <typename T>
using ApiResult = tl::expected<T, ApiError>;

// An error lists at most this many causes; the last then says how many more there are.
inline constexpr std::size_t kMaxCauses = 100;
// The first `max_bytes` bytes of a text that a client sent, for a message.
[[nodiscard]] std::string Shortened(std::string_view text, std::size_t max_bytes);
// "field: message", or "[field: message, field: message]" when there are several.
[[nodiscard]] std::string JoinProblems(const std::vector<schema::Problem>& problems);

// An error whose details name the object by the plural of its resource; the message is still empty.
[[nodiscard]] ApiError ErrorAbout(const ResourceInfo& resource,
                                  std::string_view name,
                                  int code,
                                  std::string_view reason);
// 403: `pods "a" is forbidden: <why>`.
[[nodiscard]] ApiError Forbidden(const ResourceInfo& resource,
                                 std::string_view name,
                                 std::string_view why);
// 422: `ConfigMap "a" is invalid: metadata.name: ...`; the details name the kind.
[[nodiscard]] ApiError Invalid(const ResourceInfo& resource,
                               std::string_view name,
                               std::vector<schema::Problem> problems);

}  // namespace strata::admission

// TRY_API(expr), TRY_API_ASSIGN(decl, expr): TRY and TRY_ASSIGN (base/result.h) for an ApiResult.
#define TRY_API(expr)                                                                        \
  do {                                                                                       \
    if (auto try_result = (expr); !try_result) {                                             \
      return ::tl::unexpected<::strata::admission::ApiError>(std::move(try_result).error()); \
    }                                                                                        \
  } while (false)
#define TRY_API_ASSIGN(decl, expr) \
  STRATA_INTERNAL_TRY_API_ASSIGN(STRATA_INTERNAL_CAT(try_, __LINE__), decl, expr)
#define STRATA_INTERNAL_TRY_API_ASSIGN(tmp, decl, expr)                                     \
  auto tmp = (expr);                                                                        \
  if (!tmp) return ::tl::unexpected<::strata::admission::ApiError>(std::move(tmp).error()); \
  decl = std::move(*tmp)
