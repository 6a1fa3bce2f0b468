#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace strata::discovery {

// FNV-1a: small, the same everywhere, good enough to keep names apart.
[[nodiscard]] std::uint64_t HashOf(std::string_view text);

// `text` as a DNS subdomain: lower case, anything else than letters, digits, '-' and '.' becomes
// '-', and no '-' or '.' at an end of a label. May be empty.
[[nodiscard]] std::string ValidName(std::string_view text);

// A part of a HyperNode's name: lower-case letters, digits and '-'. What had to be altered, or is
// longer than 40 characters, ends in 8 hex digits of its hash, so that different texts stay
// different.
[[nodiscard]] std::string Slug(std::string_view text);

// `length` characters of an alphabet without vowels, from a hash.
[[nodiscard]] std::string HashWord(std::uint64_t hash, int length);

}  // namespace strata::discovery
