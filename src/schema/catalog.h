#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "schema/check.h"
#include "schema/schema.h"

namespace strata::schema {

// The type of a built-in kind ("" is the core group); nullptr when we have none. Made on the first
// call, kept for good; safe from any thread. Every kind's schema has metadata (ObjectMeta),
// apiVersion and kind. DeleteOptions, Status, ObjectMeta and ListMeta are in meta.k8s.io/v1.
[[nodiscard]] SchemaRef BuiltIn(std::string_view group,
                                std::string_view version,
                                std::string_view kind);

// A named type, such as "io.k8s.api.core.v1.PodTemplateSpec"; nullptr when we have none.
[[nodiscard]] SchemaRef BuiltInType(std::string_view type_name);

// The type that an `openAPIV3Schema` of a CustomResourceDefinition describes; metadata is put in.
// kInvalidArgument names the place in the schema that is invalid. A rule (CEL) that is not
// supported is accepted here and never checked, so that definitions that older versions stored are
// served.
//
// An object that preserves unknown fields and whose `title` is the name of a built-in type is of
// that type (as_sent). So the pods of our Job are known here in full, and the file in deploy/crds
// need not repeat them; a real server takes any object there.
[[nodiscard]] Result<SchemaRef> FromCustomResource(const nlohmann::json& open_api_v3_schema);

// Everything wrong with such a schema at `field` of its definition
// ("spec.versions[0].schema.openAPIV3Schema"), in the words of an API server; among them rules
// (CEL) that are not supported.
[[nodiscard]] std::vector<Problem> SchemaProblems(const nlohmann::json& open_api_v3_schema,
                                                  const std::string& field);

// The CustomResourceDefinitions of deploy/crds, each one YAML document, in the order of their
// names.
[[nodiscard]] std::vector<std::string_view> OwnDefinitions();

}  // namespace strata::schema
