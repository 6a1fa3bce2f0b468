#include "apiserver/verbs/patch_verb.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apiserver/lifecycle/object_write.h"
#include "apiserver/request/body.h"
#include "apiserver/verbs/create.h"
#include "apiserver/verbs/update.h"
#include "json/access.h"
#include "json/parse.h"
#include "patch/managed_fields.h"
#include "patch/patch.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

enum class PatchType : std::uint8_t { kJson, kMerge, kStrategic, kApply };

constexpr std::size_t kLongestField = 1024;

std::optional<PatchType> ReadPatchType(const Call& call) {
  const std::string type = MediaType(call.exchange->request().HeaderValue("Content-Type"));
  if (type == "application/json-patch+json") return PatchType::kJson;
  if (type == "application/merge-patch+json") return PatchType::kMerge;
  if (type == "application/apply-patch+yaml") return PatchType::kApply;
  if (type == "application/strategic-merge-patch+json" && !call.resource->custom) {
    return PatchType::kStrategic;
  }
  return std::nullopt;
}

void AnswerUnknownType(const Call& call) {
  if (call.resource->custom) {
    return AnswerError(call,
                       UnsupportedMediaType("application/json-patch+json, "
                                            "application/merge-patch+json, "
                                            "application/apply-patch+yaml"));
  }
  ApiError error = UnsupportedMediaType("");
  error.message = "415: Unsupported Media Type";
  Negotiated out = call.out;
  out.pretty = true;
  call.exchange->Respond(ErrorResponse(error, out));
}

ApiError RejectedPatch() {
  ApiError error;
  error.code = 422;
  error.reason = "Invalid";
  error.message = "the server rejected our request due to an error in our request";
  return error;
}

ApiResult<json> Patched(const Call& call, PatchType type, const json& before) {
  const std::string& text = call.exchange->request().body;
  const Result<json> patch = ParseJson(text);
  if (!patch) {
    return tl::unexpected(BadRequest("error decoding patch: " + patch.error().message));
  }
  if (type != PatchType::kJson && !patch->is_object()) {
    return tl::unexpected(
        BadRequest("error decoding patch: json: cannot unmarshal into Go value "
                   "of type map[string]interface {}"));
  }
  Result<json> after = Fail(Code::kInternal, "");
  if (type == PatchType::kJson) after = patch::JsonPatch(before, *patch);
  if (type == PatchType::kMerge) after = patch::MergePatch(before, *patch);
  if (type == PatchType::kStrategic) {
    after = patch::StrategicMergePatch(*call.resource->schema, before, *patch);
  }
  if (!after) {
    if (after.error().code == Code::kConflict) return tl::unexpected(RejectedPatch());
    return tl::unexpected(BadRequest("error decoding patch: " + after.error().message));
  }
  if (!after->is_object()) return tl::unexpected(RejectedPatch());
  return std::move(*after);
}

ApiError ApplyConflictError(const patch::Applied& applied) {
  const std::vector<patch::ApplyConflict>& conflicts = applied.conflicts;
  ApiError error;
  error.code = 409;
  error.reason = "Conflict";
  std::map<std::string, std::vector<std::string>> by_manager;
  for (const patch::ApplyConflict& conflict : conflicts) {
    if (error.causes.size() == kMaxCauses) break;
    const std::string field = Shortened(conflict.field, kLongestField);
    by_manager[conflict.message].push_back(field);
    error.causes.push_back({field, "FieldManagerConflict", conflict.message});
  }
  if (conflicts.size() == 1) {
    error.message = fmt::format(
        "Apply failed with 1 conflict: {}: {}", conflicts[0].message, error.causes[0].field);
    return error;
  }
  error.message =
      fmt::format("Apply failed with {} conflicts:", conflicts.size() + applied.more_conflicts);
  const char* between = " ";
  for (const auto& [message, fields] : by_manager) {
    // "conflict with ..." of several fields is "conflicts with ...".
    std::string who = message;
    if (who.starts_with("conflict ")) who.insert(std::string_view("conflict").size(), "s");
    error.message += fmt::format("{}{}:", between, who);
    for (const std::string& field : fields) error.message += "\n- " + field;
    between = "\n";
  }
  const std::size_t unnamed = conflicts.size() - error.causes.size();
  if (const std::size_t more = unnamed + applied.more_conflicts; more > 0) {
    error.message += fmt::format("\nand {} more", more);
    error.causes.push_back(
        {"", "FieldManagerConflict", fmt::format("and {} more conflicts", more)});
  }
  return error;
}

