#include "apiserver/verbs/delete_verb.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apiserver/lifecycle/deletion.h"
#include "apiserver/request/body.h"
#include "apiserver/request/query_options.h"
#include "apiserver/verbs/list.h"
#include "apiserver/views/answer.h"
#include "json/access.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

ApiResult<DeleteOptions> ReadOptions(const Call& call) {
  TRY_API_ASSIGN(const json body, ReadDeleteBody(call));
  return ReadDeleteOptions(call.query, body);
}

bool AnswersWithObject(const Resource& resource) {
  return resource.group.empty() && (resource.kind == "Pod" || resource.kind == "Namespace");
}

void AnswerGone(const Call& call, const json& object) {
  json details = {{"name", TextAt(object, {"metadata", "name"})},
                  {"kind", call.resource->plural},
                  {"uid", TextAt(object, {"metadata", "uid"})}};
  if (!call.resource->group.empty()) details["group"] = call.resource->group;
  call.exchange->Respond(DocumentResponse(200,
                                          json{{"kind", "Status"},
                                               {"apiVersion", "v1"},
                                               {"metadata", json::object()},
                                               {"status", "Success"},
                                               {"details", std::move(details)}},
                                          call.out));
}

// The answers of many deletions, gathered until the last one is in.
struct Gathered {
  CallRef call;
  std::vector<json> objects;
  std::optional<ApiError> failed;
  std::size_t waiting = 1;  // one for the caller
};

void AnswerGathered(const ServerState& state, const Gathered& gathered) {
  const Call& call = *gathered.call;
  if (gathered.failed) return AnswerError(call, *gathered.failed);
  json items = json::array();
  for (const json& object : gathered.objects) {
    json item = object;
    if (!call.resource->custom) {
      item.erase("apiVersion");
      item.erase("kind");
    }
    items.push_back(std::move(item));
  }
  call.exchange->Respond(DocumentResponse(
      200,
      json{{"kind", call.resource->kind + "List"},
           {"apiVersion", call.resource->ApiVersion()},
           {"metadata", {{"resourceVersion", fmt::format("{}", state.store.version())}}},
           {"items", std::move(items)}},
      call.out));
}

void Arrived(const ServerState& state, Gathered& gathered) {
  if (--gathered.waiting == 0) AnswerGathered(state, gathered);
}

}  // namespace

void HandleDelete(ServerState& state, const CallRef& call) {
  const ApiResult<DeleteOptions> options = ReadOptions(*call);
  if (!options) return AnswerError(*call, options.error());
  const ObjectRef live =
      state.store.GetLatest(KeyOf(*call->resource, call->path.ns, call->path.name));
  if (live == nullptr) return AnswerError(*call, NotFound(*call->resource, call->path.name));
  DeleteObject(state, call->resource, live, *options, [call](const ApiResult<Deleted>& deleted) {
    if (!deleted) return AnswerError(*call, deleted.error());
    if (deleted->gone && !AnswersWithObject(*call->resource)) {
      return AnswerGone(*call, deleted->object);
    }
    AnswerObject(*call, 200, deleted->object);
  });
}

void HandleDeleteCollection(ServerState& state, const CallRef& call) {
  const ApiResult<DeleteOptions> options = ReadOptions(*call);
  if (!options) return AnswerError(*call, options.error());
  const ApiResult<ListOptions> list = ReadListOptions(call->query);
  if (!list) return AnswerError(*call, list.error());
  const ApiResult<Selector> selector = ReadSelector(*call->resource, *list);
  if (!selector) return AnswerError(*call, selector.error());

  std::vector<ObjectKey> chosen;
  state.store.VisitLatest(
      call->resource->FullName(), call->path.ns, [&](const StoredObject& object) {
        if (selector->Matches(object)) {
          chosen.push_back(KeyOf(*call->resource, object.ns, object.name));
        }
        return true;
      });
  const auto gathered = std::make_shared<Gathered>();
  gathered->call = call;
  for (const ObjectKey& key : chosen) {
    const ObjectRef live = state.store.GetLatest(key);
    if (live == nullptr) continue;
    ++gathered->waiting;
    DeleteObject(state,
                 call->resource,
                 live,
                 *options,
                 [&state, gathered](const ApiResult<Deleted>& deleted) {
                   if (deleted) {
                     gathered->objects.push_back(deleted->object);
                   } else if (!gathered->failed) {
                     gathered->failed = deleted.error();
                   }
                   Arrived(state, *gathered);
                 });
  }
  Arrived(state, *gathered);
}

}  // namespace strata::apiserver
