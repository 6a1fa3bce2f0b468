#include "objects/syntax.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "model/resources.h"

namespace strata::objects {
namespace {

constexpr bool IsLower(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
constexpr bool IsAlphanumeric(char c) {
  return IsLower(c) || (c >= 'A' && c <= 'Z');
}
constexpr bool IsNameChar(char c) {
  return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.';
}

bool IsDnsPart(std::string_view text) {
  return !text.empty() && IsLower(text.front()) && IsLower(text.back()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return IsLower(c) || c == '-'; });
}

bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= 63 && IsAlphanumeric(text.front()) &&
         IsAlphanumeric(text.back()) && std::all_of(text.begin(), text.end(), IsNameChar);
}

std::string Shown(std::string_view text) {
  std::string shown(text.substr(0, 100));
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return text.size() > 100 ? shown + "..." : shown;
}

void CheckLabelValue(const Cursor& at, std::string_view value) {
  if (IsLabelValue(value)) return;
  at.Refuse(fmt::format(
      "bad label value \"{}\" (want at most 63 letters, digits, '-', '_' or '.', with a letter or "
      "digit at both ends)",
      Shown(value)));
}

bool IsCountedWhole(std::string_view name) {
  return UnitOf(name) != ResourceUnit::kMilli || name == "storage";
}

void CheckAmount(const Cursor& at, std::string_view name, Quantity& amount) {
  if ((IsExtendedResource(name) || name == "pods") && !amount.IsInteger()) {
    at.Refuse(fmt::format("found {}, want a whole number", amount.ToString()));
    if (const auto whole = amount.Value()) amount = Quantity::FromValue(*whole);
  }
  if (const std::string problem = TooLarge(name, amount); !problem.empty()) at.Refuse(problem);
}

}  // namespace

bool IsDnsLabel(std::string_view text) {
  return text.size() <= 63 && IsDnsPart(text);
}

bool IsDnsSubdomain(std::string_view text) {
  if (text.size() > 253) return false;
  while (true) {
    const std::size_t dot = text.find('.');
    if (!IsDnsPart(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool IsQualifiedName(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return IsName(text);
  return IsDnsSubdomain(text.substr(0, slash)) && IsName(text.substr(slash + 1));
}

bool IsLabelValue(std::string_view text) {
  return text.empty() || IsName(text);
}

void CheckDnsLabel(const Cursor& at, std::string_view text) {
  if (!at.ok() || IsDnsLabel(text)) return;
  at.Refuse(fmt::format(
      "bad name \"{}\" (want at most 63 lower-case letters, digits and '-', with a letter or digit "
      "at both ends)",
      Shown(text)));
}

void CheckDnsSubdomain(const Cursor& at, std::string_view text) {
  if (!at.ok() || IsDnsSubdomain(text)) return;
  at.Refuse(fmt::format(
      "bad name \"{}\" (want at most 253 lower-case letters, digits, '-' and '.', with a letter or "
      "digit at both ends of each part)",
      Shown(text)));
}

void CheckLabelKey(const Cursor& at, std::string_view text) {
  if (!at.ok() || IsQualifiedName(text)) return;
  at.Refuse(
      fmt::format("bad label key \"{}\" (want [domain/]name, the name at most 63 letters, digits, "
                  "'-', '_' or '.')",
                  Shown(text)));
}

void ReadLabels(const Cursor& at, Labels& out) {
  at.ForEachMember([&](std::string_view key, const Cursor& member) {
    CheckLabelKey(at, key);
    std::string& value = out[std::string(key)];
    member.Read(value);
    if (member.ok()) CheckLabelValue(member, value);
  });
}

void ReadAnnotations(const Cursor& at, Labels& out) {
  constexpr std::size_t kMaxTotal = 256U << 10U;
  at.ReadStrings(out);
  std::size_t total = 0;
  for (const auto& [key, value] : out) {
    std::string lower = key;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    CheckLabelKey(at, lower);
    total += key.size() + value.size();
  }
  if (total > kMaxTotal) at.Refuse("too large (256 KiB at most)");
}

bool IsExtendedResource(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos || name.starts_with("requests.")) return false;
  const std::string_view domain = name.substr(0, slash);
  return domain != "kubernetes.io" && !domain.ends_with(".kubernetes.io");
}

std::string TooLarge(std::string_view name, const Quantity& amount) {
  const bool whole = IsCountedWhole(name);
  if (whole ? amount.Value().has_value() : amount.Milli().has_value()) return "";
  return fmt::format("{} is too large (want a number within 2^63-1{})",
                     amount.ToString(),
                     whole ? "" : " thousandths");
}

void ReadResources(const Cursor& at, ResourceList& out) {
  at.ForEachMember([&](std::string_view name, const Cursor& member) {
    Quantity amount;
    member.Read(amount);
    if (!member.ok()) return;
    if (!IsQualifiedName(name)) {
      return member.Refuse("bad resource name (want a name such as cpu or nvidia.com/gpu)");
    }
    CheckAmount(member, name, amount);
    out[std::string(name)] = amount;
  });
}

}  // namespace strata::objects
