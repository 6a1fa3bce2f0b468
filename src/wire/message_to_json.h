#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"

namespace google::protobuf {
class Message;
}

namespace strata::wire {

// A message of wire/proto as a Kubernetes client would have written it in JSON. kInvalidArgument,
// with the place, for times out of range, and for fields our .proto files do not have: what a user
// wrote must not get lost.
[[nodiscard]] Result<nlohmann::json> MessageToJson(const google::protobuf::Message& message);

// JSON inside a protobuf body. kInvalidArgument when it is not JSON, or nested deeper than any
// object.
[[nodiscard]] Result<nlohmann::json> ParseEmbeddedJson(std::string_view text);

}  // namespace strata::wire
