#include "apiserver/request/token_gate.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "apiserver/request/api_error.h"
#include "apiserver/request/call.h"
#include "apiserver/request/request_path.h"
#include "base/ascii.h"

namespace strata::apiserver {
namespace {

using Digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

// Has the same length for every text.
Digest DigestOf(std::string_view text) {
  Digest digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return digest;
}

bool OpenToAll(std::string_view path) {
  constexpr std::array<std::string_view, 4> kOpen = {"/healthz", "/livez", "/readyz", "/version"};
  return std::find(kOpen.begin(), kOpen.end(), path) != kOpen.end();
}

// None when the header names no bearer.
std::optional<std::string_view> BearerOf(const net::HttpRequest& request) {
  const std::string_view header = Trim(request.HeaderValue("Authorization"));
  const std::size_t blank = header.find(' ');
  if (blank == std::string_view::npos || LowerCase(header.substr(0, blank)) != "bearer") {
    return std::nullopt;
  }
  return Trim(header.substr(blank));
}

bool AsksToWatch(std::string_view query) {
  for (const std::string_view option : Split(query, '&')) {
    if (option == "watch=true" || option == "watch=1" || option == "watch") return true;
  }
  return false;
}

std::string_view VerbOf(const net::HttpRequest& request, const ResourcePath& path) {
  const bool one = !path.name.empty();
  if (request.method == "POST") return "create";
  if (request.method == "PUT") return "update";
  if (request.method == "PATCH") return "patch";
  if (request.method == "DELETE") return one ? "delete" : "deletecollection";
  if (AsksToWatch(request.query)) return "watch";
  return one ? "get" : "list";
}

ApiError ForbiddenPath(const net::HttpRequest& request) {
  ApiError error;
  error.code = 403;
  error.reason = "Forbidden";
  error.message = "forbidden: User \"system:anonymous\" cannot " + LowerCase(request.method) +
                  " path \"" + request.path + "\"";
  return error;
}

ApiError Forbidden(const net::HttpRequest& request) {
  const std::optional<std::vector<std::string>> segments = PathSegments(request.path);
  const std::optional<ResourcePath> path = segments ? ToResourcePath(*segments) : std::nullopt;
  if (!path || path->plural.empty()) return ForbiddenPath(request);
  ApiError error;
  error.code = 403;
  error.reason = "Forbidden";
  error.name = path->name;
  error.group = path->group;
  error.kind = path->plural;
  const std::string resource =
      path->plural + (path->subresource.empty() ? "" : "/" + path->subresource);
  const std::string full = path->plural + (path->group.empty() ? "" : "." + path->group);
  error.message =
      full + (path->name.empty() ? "" : " \"" + path->name + "\"") +
      " is forbidden: User \"system:anonymous\" cannot " + std::string(VerbOf(request, *path)) +
      " resource \"" + resource + "\" in API group \"" + path->group + "\" " +
      (path->ns.empty() ? "at the cluster scope" : "in the namespace \"" + path->ns + "\"");
  return error;
}

}  // namespace

net::HeadCheck RequireToken(const std::string& token) {
  return [digest = DigestOf(token)](const net::HttpRequest& request) {
    net::HeadVerdict verdict{.caller = net::HeadVerdict::Caller::kStranger};
    if (OpenToAll(request.path)) return verdict;
    const std::optional<std::string_view> bearer = BearerOf(request);
    if (!bearer) {
      verdict.refusal = ErrorResponse(Forbidden(request), {});
      return verdict;
    }
    const Digest brought = DigestOf(*bearer);
    if (CRYPTO_memcmp(brought.data(), digest.data(), digest.size()) != 0) {
      verdict.refusal = ErrorResponse(Unauthorized(), {});
      return verdict;
    }
    verdict.caller = net::HeadVerdict::Caller::kKnown;
    return verdict;
  };
}

}  // namespace strata::apiserver