// What is applied must say what it is, and of which object.
ApiResult<json> ReadApplied(Call& call, const WriteOptions& options) {
  const Resource& resource = *call.resource;
  Result<json> config = ParseYaml(call.exchange->request().body);
  if (!config) {
    return tl::unexpected(BadRequest("error decoding YAML: " + config.error().message));
  }
  if (!config->is_object()) return tl::unexpected(BadRequest("error decoding YAML: no object"));
  if (TextAt(*config, {"kind"}).empty() || TextAt(*config, {"apiVersion"}).empty()) {
    return tl::unexpected(BadRequest("Object 'Kind' is missing in the applied configuration"));
  }
  if (TextAt(*config, {"apiVersion"}) != resource.ApiVersion() ||
      TextAt(*config, {"kind"}) != resource.kind) {
    return tl::unexpected(BadRequest(fmt::format("invalid object type: {}, Kind={}",
                                                 TextAt(*config, {"apiVersion"}),
                                                 TextAt(*config, {"kind"}))));
  }
  if (!ListAt(*config, {"metadata", "managedFields"}).empty()) {
    return tl::unexpected(BadRequest("metadata.managedFields must be nil"));
  }
  TRY_API(CheckPatched(call, *config, json(), options.field_validation));
  TRY_API(PutNames(call, *config));
  return std::move(*config);
}

// What this endpoint does not write is not the applier's to own either.
void DropOtherParts(const Call& call, json& config) {
  if (!call.resource->has_status) return;
  if (call.path.subresource.empty()) {
    config.erase("status");
    return;
  }
  json kept = json::object();
  for (const char* part : {"apiVersion", "kind", "metadata", "status"}) {
    if (const auto at = config.find(part); at != config.end()) kept[part] = *at;
  }
  config = std::move(kept);
}

void ApplyTo(ServerState& state, const CallRef& call, ObjectRef live, const WriteOptions& options) {
  const Resource& resource = *call->resource;
  ApiResult<json> config = ReadApplied(*call, options);
  if (!config) return AnswerError(*call, config.error());
  // A new Node keeps the status that the client sent.
  if (live != nullptr || resource.kind != "Node") DropOtherParts(*call, *config);
  const std::string version = TextAt(*config, {"metadata", "resourceVersion"});
  if (live == nullptr && !version.empty()) {
    return AnswerError(*call, Conflict(resource, call->path.name, StaleVersion()));
  }
  if (live != nullptr && !version.empty() && version != fmt::format("{}", live->version)) {
    return AnswerError(*call, Conflict(resource, call->path.name, StaleVersion()));
  }
  std::optional<json> before;
  if (live != nullptr) before = ParseWithKind(resource, *live);
  Result<patch::Applied> applied = patch::ServerSideApply(
      *resource.schema,
      before,
      *config,
      WriterOf(*call, options),
      options.force ? patch::OnConflict::kForce : patch::OnConflict::kReport);
  if (!applied) return AnswerError(*call, BadRequest(applied.error().message));
  if (!applied->conflicts.empty()) {
    return AnswerError(*call, ApplyConflictError(*applied));
  }
  applied->object["apiVersion"] = resource.ApiVersion();
  applied->object["kind"] = resource.kind;
  if (live == nullptr) {
    return CreateObject(state, call, std::move(applied->object), options, ManagedFields::kGiven);
  }
  UpdateObject(
      state,
      call,
      {std::move(live), std::move(*before), std::move(applied->object), ManagedFields::kGiven},
      options);
}

}  // namespace

void HandlePatch(ServerState& state, const CallRef& call) {
  const std::optional<PatchType> type = ReadPatchType(*call);
  if (!type) return AnswerUnknownType(*call);
  const ApiResult<WriteOptions> options = ReadWriteOptions(call->query, "PatchOptions");
  if (!options) return AnswerError(*call, options.error());
  const PatchIs what = *type == PatchType::kApply ? PatchIs::kApply : PatchIs::kOther;
  if (auto fine = CheckPatchOptions(call->query, *options, what); !fine) {
    return AnswerError(*call, fine.error());
  }
  const Resource& resource = *call->resource;
  ObjectRef live = state.store.GetLatest(KeyOf(resource, call->path.ns, call->path.name));
  if (*type == PatchType::kApply && (live != nullptr || call->path.subresource.empty())) {
    return ApplyTo(state, call, std::move(live), *options);
  }
  if (live == nullptr) return AnswerError(*call, NotFound(resource, call->path.name));
  json before = ParseWithKind(resource, *live);
  ApiResult<json> after = Patched(*call, *type, before);
  if (!after) return AnswerError(*call, after.error());
  if (auto fine = CheckPatched(*call, *after, before, options->field_validation); !fine) {
    return AnswerError(*call, fine.error());
  }
  const std::string& version = TextAt(*after, {"metadata", "resourceVersion"});
  if (!version.empty() && version != fmt::format("{}", live->version)) {
    return AnswerError(*call, Conflict(resource, call->path.name, StaleVersion()));
  }
  UpdateObject(state, call, {std::move(live), std::move(before), std::move(*after)}, *options);
}

}  // namespace strata::apiserver
