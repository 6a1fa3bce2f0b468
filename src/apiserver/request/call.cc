#include "apiserver/request/call.h"

#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apiserver/request/json_text.h"
#include "apiserver/views/list_views.h"
#include "net/gzip.h"
#include "objects/yaml_writer.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

// Proxies and clients refuse heads that are much larger.
constexpr std::size_t kMostWarningBytes = 4000;

std::string Pretty(const json& value) {
  return value.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
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
    std::string value = QuotedWarning(Shortened(warning, kMostWarningBytes / 4));
    bytes += value.size();
    if (bytes > kMostWarningBytes) break;
    response.headers.push_back({"Warning", std::move(value)});
    ++told;
  }
  if (told == warnings.size()) return;
  response.headers.push_back(
      {"Warning", QuotedWarning(fmt::format("and {} more warnings", warnings.size() - told))});
}

std::string Encoded(const json& document, const Negotiated& out) {
  if (out.encoding == Encoding::kYaml) {
    return objects::WriteYaml(nlohmann::ordered_json::parse(Dump(document), nullptr, false));
  }
  return out.pretty ? Pretty(document) : Dump(document) + "\n";
}

}  // namespace

std::string Dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

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
  if (Result<json> value = ParseJson(object.body)) return std::move(*value);
  // Deeper than what a client may send: patches and the record of owners add levels.
  return json::parse(object.body, nullptr, false);
}

json ParseWithKind(const Resource& resource, const StoredObject& object) {
  json value = ParseStored(object);
  value["apiVersion"] = resource.ApiVersion();
  value["kind"] = resource.kind;
  return value;
}

void AnswerObject(const Call& call, int status, const json& object) {
  net::HttpResponse response = ResponseHead(call, status);
  json shown = object;
  if (call.out.view == View::kTable) {
    shown = TableOf(call, {&object, 1});
  } else if (call.out.view == View::kPartial) {
    shown = PartialOf(call, object);
  } else {
    shown["apiVersion"] = call.resource->ApiVersion();
    shown["kind"] = call.resource->kind;
  }
  net::HttpResponse body = DocumentResponse(status, shown, call.out);
  response.headers[0] = std::move(body.headers[0]);
  response.body = std::move(body.body);
  Send(*call.exchange, std::move(response));
}

void AnswerStored(const Call& call, int status, const StoredObject& object) {
  const bool plain = call.out.view != View::kTable && call.out.view != View::kPartial &&
                     call.out.encoding == Encoding::kJson && !call.out.pretty;
  if (!plain) return AnswerObject(call, status, ParseStored(object));
  net::HttpResponse response = ResponseHead(call, status);
  response.body = WithKind(*call.resource, object.body);
  response.body += '\n';
  Send(*call.exchange, std::move(response));
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
