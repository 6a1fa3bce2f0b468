#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

#include "admission/api_error.h"
#include "admission/object_reader.h"
#include "admission/resource_info.h"
#include "base/clock.h"

namespace strata::admission {

// The rules of single kinds: what a real server's registry strategies and admission plugins, and
// Volcano's webhooks, add and refuse. Pure but for reading `store`. Schema checks and defaults have
// been done when these are asked; names, namespaces and resourceVersions are the caller's.
enum class UsedQueues : std::uint8_t { kMayGo, kStay };
struct AdmissionContext {
  const ResourceInfo& resource;
  const ObjectReader& store;
  Time now;
  UsedQueues used_queues = UsedQueues::kMayGo;  // whether a queue with pods may be deleted
};

// May change `object` (defaults) or refuse it.
[[nodiscard]] ApiResult<void> AdmitCreate(const AdmissionContext& context, nlohmann::json& object);
// `subresource` is "" or "status".
[[nodiscard]] ApiResult<void> AdmitUpdate(const AdmissionContext& context,
                                          const nlohmann::json& before,
                                          nlohmann::json& after,
                                          std::string_view subresource);
[[nodiscard]] ApiResult<void> AdmitDelete(const AdmissionContext& context,
                                          const nlohmann::json& object);

}  // namespace strata::admission
