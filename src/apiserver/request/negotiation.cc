#include "apiserver/request/negotiation.h"

#include <string_view>
#include <utility>

#include "base/ascii.h"

namespace strata::apiserver {
namespace {

struct MediaClause {
  std::string type;
  std::string as;
  std::string group;
  std::string version;
  bool refused = false;  // q=0
};

MediaClause ReadClause(std::string_view text) {
  MediaClause clause;
  const std::vector<std::string_view> parts = Split(text, ';');
  clause.type = LowerCase(Trim(parts[0]));
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::string_view part = Trim(parts[i]);
    const std::size_t sign = part.find('=');
    if (sign == std::string_view::npos) continue;
    const std::string_view name = part.substr(0, sign);
    const std::string_view value = part.substr(sign + 1);
    if (name == "as") clause.as = value;
    if (name == "g") clause.group = value;
    if (name == "v") clause.version = value;
    if (name == "q") clause.refused = value == "0" || value == "0.0";
  }
  return clause;
}

bool ReadView(const MediaClause& clause, Negotiated& out) {
  out.view_version = clause.version;
  if (clause.as.empty()) {
    out.view = View::kObject;
    return true;
  }
  if (clause.group == "meta.k8s.io" && (clause.version == "v1" || clause.version == "v1beta1")) {
    if (clause.as == "Table") {
      out.view = View::kTable;
      return true;
    }
    if (clause.as == "PartialObjectMetadata" || clause.as == "PartialObjectMetadataList") {
      out.view = View::kPartial;
      return true;
    }
  }
  if (clause.group == "apidiscovery.k8s.io" && clause.version == "v2" &&
      clause.as == "APIGroupDiscoveryList") {
    out.view = View::kGroupDiscovery;
    return true;
  }
  return false;
}

bool ReadEncoding(std::string_view type, Negotiated& out) {
  if (type == "application/json" || type == "*/*" || type == "application/*" || type.empty()) {
    out.encoding = Encoding::kJson;
    return true;
  }
  if (type == "application/yaml") {
    out.encoding = Encoding::kYaml;
    return true;
  }
  if (type == "application/com.github.proto-openapi.spec.v2@v1.0+protobuf" ||
      type == "application/com.github.proto-openapi.spec.v2.v1.0+protobuf") {
    out.encoding = Encoding::kOpenApiProtobuf;
    return true;
  }
  return false;
}

bool WantsPretty(const net::HttpRequest& request, const Query& query) {
  if (query.Has("pretty")) return query.Flag("pretty");
  const std::string_view agent = request.HeaderValue("User-Agent");
  return agent.starts_with("curl") || agent.starts_with("Wget") || agent.starts_with("Mozilla/5.0");
}

}  // namespace

std::optional<Negotiated> Negotiate(const net::HttpRequest& request, const Query& query) {
  Negotiated out;
  out.pretty = WantsPretty(request, query);
  const std::string_view accept = request.HeaderValue("Accept");
  if (Trim(accept).empty()) return out;
  for (const std::string_view text : Split(accept, ',')) {
    const MediaClause clause = ReadClause(text);
    if (!clause.refused && ReadEncoding(clause.type, out) && ReadView(clause, out)) return out;
  }
  return std::nullopt;
}

}  // namespace strata::apiserver
