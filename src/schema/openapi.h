#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "schema/schema.h"

namespace strata::schema {

enum class OpenApiVersion : std::uint8_t { kV2, kV3 };

// Named types by their name: `definitions` of a v2 document, `components.schemas` of a v3 one.
using OpenApiTypes = std::map<std::string, nlohmann::json>;

// `schema` as OpenAPI. A named type (type_name) is a "$ref" into the document, and its definition
// is put into `types`, with those of all types it uses; what is there already stays. So the schema
// of a built-in kind gives a reference and of a custom kind the definition itself, for the caller
// to name and to add x-kubernetes-group-version-kind to.
//
// What v2 cannot say is left out (nullable, int-or-string, alternatives), as an API server does.
[[nodiscard]] nlohmann::json ToOpenApi(const Schema& schema,
                                       OpenApiVersion version,
                                       OpenApiTypes& types);

}  // namespace strata::schema
