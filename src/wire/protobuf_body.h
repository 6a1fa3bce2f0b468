#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"

namespace strata::wire {

// Reads a body of type application/vnd.kubernetes.protobuf ("k8s\0" and a runtime.Unknown) into the
// JSON that the same client would have sent, apiVersion and kind included. kInvalidArgument when it
// is none, or of a kind that this server does not read as protobuf (the message names it).
[[nodiscard]] Result<nlohmann::json> ReadProtobufBody(std::string_view body);

// An OpenAPI v2 document (JSON) in the protobuf form that kubectl asks for.
[[nodiscard]] Result<std::string> OpenApiV2ToProtobuf(const nlohmann::json& document);

}  // namespace strata::wire
