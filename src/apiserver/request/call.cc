#include "apiserver/request/call.h"

#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "json/dump.h"
#include "json/parse.h"
#include "net/gzip.h"
#include "objects/yaml_writer.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

// Proxies and clients refuse heads that are much larger.
constexpr std::size_t kMaxWarningBytes = 4000;

std::string Pretty(const json& value) {
  return DumpPrettyJson(value) + "\n";
}

std::string QuotedWarning(std::string_view text) {
  std::string out = "299 - \"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

void AddWarnings(const std::vector<std::string>& warnings, net::HttpResponse& response) {
  std::size_t bytes = 0;
  std::size_t told = 0;
  for (const std::string& warning : warnings) {
    std::string value = QuotedWarning(Shortened(warning, kMaxWarningBytes / 4));
    bytes += value.size();
    if (bytes > kMaxWarningBytes) break;
    response.headers.push_back({"Warning", std::move(value)});
    ++told;
  }
  if (told == warnings.size()) return;
  response.headers.push_back(
      {"Warning", QuotedWarning(fmt::format("and {} more warnings", warnings.size() - told))});
}

std::string Encoded(const json& document, const Negotiated& out) {
  if (out.encoding == Encoding::kYaml) {
    return objects::WriteYaml(ParseOrderedJsonOrNull(DumpJson(document)));
  }
  return out.pretty ? Pretty(document) : DumpJson(document) + "\n";
}

}  // namespace

void Call::Warn(std::vector<std::string> more) {
  warnings.insert(
      warnings.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

void Send(net::Exchange& exchange, net::HttpResponse response) {
  if (response.body.size() >= kLongAnswer && net::AcceptsGzip(exchange.request())) {
    response.headers.push_back({"Content-Encoding", "gzip"});
    response.headers.push_back({"Vary", "Accept-Encoding"});
    response.body = net::Gzip(response.body);
  }
  exchange.Respond(std::move(response));
}

net::HttpResponse DocumentResponse(int status, const json& document, const Negotiated& out) {
  net::HttpResponse response;
  response.status = status;
  response.headers.push_back(
      {"Content-Type", out.encoding == Encoding::kYaml ? "application/yaml" : "application/json"});
  response.body = Encoded(document, out);
  return response;
}

net::HttpResponse TextResponse(int status, std::string text) {
  net::HttpResponse response;
  response.status = status;
  response.headers.push_back({"Content-Type", "text/plain; charset=utf-8"});
  response.headers.push_back({"X-Content-Type-Options", "nosniff"});
  response.body = std::move(text);
  return response;
}

net::HttpResponse ErrorResponse(const ApiError& error, const Negotiated& out) {
  net::HttpResponse response = DocumentResponse(error.code, ToStatus(error), out);
  if (error.retry_after_seconds > 0) {
    response.headers.push_back({"Retry-After", fmt::format("{}", error.retry_after_seconds)});
  }
  return response;
}

net::HttpResponse ResponseHead(const Call& call, int status) {
  net::HttpResponse response;
  response.status = status;
  response.headers.push_back({"Content-Type", "application/json"});
  AddWarnings(call.warnings, response);
  return response;
}

void AnswerError(const Call& call, const ApiError& error) {
  call.exchange->Respond(ErrorResponse(error, call.out));
}

std::string WithKind(const Resource& resource, std::string_view body) {
  std::string text =
      fmt::format("{{\"apiVersion\":\"{}\",\"kind\":\"{}\"", resource.ApiVersion(), resource.kind);
  if (body.size() > 2) {
    text += ',';
    text += body.substr(1);
  } else {
    text += '}';
  }
  return text;
}

json ParseStored(const StoredObject& object) {
  return ParseJsonOrNull(object.body);
}

json ParseWithKind(const Resource& resource, const StoredObject& object) {
  json value = ParseStored(object);
  value["apiVersion"] = resource.ApiVersion();
  value["kind"] = resource.kind;
  return value;
}

void AnswerCreated(const Call& call) {
  call.exchange->Respond(DocumentResponse(201,
                                          json{{"kind", "Status"},
                                               {"apiVersion", "v1"},
                                               {"metadata", json::object()},
                                               {"status", "Success"},
                                               {"code", 201}},
                                          call.out));
}

}  // namespace strata::apiserver
