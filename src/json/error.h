#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace strata {

// "line 3, column 7: ...": where `text` stops being JSON, and why. "" when it is valid. Quotes
// nothing of the text, which may be a Secret. Slower than the parser (some 50 MB/s): meant for
// texts that the parser has rejected.
[[nodiscard]] std::string DescribeJsonError(std::string_view text);

// "line 3, column 7" of the byte at `offset`, both counted from 1.
[[nodiscard]] std::string LineAndColumn(std::string_view text, std::size_t offset);

}  // namespace strata
