#include "apiserver/views/answer.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "apiserver/views/list_views.h"

namespace strata::apiserver {

using nlohmann::json;

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

}  // namespace strata::apiserver
