#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "apiserver/request/api_error.h"
#include "apiserver/state/server_state.h"

// CustomResourceDefinitions: one that is written is served at once. Deleting one deletes its
// objects first; it is removed when none is left.
namespace strata::apiserver {

// Checks a definition that is to be written in the place of `before` (null: of none), and fills in
// what the server says about it: names, accepted names, conditions, stored versions.
[[nodiscard]] ApiResult<void> PrepareDefinition(const ServerState& state,
                                                const nlohmann::json* before,
                                                nlohmann::json& object);

// The second half of that: what the server says about a definition that was checked.
void CompleteDefinition(const ServerState& state, nlohmann::json& object);

// 404 or 405 when objects of a custom kind cannot be created: its definition was deleted or is
// terminating.
[[nodiscard]] ApiResult<void> CheckDefinition(const ServerState& state, const Resource& resource);

// Serves what a definition defines, in place of what it defined before.
void ServeDefinition(ServerState& state, const nlohmann::json& object);
// The same where DefinitionRows(object) are known.
void ServeDefinition(ServerState& state, const nlohmann::json& object, std::vector<Resource> rows);
// Ends that; `name` is "<plural>.<group>".
void ForgetDefinition(ServerState& state, const std::string& name);

[[nodiscard]] bool IsTerminatingDefinition(const StoredObject& definition);
// The path that the store must index for IsTerminatingDefinition.
inline constexpr const char* kDeletionPath = "metadata.deletionTimestamp";

// Prepares the mark of a deletion: a finalizer keeps the definition while it has objects.
void HoldDefinition(const ServerState& state, nlohmann::json& object);
// Deletes all objects of a terminating definition; those with finalizers are removed later. Retries
// after a second when the store fails. Nothing unless it is terminating.
void EmptyDefinition(ServerState& state, const std::string& name);
// Removes a terminating definition without objects. Called after it was written, or an object of
// its kind was removed.
void FinishDefinition(ServerState& state, const std::string& name);

}  // namespace strata::apiserver
