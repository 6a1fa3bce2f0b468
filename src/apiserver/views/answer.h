#pragma once

#include <nlohmann/json_fwd.hpp>

#include "apiserver/request/call.h"
#include "apiserver/store/object_store.h"

namespace strata::apiserver {

// Answer with an object of the call's resource, in the view that the client asked for: the object,
// its metadata alone, or a table.
void AnswerObject(const Call& call, int status, const nlohmann::json& object);
void AnswerStored(const Call& call, int status, const StoredObject& object);

}  // namespace strata::apiserver
