#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "schema/schema.h"

namespace strata::schema {

// The type of a built-in kind ("" is the core group); nullptr when we have none. Made on the first
// call, kept for good. Every kind's schema has metadata (ObjectMeta), apiVersion and kind.
[[nodiscard]] SchemaRef BuiltIn(std::string_view group,
                                std::string_view version,
                                std::string_view kind);

// The type that an `openAPIV3Schema` of a CustomResourceDefinition describes; metadata is put in.
// kInvalidArgument names the place in the schema that makes no sense.
[[nodiscard]] Result<SchemaRef> FromCustomResource(const nlohmann::json& open_api_v3_schema);

}  // namespace strata::schema
