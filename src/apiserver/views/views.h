#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "apiserver/resources/resource.h"
#include "base/clock.h"

namespace strata::apiserver {

// What clients are shown besides objects. All of it is made from the table of resources.

// Discovery: /api, /apis, /api/v1 and /apis/<group>/<version>; null for a group or version that is
// not served.
[[nodiscard]] nlohmann::json CoreVersions(std::string_view server_address);
[[nodiscard]] nlohmann::json GroupList(const ResourceTable& table);
[[nodiscard]] nlohmann::json GroupInfo(const ResourceTable& table, std::string_view group);
[[nodiscard]] nlohmann::json ResourceList(const ResourceTable& table,
                                          std::string_view group,
                                          std::string_view version);
// APIGroupDiscoveryList (apidiscovery.k8s.io/v2), of the core group or of all others.
enum class DiscoveryOf : std::uint8_t { kCore, kGroups };
[[nodiscard]] nlohmann::json AggregatedDiscovery(const ResourceTable& table, DiscoveryOf what);

// OpenAPI: /openapi/v2, /openapi/v3 and /openapi/v3/<path>; null for an unknown path.
[[nodiscard]] nlohmann::json OpenApiV2(const ResourceTable& table);
[[nodiscard]] nlohmann::json OpenApiV3Index(const ResourceTable& table);
[[nodiscard]] nlohmann::json OpenApiV3(const ResourceTable& table, std::string_view path);

// The columnDefinitions of a Table, and one row's cells. `object` has kind and apiVersion or not.
[[nodiscard]] nlohmann::json ColumnDefinitions(const Resource& resource);
[[nodiscard]] nlohmann::json Cells(const Resource& resource,
                                   const nlohmann::json& object,
                                   Time now);

}  // namespace strata::apiserver
