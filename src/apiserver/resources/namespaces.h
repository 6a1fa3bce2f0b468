#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "apiserver/server_state.h"

// A namespace that is deleted takes what is in it along, and goes when it is empty.
namespace strata::apiserver {

[[nodiscard]] bool IsTerminating(const StoredObject& ns);
// Before it is marked: phase Terminating; spec.finalizers holds it.
void HoldNamespace(nlohmann::json& object);
// Deletes everything in a dying namespace; what grace or finalizers hold goes later. Tries again in
// a second when the store fails. Nothing when it is not dying.
void EmptyNamespace(ServerState& state, const std::string& ns);
// After something in it has gone: removes a dying namespace that is empty.
void FinishNamespace(ServerState& state, const std::string& ns);

}  // namespace strata::apiserver
