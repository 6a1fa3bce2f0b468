#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace strata::cel {

struct Token {
  enum class Kind : std::uint8_t { kEnd, kName, kLiteral, kSymbol };
  Kind kind = Kind::kEnd;
  std::string text;      // a name, or a symbol such as "&&"
  nlohmann::json value;  // of a literal: an integer, a double or a string
  std::size_t at = 0;    // offset of its first byte
};

// The tokens of `text`, a kEnd last. kInvalidArgument for a character that begins no token, a
// broken or unsupported literal (bytes, unsigned integers), a number beyond 64 bits.
[[nodiscard]] Result<std::vector<Token>> Tokenize(std::string_view text);

// "<what> at character <n>", counted from 1.
[[nodiscard]] tl::unexpected<Error> FailAt(std::size_t offset, std::string_view what);

}  // namespace strata::cel
