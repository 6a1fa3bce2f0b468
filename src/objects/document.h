#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "objects/value.h"

namespace strata::objects {

// Calls `visit` for each document of a text, in order: YAML documents, or JSON values one after the
// other. A text whose first character is '{' or '[' is JSON; where it is small and does not read as
// JSON, or where a line "---" follows a JSON value, YAML. `name` is asked for nothing but its
// ending .json, which rules YAML out. A number beyond 64 bits is a double, one beyond doubles a
// text.
//
// Stops at the first error, of `visit` or of the text: no UTF-8, NUL bytes, broken syntax (with
// line and column), a depth nobody needs. Returns how many documents there were. Values are valid
// inside `visit` only.
[[nodiscard]] Result<std::size_t> ForEachDocument(std::string_view name,
                                                  const std::string& text,
                                                  const std::function<Status(const Value&)>& visit);

}  // namespace strata::objects
