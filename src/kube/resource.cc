#include "kube/resource.h"

namespace strata::kube {
namespace {

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

}  // namespace

std::string ApiVersion(const Resource& resource) {
  std::string text(resource.group);
  if (!text.empty()) text += '/';
  return text += resource.version;
}

std::string Escape(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (IsPlain(c)) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4U];
      out += kHex[byte & 15U];
    }
  }
  return out;
}

std::string ResourcePath::Text() const {
  std::string path = resource.group.empty() ? "/api/" : "/apis/";
  path += ApiVersion(resource);
  if (resource.scope == Resource::Scope::kNamespaced && !ns.empty()) {
    path += "/namespaces/" + Escape(ns);
  }
  path += '/';
  path += resource.plural;
  if (!name.empty()) path += '/' + Escape(name);
  if (!subresource.empty()) path += '/' + Escape(subresource);
  return path;
}

}  // namespace strata::kube
