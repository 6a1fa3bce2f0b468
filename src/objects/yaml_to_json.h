#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace strata::objects {

// Every document of a YAML stream as one JSON text each, read as kubectl reads it (yaml_scalar.h;
// quoted scalars are strings, keys become strings, `<<` is expanded, aliases are copied). Empty
// documents are left out.
//
// kInvalidArgument with "line 3, column 7: ..." for invalid text (text_check.h), invalid YAML, a
// duplicate key, a document nested too deeply, and aliases that blow up. No exception
// escapes.
[[nodiscard]] Result<std::vector<std::string>> YamlToJson(std::string_view text);

}  // namespace strata::objects
