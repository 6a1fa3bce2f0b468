#pragma once

#include <cstdint>
#include <string_view>

#include <nlohmann/json.hpp>

#include "apiserver/request/api_error.h"
#include "apiserver/request/call.h"
#include "apiserver/request/query_options.h"
#include "base/result.h"

namespace strata::apiserver {

// One YAML document (JSON is one, too).
[[nodiscard]] Result<nlohmann::json> ParseYaml(std::string_view text);

// The media type of a header, without parameters, in lower case.
[[nodiscard]] std::string MediaType(std::string_view header);

// The object in the body of a create or an update: JSON (also when no type is given), YAML or
// protobuf, with the apiVersion and kind of the call's resource put in where they may be
// missing, as Kubernetes does. Unknown fields, and values of annotations that nobody can read
// (admission/manifest_judge.h), are rejected, or become warnings of the call, as `validation` says.
[[nodiscard]] ApiResult<nlohmann::json> ReadObject(Call& call, FieldValidation validation);

// The same checks for an object that a patch has made of `before`; null when it made it of nothing.
// What was there before is not the patch's.
[[nodiscard]] ApiResult<void> CheckPatched(Call& call,
                                           const nlohmann::json& object,
                                           const nlohmann::json& before,
                                           FieldValidation validation);

// The body of a DELETE; null when there is none.
[[nodiscard]] ApiResult<nlohmann::json> ReadDeleteBody(const Call& call);
// A body of a kind that is not the resource's (Binding, Eviction).
[[nodiscard]] ApiResult<nlohmann::json> ReadOther(const Call& call, std::string_view kind);

}  // namespace strata::apiserver
