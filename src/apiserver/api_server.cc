#include "apiserver/api_server.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apiserver/lifecycle/bootstrap.h"
#include "apiserver/lifecycle/event_expiry.h"
#include "apiserver/request/call.h"
#include "apiserver/request/query_options.h"
#include "apiserver/state/server_state.h"
#include "apiserver/verbs/create.h"
#include "apiserver/verbs/delete_verb.h"
#include "apiserver/verbs/list.h"
#include "apiserver/verbs/patch_verb.h"
#include "apiserver/verbs/subresources.h"
#include "apiserver/verbs/update.h"
#include "apiserver/verbs/watch.h"
#include "apiserver/views/documents.h"

namespace strata::apiserver {
namespace {

net::HttpResponse PageNotFound() {
  return TextResponse(404, "404 page not found\n");
}

ApiError NotAcceptable() {
  ApiError error;
  error.code = 406;
  error.reason = "NotAcceptable";
  error.message = "only the following media types are accepted: application/json, application/yaml";
  return error;
}

void HandleCollection(ServerState& state, const CallRef& call, std::string_view method) {
  const Resource& resource = *call->resource;
  const bool whole = resource.namespaced && call->path.ns.empty();
  if (resource.read_only) {
    if (method == "POST") return HandleAccessReview(state, call);
    return AnswerError(*call, MethodNotAllowed());
  }
  if (method == "GET") {
    const ApiResult<ListOptions> options = ReadListOptions(call->query);
    if (!options) return AnswerError(*call, options.error());
    if (options->watch) return HandleWatch(state, call, *options);
    return HandleList(state, call, *options);
  }
  if (method == "POST" && !whole) return HandleCreate(state, call);
  if (method == "DELETE" && !whole && resource.FullName() != "namespaces") {
    return HandleDeleteCollection(state, call);
  }
  if (method == "PUT" && resource.custom) {
    return AnswerError(*call, BadRequest("name must be provided"));
  }
  AnswerError(*call, MethodNotAllowed());
}

void HandleSubresource(ServerState& state, const CallRef& call, std::string_view method) {
  const std::string& name = call->path.subresource;
  if (name == "status") {
    if (method == "GET") return HandleGet(state, *call);
    if (method == "PUT") return HandleUpdate(state, call);
    if (method == "PATCH") return HandlePatch(state, call);
  }
  if (name == "binding" && method == "POST") return HandleBinding(state, call);
  if (name == "eviction" && method == "POST") return HandleEviction(state, call);
  if (name == "log" && method == "GET") return HandleLog(state, *call);
  AnswerError(*call, MethodNotAllowed());
}

void HandleObject(ServerState& state, const CallRef& call, std::string_view method) {
  if (call->resource->read_only) return AnswerError(*call, MethodNotAllowed());
  if (!call->path.subresource.empty()) return HandleSubresource(state, call, method);
  if (method == "GET") return HandleGet(state, *call);
  if (method == "PUT") return HandleUpdate(state, call);
  if (method == "PATCH") return HandlePatch(state, call);
  if (method == "DELETE") return HandleDelete(state, call);
  AnswerError(*call, MethodNotAllowed());
}

// Whether the path fits the resource: its scope, and the subresources it has.
bool Fits(const Resource& resource, const ResourcePath& path) {
  if (!path.ns.empty() && !resource.namespaced) return false;
  if (path.name.empty()) return true;
  if (resource.namespaced && path.ns.empty()) return false;
  if (path.subresource.empty()) return true;
  if (path.subresource == "status") return resource.has_status;
  return std::find(resource.subresources.begin(), resource.subresources.end(), path.subresource) !=
         resource.subresources.end();
}

bool BuiltInVersion(const ResourceTable& table, const ResourcePath& path) {
  return std::any_of(table.rows().begin(), table.rows().end(), [&](const ResourceRef& row) {
    return !row->custom && row->group == path.group && row->version == path.version;
  });
}

void HandleResource(ServerState& state,
                    std::shared_ptr<net::Exchange> exchange,
                    ResourcePath path,
                    Query query,
                    Negotiated out) {
  ResourceRef resource = state.table.Find(path.group, path.version, path.plural);
  if (resource == nullptr) {
    exchange->Respond(BuiltInVersion(state.table, path) ? ErrorResponse(NoSuchResource(), out)
                                                        : PageNotFound());
    return;
  }
  const auto call = std::make_shared<Call>();
  call->exchange = std::move(exchange);
  call->resource = std::move(resource);
  call->path = std::move(path);
  call->query = std::move(query);
  call->out = std::move(out);
  call->now = state.now();
  const std::string& method = call->exchange->request().method;
  if (!Fits(*call->resource, call->path)) return AnswerError(*call, NoSuchResource());
  if (call->path.name.empty()) return HandleCollection(state, call, method);
  HandleObject(state, call, method);
}

}  // namespace

struct ApiServer::Impl {
  ServerState state;
  EventExpiry expiry{state};
};

ApiServer::ApiServer(ObjectStore& store,
                     Timers& timers,
                     const Clock& clock,
                     RandomSource& random,
                     ApiServerOptions options)
    : impl_(new Impl{ServerState(store, timers, clock, random, std::move(options))}) {}

ApiServer::~ApiServer() = default;

Status ApiServer::Start() {
  TRY(Bootstrap(impl_->state));
  impl_->expiry.Start();
  return {};
}

const ResourceTable& ApiServer::table() const {
  return impl_->state.table;
}

void ApiServer::Handle(std::shared_ptr<net::Exchange> exchange) {
  const net::HttpRequest& request = exchange->request();
  std::optional<Query> query = Query::Parse(request.query);
  if (!query) return exchange->Respond(ErrorResponse(BadRequest("invalid URL escape"), {}));
  const std::optional<std::vector<std::string>> segments = PathSegments(request.path);
  if (!segments) return exchange->Respond(PageNotFound());
  std::optional<Negotiated> out = Negotiate(request, *query);
  if (!out) return exchange->Respond(ErrorResponse(NotAcceptable(), {}));

  std::optional<ResourcePath> path = ToResourcePath(*segments);
  if (path && !path->plural.empty()) {
    return HandleResource(
        impl_->state, std::move(exchange), std::move(*path), std::move(*query), std::move(*out));
  }
  if (request.method != "GET") {
    return exchange->Respond(ErrorResponse(MethodNotAllowed(), *out));
  }
  if (!AnswerDocument(impl_->state, *exchange, *segments, *out)) exchange->Respond(PageNotFound());
}

net::HttpResponse ApiServer::Refusal(int status) {
  ApiError error = BadRequest("the request could not be read");
  error.code = status;
  if (status == 413) {
    error = EntityTooLarge();
  } else if (status == 408) {
    error.reason = "Timeout";
    error.message = "Timeout: the request took too long";
  } else if (status == 431) {
    error.reason = "";
    error.message = "Request Header Fields Too Large";
  } else if (status == 429) {
    error.reason = "TooManyRequests";
    error.message = "too many requests are in progress, please try again later";
    error.retry_after_seconds = 1;
  } else if (status >= 500) {
    error.reason = "InternalError";
    error.message = "Internal error occurred";
  }
  return ErrorResponse(error, {});
}

}  // namespace strata::apiserver
