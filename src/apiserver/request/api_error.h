#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#include "base/result.h"
#include "schema/check.h"

namespace strata::apiserver {

struct Resource;

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

// At most so many causes are told; the last then says how many more there are.
inline constexpr std::size_t kMostCauses = 100;
// The first `most` bytes of a text that a client sent, for a message.
[[nodiscard]] std::string Shortened(std::string_view text, std::size_t most);

// The Status object ("kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",...).
[[nodiscard]] nlohmann::json ToStatus(const ApiError& error);

// 404: `configmaps "nope" not found`; the details name the plural.
[[nodiscard]] ApiError NotFound(const Resource& resource, std::string_view name);
// 404 of an unknown resource of a group that is served, and 405; their details are empty.
[[nodiscard]] ApiError NoSuchResource();
[[nodiscard]] ApiError MethodNotAllowed();
// 400.
[[nodiscard]] ApiError BadRequest(std::string message);
// 403: `pods "a" is forbidden: <why>`.
[[nodiscard]] ApiError Forbidden(const Resource& resource,
                                 std::string_view name,
                                 std::string_view why);
// 409: `configmaps "a" already exists`.
[[nodiscard]] ApiError AlreadyExists(const Resource& resource, std::string_view name);
// 409: `Operation cannot be fulfilled on pods "a": <why>`.
[[nodiscard]] ApiError Conflict(const Resource& resource,
                                std::string_view name,
                                std::string_view why);
// The `why` of a stale resourceVersion.
[[nodiscard]] std::string_view StaleVersion();
// 422: `ConfigMap "a" is invalid: metadata.name: ...`; the details name the kind.
[[nodiscard]] ApiError Invalid(const Resource& resource,
                               std::string_view name,
                               std::vector<schema::Problem> problems);
// 422 of query options, which are validated as objects: "CreateOptions".
[[nodiscard]] ApiError InvalidOptions(std::string_view options, schema::Problem problem);
// 415 that lists what is accepted.
[[nodiscard]] ApiError UnsupportedMediaType(std::string_view accepted);
// 413.
[[nodiscard]] ApiError EntityTooLarge();
// 500 with a reason.
[[nodiscard]] ApiError InternalError(std::string_view what);
// What a store that failed means to a client.
[[nodiscard]] ApiError FromStore(const Resource& resource,
                                 std::string_view name,
                                 const Error& error);

}  // namespace strata::apiserver

// TRY_API(expr), TRY_API_ASSIGN(decl, expr): TRY and TRY_ASSIGN (base/result.h) for an ApiResult.
#define TRY_API(expr)                                                                        \
  do {                                                                                       \
    if (auto try_result = (expr); !try_result) {                                             \
      return ::tl::unexpected<::strata::apiserver::ApiError>(std::move(try_result).error()); \
    }                                                                                        \
  } while (false)
#define TRY_API_ASSIGN(decl, expr) \
  STRATA_INTERNAL_TRY_API_ASSIGN(STRATA_INTERNAL_CAT(try_, __LINE__), decl, expr)
#define STRATA_INTERNAL_TRY_API_ASSIGN(tmp, decl, expr)                                     \
  auto tmp = (expr);                                                                        \
  if (!tmp) return ::tl::unexpected<::strata::apiserver::ApiError>(std::move(tmp).error()); \
  decl = std::move(*tmp)
