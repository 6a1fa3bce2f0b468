#include "apps/page_link.h"

#include <fmt/format.h>

#include "base/ascii.h"

namespace strata {
namespace {

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || IsDigit(c) || c == '-' || c == '.' ||
         c == '_' || c == '~' || c == '/';
}

std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (IsPlain(c)) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

}  // namespace

std::string LinkToJob(std::string_view url, std::string_view job) {
  const std::size_t hash = url.find('#');
  const std::string_view page = url.substr(0, hash);
  const std::string_view token = hash == std::string_view::npos ? "" : url.substr(hash + 1);
  return fmt::format("{}#/jobs?job={}{}{}", page, Escaped(job), token.empty() ? "" : "&", token);
}

std::string FindPage(const kube::ConnectionFlags& connection, const kube::Surroundings& outside) {
  const auto config = kube::FindConnection(connection, outside);
  if (!config) return "";
  constexpr std::string_view kOf = " of ";  // "context dev of /home/a/.kube/config"
  const std::size_t at = config->origin.rfind(kOf);
  if (at == std::string::npos) return "";
  const std::string path = config->origin.substr(at + kOf.size());
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  const auto url = outside.read(folder + "page");
  if (!url || !url->starts_with("http")) return "";
  return std::string(Trim(*url));
}

}  // namespace strata
