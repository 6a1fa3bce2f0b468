#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace strata::objects {

// "line 3, column 7: ...": where and why `text` is no JSON. Slower than the parser (some 50 MB/s):
// for texts that are known to be bad. "" when nothing is wrong with it.
[[nodiscard]] std::string DescribeJsonError(std::string_view text);

// "line 3, column 7" of the byte at `offset`, both counted from 1.
[[nodiscard]] std::string PositionOf(std::string_view text, std::size_t offset);

}  // namespace strata::objects
