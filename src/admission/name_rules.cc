#include "admission/name_rules.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/ascii.h"
#include "objects/syntax.h"

namespace strata::admission {
namespace {

constexpr std::size_t kMaxLabel = 63;
constexpr std::size_t kMaxSubdomain = 253;
constexpr std::size_t kMaxPortName = 15;
constexpr std::int64_t kMaxPort = 65535;

constexpr std::string_view kSubdomain =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kLabel =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kLabel1035 =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kNamePart =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view kQualifiedName =
    "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex "
    "used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS "
    "subdomain prefix and '/' (e.g. 'example.com/MyName')";
constexpr std::string_view kLabelValue =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
    "or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
constexpr std::string_view kConfigKey =
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
    "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
    "'[-._a-zA-Z0-9]+')";

constexpr bool IsLetter(char c) {
  return c >= 'a' && c <= 'z';
}

std::string TooManyBytes(std::size_t max) {
  return fmt::format("must be no more than {} bytes", max);
}

}  // namespace

std::string DnsSubdomainError(std::string_view text) {
  if (objects::IsDnsSubdomain(text)) return {};
  return text.size() > kMaxSubdomain ? TooManyBytes(kMaxSubdomain) : std::string(kSubdomain);
}

std::string DnsLabelError(std::string_view text) {
  if (objects::IsDnsLabel(text)) return {};
  return text.size() > kMaxLabel ? TooManyBytes(kMaxLabel) : std::string(kLabel);
}

std::string Dns1035LabelError(std::string_view text) {
  if (text.size() > kMaxLabel) return TooManyBytes(kMaxLabel);
  return objects::IsDnsLabel(text) && IsLetter(text.front()) ? "" : std::string(kLabel1035);
}

std::string QualifiedNameError(std::string_view text) {
  if (objects::IsQualifiedName(text)) return {};
  const auto parts = Split(text, '/');
  if (parts.size() > 2) return std::string(kQualifiedName);
  if (parts.size() == 2) {
    if (parts[0].empty()) return "prefix part must be non-empty";
    if (std::string error = DnsSubdomainError(parts[0]); !error.empty()) {
      return "prefix part " + error;
    }
  }
  const std::string_view name = parts.back();
  if (name.empty()) return "name part must be non-empty";
  return name.size() > kMaxLabel ? "name part " + TooManyBytes(kMaxLabel) : std::string(kNamePart);
}

std::string LabelValueError(std::string_view text) {
  if (objects::IsLabelValue(text)) return {};
  return text.size() > kMaxLabel ? TooManyBytes(kMaxLabel) : std::string(kLabelValue);
}

std::string ConfigKeyError(std::string_view text) {
  if (text.size() > kMaxSubdomain) return TooManyBytes(kMaxSubdomain);
  const bool good = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return IsLetter(c) || (c >= 'A' && c <= 'Z') || IsDigit(c) || c == '-' || c == '_' || c == '.';
  });
  if (!good) return std::string(kConfigKey);
  if (text == ".") return "must not be '.'";
  return text.starts_with("..") ? "must not start with '..'" : std::string();
}

std::string PortNameError(std::string_view text) {
  if (text.size() > kMaxPortName) return TooManyBytes(kMaxPortName);
  const bool known = std::all_of(
      text.begin(), text.end(), [](char c) { return IsLetter(c) || IsDigit(c) || c == '-'; });
  if (!known) return "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)";
  if (std::none_of(text.begin(), text.end(), IsLetter)) {
    return "must contain at least one letter (a-z)";
  }
  if (text.find("--") != std::string_view::npos) return "must not contain consecutive hyphens";
  const bool hyphen = text.front() == '-' || text.back() == '-';
  return hyphen ? "must not begin or end with a hyphen" : std::string();
}

std::string PortNumberError(std::int64_t number) {
  const bool good = number >= 1 && number <= kMaxPort;
  return good ? std::string() : fmt::format("must be between 1 and {}, inclusive", kMaxPort);
}

}  // namespace strata::admission
