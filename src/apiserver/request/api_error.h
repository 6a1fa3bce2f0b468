#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "admission/api_error.h"
#include "base/result.h"
#include "schema/check.h"

namespace strata::apiserver {

using admission::ApiError;
using admission::ApiResult;
using admission::ErrorAbout;
using admission::Forbidden;
using admission::Invalid;
using admission::JoinProblems;
using admission::kMaxCauses;
using admission::ResourceInfo;
using admission::Shortened;

// The Status object ("kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",...).
[[nodiscard]] nlohmann::json ToStatus(const ApiError& error);

// 404: `configmaps "nope" not found`; the details name the plural.
[[nodiscard]] ApiError NotFound(const ResourceInfo& resource, std::string_view name);
// 404 of an unknown resource of a group that is served, and 405; their details are empty.
[[nodiscard]] ApiError NoSuchResource();
[[nodiscard]] ApiError MethodNotAllowed();
// 401: no token, or one that is not valid.
[[nodiscard]] ApiError Unauthorized();
// 400.
[[nodiscard]] ApiError BadRequest(std::string message);
// 409: `configmaps "a" already exists`.
[[nodiscard]] ApiError AlreadyExists(const ResourceInfo& resource, std::string_view name);
// 409: `Operation cannot be fulfilled on pods "a": <why>`.
[[nodiscard]] ApiError Conflict(const ResourceInfo& resource,
                                std::string_view name,
                                std::string_view why);
// The `why` of a stale resourceVersion.
[[nodiscard]] std::string_view StaleVersion();
// 422 of query options, which are validated as objects: "CreateOptions".
[[nodiscard]] ApiError InvalidOptions(std::string_view options, schema::Problem problem);
// 415 that lists what is accepted.
[[nodiscard]] ApiError UnsupportedMediaType(std::string_view accepted);
// 413.
[[nodiscard]] ApiError EntityTooLarge();
// 500 with a reason.
[[nodiscard]] ApiError InternalError(std::string_view what);
// What a store that failed means to a client.
[[nodiscard]] ApiError FromStore(const ResourceInfo& resource,
                                 std::string_view name,
                                 const Error& error);

}  // namespace strata::apiserver
