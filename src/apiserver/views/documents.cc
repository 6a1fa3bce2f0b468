#include "apiserver/views/documents.h"

#include <functional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apiserver/request/call.h"
#include "apiserver/views/views.h"
#include "json/dump.h"
#include "wire/protobuf_body.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

constexpr std::string_view kGroupDiscoveryType =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
// With the '@' of the Accept header clients cannot parse it.
constexpr std::string_view kOpenApiProtobufType =
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

void SendAs(net::Exchange& exchange, std::string_view type, std::string body) {
  net::HttpResponse response;
  response.headers.push_back({"Content-Type", std::string(type)});
  response.headers.push_back({"Vary", "Accept"});
  response.body = std::move(body);
  Send(exchange, std::move(response));
}

// A document of the table, made once per state of it.
const std::string& Kept(ServerState& state,
                        const std::string& key,
                        const std::function<std::string()>& make) {
  if (state.documents_revision != state.table.revision()) {
    state.documents.clear();
    state.documents_revision = state.table.revision();
  }
  const auto found = state.documents.find(key);
  if (found != state.documents.end()) return found->second;
  return state.documents.emplace(key, make()).first->second;
}

std::string Joined(const std::vector<std::string>& segments, std::size_t from) {
  std::string path;
  for (std::size_t i = from; i < segments.size(); ++i) {
    if (!path.empty()) path += '/';
    path += segments[i];
  }
  return path;
}

bool SendJson(net::Exchange& exchange, const json& document, const Negotiated& out) {
  if (document.is_null()) return false;
  Send(exchange, DocumentResponse(200, document, out));
  return true;
}

json VersionInfo(const ServerState& state) {
  const std::string& version = state.options.version;
  const std::size_t dot = version.find('.');
  const std::size_t second = version.find('.', dot == std::string::npos ? dot : dot + 1);
  return {{"major", version.substr(1, dot - 1)},
          {"minor", dot == std::string::npos ? "" : version.substr(dot + 1, second - dot - 1)},
          {"gitVersion", version},
          {"gitCommit", "strata"},
          {"gitTreeState", "clean"},
          {"buildDate", "1970-01-01T00:00:00Z"},
          {"goVersion", "none"},
          {"compiler", "gcc"},
          {"platform", "linux/amd64"}};
}

// /api and /apis, and what is below them up to a group version.
bool AnswerDiscovery(ServerState& state,
                     net::Exchange& exchange,
                     const std::vector<std::string>& segments,
                     const Negotiated& out) {
  const bool core = segments[0] == "api";
  if (segments.size() == 1) {
    if (out.view == View::kGroupDiscovery) {
      const DiscoveryOf what = core ? DiscoveryOf::kCore : DiscoveryOf::kGroups;
      SendAs(exchange, kGroupDiscoveryType, Kept(state, core ? "v2/api" : "v2/apis", [&] {
               return DumpJson(AggregatedDiscovery(state.table, what));
             }));
      return true;
    }
    return SendJson(
        exchange, core ? CoreVersions(state.options.address) : GroupList(state.table), out);
  }
  if (core) {
    return segments.size() == 2 &&
           SendJson(exchange, ResourceList(state.table, "", segments[1]), out);
  }
  if (segments.size() == 2) return SendJson(exchange, GroupInfo(state.table, segments[1]), out);
  return segments.size() == 3 &&
         SendJson(exchange, ResourceList(state.table, segments[1], segments[2]), out);
}

bool AnswerOpenApi(ServerState& state,
                   net::Exchange& exchange,
                   const std::vector<std::string>& segments,
                   const Negotiated& out) {
  if (segments.size() == 2 && segments[1] == "v2") {
    if (out.encoding != Encoding::kOpenApiProtobuf) {
      SendAs(exchange, "application/json", Kept(state, "openapi/v2", [&] {
               return DumpJson(OpenApiV2(state.table));
             }));
      return true;
    }
    SendAs(exchange, kOpenApiProtobufType, Kept(state, "openapi/v2.pb", [&] {
             // An empty document is a valid one: clients then validate nothing.
             return wire::OpenApiV2ToProtobuf(OpenApiV2(state.table)).value_or(std::string());
           }));
    return true;
  }
  if (segments.size() < 2 || segments[1] != "v3") return false;
  if (segments.size() == 2) {
    SendAs(exchange, "text/plain; charset=utf-8", Kept(state, "openapi/v3", [&] {
             return DumpJson(OpenApiV3Index(state.table));
           }));
    return true;
  }
  const std::string path = Joined(segments, 2);
  const std::string& document = Kept(state, "openapi/v3/" + path, [&] {
    const json made = OpenApiV3(state.table, path);
    return made.is_null() ? std::string() : DumpJson(made);
  });
  if (document.empty()) {
    state.documents.erase("openapi/v3/" + path);  // any path may be asked for
    return false;
  }
  SendAs(exchange, "application/json", document);
  return true;
}

}  // namespace

bool AnswerDocument(ServerState& state,
                    net::Exchange& exchange,
                    const std::vector<std::string>& segments,
                    const Negotiated& out) {
  if (segments.empty()) {
    exchange.Respond(DocumentResponse(200,
                                      {{"paths",
                                        {"/api",
                                         "/api/v1",
                                         "/apis",
                                         "/healthz",
                                         "/livez",
                                         "/openapi/v2",
                                         "/openapi/v3",
                                         "/readyz",
                                         "/version"}}},
                                      out));
    return true;
  }
  const std::string& first = segments[0];
  if (first == "api" || first == "apis") return AnswerDiscovery(state, exchange, segments, out);
  if (first == "openapi") return AnswerOpenApi(state, exchange, segments, out);
  if (first == "healthz" || first == "livez" || first == "readyz") {
    exchange.Respond(TextResponse(200, "ok"));
    return true;
  }
  if (segments.size() != 1 || first != "version") return false;
  Negotiated pretty = out;
  pretty.pretty = true;
  return SendJson(exchange, VersionInfo(state), pretty);
}

}  // namespace strata::apiserver
