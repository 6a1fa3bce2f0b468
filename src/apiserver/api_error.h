#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#include "schema/check.h"

namespace strata::apiserver {

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

// The Status object ("kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",...).
[[nodiscard]] nlohmann::json ToStatus(const ApiError& error);

}  // namespace strata::apiserver
