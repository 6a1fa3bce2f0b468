#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "apiserver/request/api_error.h"
#include "apiserver/server_state.h"

// The life of CustomResourceDefinitions: one that is written is served at once, one that is deleted
// takes its objects along and goes when none is left.
namespace strata::apiserver {

// Checks a definition that is to be written in the place of `before` (null: of none), and fills in
// what the server says about it: names, accepted names, conditions, stored versions.
[[nodiscard]] ApiResult<void> PrepareDefinition(const ServerState& state,
                                                const nlohmann::json* before,
                                                nlohmann::json& object);
// Rules (CEL) of its schemas that this server cannot check, as warnings.
[[nodiscard]] std::vector<std::string> DefinitionWarnings(const nlohmann::json& object);

// 404 or 405 when objects of a custom kind cannot be created: its definition has gone or is going.
[[nodiscard]] ApiResult<void> CheckDefinition(const ServerState& state, const Resource& resource);

// Serves what a definition defines, in place of what it defined before.
void ServeDefinition(ServerState& state, const nlohmann::json& object);
// Ends that; `name` is "<plural>.<group>".
void ForgetDefinition(ServerState& state, const std::string& name);

[[nodiscard]] bool IsDying(const StoredObject& definition);
// The path that the store must index for IsDying.
inline constexpr const char* kDeletionPath = "metadata.deletionTimestamp";

// Before it is marked as dying: a finalizer holds it while it has objects.
void HoldDefinition(const ServerState& state, nlohmann::json& object);
// Deletes all objects of a dying definition; what finalizers hold goes later. Tries again in a
// second when the store fails. Nothing when it is not dying.
void EmptyDefinition(ServerState& state, const std::string& name);
// After it was written, or an object of its kind has gone: lets a dying definition without objects
// go.
void FinishDefinition(ServerState& state, const std::string& name);

}  // namespace strata::apiserver
