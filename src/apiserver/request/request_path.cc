#include "apiserver/request/request_path.h"

#include <cstddef>
#include <utility>

#include "base/ascii.h"
#include "objects/text_check.h"

namespace strata::apiserver {
namespace {

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// What follows /namespaces/<ns> and still means the namespace itself.
bool IsNamespaceSubresource(std::string_view segment) {
  return segment == "status" || segment == "finalize";
}

}  // namespace

std::optional<std::string> PercentDecode(std::string_view text, Decode what) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && what == Decode::kQuery) {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
      const int low = high >= 0 ? HexDigit(text[i + 2]) : -1;
      if (low < 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  if (!objects::CheckText(out)) return std::nullopt;
  return out;
}

std::optional<std::vector<std::string>> PathSegments(std::string_view path) {
  if (path.empty() || path.front() != '/') return std::nullopt;
  path.remove_prefix(1);
  if (path.ends_with('/')) path.remove_suffix(1);
  std::vector<std::string> segments;
  if (path.empty()) return segments;
  for (const std::string_view part : Split(path, '/')) {
    std::optional<std::string> segment = PercentDecode(part, Decode::kPath);
    if (!segment || segment->empty() || *segment == "." || *segment == "..") return std::nullopt;
    if (segment->find_first_of("/%") != std::string::npos) return std::nullopt;
    segments.push_back(std::move(*segment));
  }
  return segments;
}

std::optional<ResourcePath> ToResourcePath(const std::vector<std::string>& segments) {
  ResourcePath path;
  std::size_t at = 0;
  const auto next = [&]() -> std::string {
    return at < segments.size() ? segments[at++] : std::string();
  };
  const std::string root = next();
  if (root == "apis") path.group = next();
  if (root != "api" && (root != "apis" || path.group.empty())) return std::nullopt;
  path.version = next();
  if (path.version.empty()) return std::nullopt;

  path.plural = next();
  if (path.plural == "namespaces" && segments.size() > at + 1 &&
      !(path.group.empty() && segments.size() == at + 2 &&
        IsNamespaceSubresource(segments[at + 1]))) {
    path.ns = next();
    path.plural = next();
  }
  path.name = next();
  path.subresource = next();
  if (at < segments.size()) return std::nullopt;
  return path;
}

}  // namespace strata::apiserver
