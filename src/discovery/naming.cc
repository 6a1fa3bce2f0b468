#include "discovery/naming.h"

#include <cstddef>

#include <fmt/format.h>

#include "base/ascii.h"

namespace strata::discovery {
namespace {

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

void TrimEnd(std::string& text) {
  while (!text.empty() && !IsPlain(text.back())) text.pop_back();
}

}  // namespace

std::uint64_t HashOf(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3U;
  }
  return hash;
}

std::string ValidName(std::string_view text) {
  std::string name;
  for (const char c : LowerCase(text)) {
    if (c == '.') TrimEnd(name);
    if (name.empty() || name.back() == '.') {
      if (IsPlain(c)) name += c;
    } else {
      name += IsPlain(c) || c == '.' ? c : '-';
    }
  }
  TrimEnd(name);
  return name;
}

std::string Slug(std::string_view text) {
  constexpr std::size_t kMaxLength = 40;
  std::string slug;
  for (const char c : LowerCase(text)) {
    if (IsPlain(c)) {
      slug += c;
    } else if (!slug.empty()) {
      slug += '-';
    }
  }
  TrimEnd(slug);
  if (!slug.empty() && slug == text && slug.size() <= kMaxLength) return slug;
  if (slug.size() > kMaxLength) slug.resize(kMaxLength);
  TrimEnd(slug);
  const auto hash = HashOf(text);
  const auto folded = static_cast<std::uint32_t>(hash ^ (hash >> 32U));
  return fmt::format("{}{}{:08x}", slug, slug.empty() ? "" : "-", folded);
}

std::string HashWord(std::uint64_t hash, int length) {
  constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string word;
  // The low bits of FNV-1a mix worse than the high ones.
  hash ^= hash >> 29U;
  for (int i = 0; i < length; ++i) {
    word += kLetters[static_cast<std::size_t>(hash % kLetters.size())];
    hash /= kLetters.size();
  }
  return word;
}

}  // namespace strata::discovery
