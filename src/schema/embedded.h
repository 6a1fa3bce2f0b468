#pragma once

#include <string_view>
#include <vector>

// Files that are part of the program; src/schema/CMakeLists.txt puts them in.
namespace strata::schema {

[[nodiscard]] const std::vector<std::string_view>& EmbeddedTypes();        // types/*.types
[[nodiscard]] std::string_view EmbeddedDescriptions();                     // types/descriptions.txt
[[nodiscard]] const std::vector<std::string_view>& EmbeddedDefinitions();  // deploy/crds/*.yaml

}  // namespace strata::schema
