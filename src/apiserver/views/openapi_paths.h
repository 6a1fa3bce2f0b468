#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "apiserver/resources/resource.h"
#include "schema/openapi.h"

// What the two OpenAPI documents have in common: which operations there are, and the types they
// speak of.
namespace strata::apiserver {

// What an operation takes or answers.
enum class Body : std::uint8_t { kNone, kObject, kList, kPatch };

struct ApiOperation {
  std::string_view method;  // "get"
  std::string_view action;  // x-kubernetes-action: "list"
  std::string id;           // unique in the document
  std::string description;
  std::span<const std::string_view> query;  // names of parameters, constants
  Body takes = Body::kNone;
  Body answers = Body::kObject;
};

struct ApiPath {
  std::string path;                      // "/api/v1/namespaces/{namespace}/pods/{name}"
  std::vector<std::string_view> places;  // "name", "namespace"
  std::vector<ApiOperation> operations;
};

// The paths of one row, subresources that are the object itself included.
[[nodiscard]] std::vector<ApiPath> PathsOf(const Resource& row);

struct QueryParameter {
  std::string_view type;  // "string"
  std::string_view description;
};
// REQUIRES: `name` is from an ApiOperation.
[[nodiscard]] QueryParameter DescribeQuery(std::string_view name);

// Names of types in a document.
struct KindTypes {
  std::string object;  // "io.k8s.api.core.v1.Pod", "sh.volcano.batch.v1alpha1.Job"
  std::string list;
  std::string patch;
};

// Puts the types of a row, each with its x-kubernetes-group-version-kind, and all they use into
// `types`.
[[nodiscard]] KindTypes AddKind(const Resource& row,
                                schema::OpenApiVersion version,
                                schema::OpenApiTypes& types);

// {"group", "version", "kind"}.
[[nodiscard]] nlohmann::json GroupVersionKind(const Resource& row);

}  // namespace strata::apiserver
