#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "apiserver/request/api_error.h"
#include "apiserver/request/call.h"
#include "apiserver/request/query_options.h"
#include "apiserver/state/server_state.h"
#include "patch/managed_fields.h"

// What every way to write an object shares, between its verb and the store.
namespace strata::apiserver {

// The name under which a client's changes are recorded: ?fieldManager, or the first word of its
// User-Agent.
[[nodiscard]] std::string FieldManager(const Call& call, const WriteOptions& options);
[[nodiscard]] patch::Writer WriterOf(const Call& call, const WriteOptions& options);

// A whole second in RFC 3339, as metadata has it.
[[nodiscard]] std::string Stamp(Time time);
// A random UUID.
[[nodiscard]] std::string NewUid(RandomSource& random);

// Defaults and normal forms of the schema, then its checks (422, custom kinds). `before` is the
// state that `object` replaces, null when there is none.
[[nodiscard]] ApiResult<void> ApplySchema(const Resource& resource,
                                          const nlohmann::json* before,
                                          nlohmann::json& object);

// True when the parts that count for metadata.generation differ.
[[nodiscard]] bool CountsForGeneration(const Resource& resource,
                                       const nlohmann::json& before,
                                       const nlohmann::json& after);

// Whether neither a grace period nor finalizers keep a terminating object any longer.
[[nodiscard]] bool ReadyToGo(const Resource& resource, const nlohmann::json& object);

// Writes `object` over the state of version `expected`, informs the parts of the server that depend
// on it (definitions, namespaces), and then calls `done`.
using WriteDone = std::function<void(ApiResult<ObjectRef>)>;
void WriteObject(ServerState& state,
                 const ResourceRef& resource,
                 std::int64_t expected,
                 nlohmann::json object,
                 WriteDone done);
// The same for its removal.
void RemoveObject(ServerState& state,
                  const ResourceRef& resource,
                  std::int64_t expected,
                  nlohmann::json last,
                  WriteDone done);

}  // namespace strata::apiserver
