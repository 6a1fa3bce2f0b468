#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "apiserver/request/api_error.h"
#include "apiserver/server_state.h"

// The life of CustomResourceDefinitions: one that is written is served at once, one that is deleted
// takes its objects along and goes when none is left.
namespace strata::apiserver {

// Checks a definition that is to be written, and fills in what the server says about it: names,
// accepted names, conditions, stored versions.
[[nodiscard]] ApiResult<void> PrepareDefinition(const ServerState& state, nlohmann::json& object);

// Serves what a definition defines, in place of what it defined before.
void ServeDefinition(ServerState& state, const nlohmann::json& object);
// Ends that; `name` is "<plural>.<group>".
void ForgetDefinition(ServerState& state, const std::string& name);

// Before it is marked as dying: a finalizer holds it while it has objects.
void HoldDefinition(const ServerState& state, nlohmann::json& object);
// Deletes all its objects; what finalizers hold goes later.
void EmptyDefinition(ServerState& state, const std::string& name);
// After an object of a custom kind has gone: lets a dying definition without objects go.
void FinishDefinition(ServerState& state, const Resource& resource);

}  // namespace strata::apiserver
