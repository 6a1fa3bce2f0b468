#include "apiserver/request/query_options.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "json/access.h"
#include "json/dump.h"

namespace strata::apiserver {
namespace {

using schema::Problem;

tl::unexpected<ApiError> ForbiddenOption(std::string_view options,
                                         std::string_view field,
                                         std::string_view why) {
  return tl::unexpected(InvalidOptions(
      options,
      Problem{std::string(field), "FieldValueForbidden", fmt::format("Forbidden: {}", why)}));
}

tl::unexpected<ApiError> UnsupportedOption(std::string_view options,
                                           std::string_view field,
                                           std::string_view value,
                                           std::string_view supported) {
  return tl::unexpected(InvalidOptions(
      options,
      Problem{std::string(field),
              "FieldValueNotSupported",
              fmt::format("Unsupported value: {}: supported values: {}", value, supported)}));
}

ApiResult<void> CheckListOptions(const ListOptions& options) {
  constexpr std::string_view kName = "ListOptions";
  constexpr std::string_view kMatch = "resourceVersionMatch";
  const std::string& match = options.resource_version_match;
  if (options.send_initial_events) {
    if (!options.watch) {
      return ForbiddenOption(kName, "sendInitialEvents", "sendInitialEvents is forbidden for list");
    }
    if (match != "NotOlderThan") {
      return ForbiddenOption(
          kName, kMatch, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    }
    return {};
  }
  if (match.empty()) return {};
  if (options.watch) {
    return ForbiddenOption(
        kName,
        kMatch,
        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is "
        "provided");
  }
  if (options.resource_version.empty()) {
    return ForbiddenOption(
        kName, kMatch, "resourceVersionMatch is forbidden unless resourceVersion is provided");
  }
  if (!options.continue_token.empty()) {
    return ForbiddenOption(
        kName, kMatch, "resourceVersionMatch is forbidden when continue is provided");
  }
  if (match != "Exact" && match != "NotOlderThan") {
    return UnsupportedOption(kName, kMatch, "\"" + match + "\"", "\"Exact\", \"NotOlderThan\"");
  }
  if (match == "Exact" && options.resource_version == "0") {
    return ForbiddenOption(
        kName, kMatch, "resourceVersionMatch \"Exact\" is forbidden for resourceVersion \"0\"");
  }
  return {};
}

ApiResult<bool> ReadDryRun(const std::vector<std::string>& values, std::string_view options) {
  const bool known = std::all_of(
      values.begin(), values.end(), [](const std::string& value) { return value == "All"; });
  if (!known) {
    return UnsupportedOption(options, "dryRun", DumpJson(values), "\"All\"");
  }
  return !values.empty();
}

ApiResult<void> CheckFieldManager(std::string_view manager, std::string_view options) {
  if (manager.size() > 128) {
    return tl::unexpected(InvalidOptions(
        options,
        Problem{"fieldManager", "FieldValueTooLong", "Too long: may not be more than 128 bytes"}));
  }
  const bool printable = std::all_of(manager.begin(), manager.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
  });
  if (!printable) {
    return tl::unexpected(InvalidOptions(
        options,
        Problem{"fieldManager",
                "FieldValueInvalid",
                fmt::format("Invalid value: {}: should only contain printable characters",
                            DumpJson(manager))}));
  }
  return {};
}

ApiResult<Propagation> ReadPropagation(std::string_view policy) {
  if (policy.empty()) return Propagation::kDefault;
  if (policy == "Background") return Propagation::kBackground;
  if (policy == "Foreground") return Propagation::kForeground;
  if (policy == "Orphan") return Propagation::kOrphan;
  return UnsupportedOption("DeleteOptions",
                           "propagationPolicy",
                           DumpJson(policy),
                           "\"Background\", \"Foreground\", \"Orphan\", nil");
}

ApiResult<DeleteOptions> FromBody(const nlohmann::json& body) {
  DeleteOptions options;
  const auto grace = body.find("gracePeriodSeconds");
  if (grace != body.end() && grace->is_number_integer()) {
    options.grace_seconds = grace->get<std::int64_t>();
  } else if (grace != body.end() && !grace->is_null()) {
    return tl::unexpected(
        BadRequest(fmt::format("json: cannot unmarshal {} into Go struct field "
                               "DeleteOptions.gracePeriodSeconds of type int64",
                               grace->is_boolean() ? "bool" : grace->type_name())));
  }
  options.uid = TextAt(body, {"preconditions", "uid"});
  options.resource_version = TextAt(body, {"preconditions", "resourceVersion"});
  std::vector<std::string> dry_run;
  if (const auto dry = body.find("dryRun"); dry != body.end() && dry->is_array()) {
    for (const nlohmann::json& value : *dry) {
      dry_run.push_back(value.is_string() ? value.get<std::string>() : std::string());
    }
  }
  TRY_API_ASSIGN(options.dry_run, ReadDryRun(dry_run, "DeleteOptions"));
  TRY_API_ASSIGN(options.propagation, ReadPropagation(TextAt(body, {"propagationPolicy"})));
  const auto orphan = body.find("orphanDependents");
  if (orphan != body.end() && orphan->is_boolean() &&
      options.propagation == Propagation::kDefault) {
    options.propagation = orphan->get<bool>() ? Propagation::kOrphan : Propagation::kBackground;
  }
  return options;
}

}  // namespace

ApiResult<ListOptions> ReadListOptions(const Query& query) {
  ListOptions options;
  options.label_selector = query.Get("labelSelector");
  options.field_selector = query.Get("fieldSelector");
  options.resource_version = query.Get("resourceVersion");
  options.resource_version_match = query.Get("resourceVersionMatch");
  options.continue_token = query.Get("continue");
  options.watch = query.Flag("watch");
  options.bookmarks = query.Flag("allowWatchBookmarks");
  if (query.Has("sendInitialEvents")) options.send_initial_events = query.Flag("sendInitialEvents");
  TRY_API_ASSIGN(const std::optional<std::int64_t> limit, query.Number("limit"));
  options.limit = std::max<std::int64_t>(limit.value_or(0), 0);
  TRY_API_ASSIGN(options.timeout_seconds, query.Number("timeoutSeconds"));
  TRY_API(CheckListOptions(options));
  return options;
}

ApiResult<WriteOptions> ReadWriteOptions(const Query& query, std::string_view name) {
  WriteOptions options;
  TRY_API_ASSIGN(options.dry_run, ReadDryRun(query.All("dryRun"), name));
  options.field_manager = query.Get("fieldManager");
  TRY_API(CheckFieldManager(options.field_manager, name));
  const std::string_view validation = query.Get("fieldValidation");
  if (validation == "Strict") {
    options.field_validation = FieldValidation::kStrict;
  } else if (validation == "Ignore") {
    options.field_validation = FieldValidation::kIgnore;
  } else if (!validation.empty() && validation != "Warn") {
    return UnsupportedOption(
        name, "fieldValidation", DumpJson(validation), "\"Ignore\", \"Strict\", \"Warn\"");
  }
  options.force = query.Flag("force");
  return options;
}

ApiResult<void> CheckPatchOptions(const Query& query, const WriteOptions& options, PatchIs what) {
  if (what == PatchIs::kApply) {
    if (!options.field_manager.empty()) return {};
    return tl::unexpected(InvalidOptions(
        "PatchOptions",
        Problem{
            "fieldManager", "FieldValueRequired", "Required value: is required for apply patch"}));
  }
  if (query.Has("force")) {
    return ForbiddenOption("PatchOptions", "force", "may not be specified for non-apply patch");
  }
  return {};
}

DeleteOptions WithItsHome() {
  DeleteOptions options;
  options.with_its_home = true;
  options.propagation = Propagation::kBackground;
  return options;
}

ApiResult<DeleteOptions> ReadDeleteOptions(const Query& query, const nlohmann::json& body) {
  if (body.is_object() && !body.empty()) return FromBody(body);
  DeleteOptions options;
  TRY_API_ASSIGN(options.dry_run, ReadDryRun(query.All("dryRun"), "DeleteOptions"));
  TRY_API_ASSIGN(options.grace_seconds, query.Number("gracePeriodSeconds"));
  TRY_API_ASSIGN(options.propagation, ReadPropagation(query.Get("propagationPolicy")));
  if (query.Has("orphanDependents") && options.propagation == Propagation::kDefault) {
    options.propagation =
        query.Flag("orphanDependents") ? Propagation::kOrphan : Propagation::kBackground;
  }
  return options;
}

}  // namespace strata::apiserver
