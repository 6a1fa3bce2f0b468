#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "apiserver/request/api_error.h"
#include "apiserver/request/negotiation.h"
#include "apiserver/request/query.h"
#include "apiserver/request/request_path.h"
#include "apiserver/resources/resource.h"
#include "apiserver/store/object_store.h"
#include "base/clock.h"
#include "net/http_server.h"

namespace strata::apiserver {

// One request that is about a resource, and what is to be said with its answer.
struct Call {
  std::shared_ptr<net::Exchange> exchange;
  ResourceRef resource;
  ResourcePath path;
  Query query;
  Negotiated out;
  Time now;
  // Each a header `Warning: 299 - "..."`, as far as 4 KiB hold them.
  std::vector<std::string> warnings;

  void Warn(std::vector<std::string> more);
};
using CallRef = std::shared_ptr<Call>;

// Answers; long bodies are compressed for clients that accept that.
inline constexpr std::size_t kLongAnswer = 128UL * 1024;
void Send(net::Exchange& exchange, net::HttpResponse response);

// `document` as the body of an answer.
[[nodiscard]] net::HttpResponse DocumentResponse(int status,
                                                 const nlohmann::json& document,
                                                 const Negotiated& out);
[[nodiscard]] net::HttpResponse TextResponse(int status, std::string text);
// Status and Retry-After.
[[nodiscard]] net::HttpResponse ErrorResponse(const ApiError& error, const Negotiated& out);

void AnswerError(const Call& call, const ApiError& error);
// {"status":"Success","code":201}
void AnswerCreated(const Call& call);

// The head of an answer with the call's warnings.
[[nodiscard]] net::HttpResponse ResponseHead(const Call& call, int status);

// The JSON text of a stored object with apiVersion and kind in front.
[[nodiscard]] std::string WithKind(const Resource& resource, std::string_view body);
// The same as a value, and without apiVersion and kind.
[[nodiscard]] nlohmann::json ParseStored(const StoredObject& object);
[[nodiscard]] nlohmann::json ParseWithKind(const Resource& resource, const StoredObject& object);

}  // namespace strata::apiserver
