#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "apiserver/state/server_state.h"

// Deleting a namespace deletes everything in it first; the namespace is removed when it is empty.
namespace strata::apiserver {

[[nodiscard]] bool IsTerminatingNamespace(const StoredObject& ns);
// Prepares the mark of a deletion: phase Terminating. spec.finalizers keeps the namespace.
void HoldNamespace(nlohmann::json& object);
// Deletes everything in a terminating namespace; objects with a grace period or finalizers are
// removed later. Retries after a second when the store fails. Nothing unless it is terminating.
void EmptyNamespace(ServerState& state, const std::string& ns);
// Removes a terminating namespace that is empty. Called after an object in it was removed.
void FinishNamespace(ServerState& state, const std::string& ns);

}  // namespace strata::apiserver
