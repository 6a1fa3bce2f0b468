#include "apiserver/request/body.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "admission/manifest_judge.h"
#include "base/ascii.h"
#include "json/access.h"
#include "json/dump.h"
#include "json/parse.h"
#include "objects/document.h"
#include "objects/duplicate_key.h"
#include "objects/yaml_to_json.h"
#include "schema/check.h"
#include "wire/protobuf_body.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

constexpr std::string_view kBodyTypes =
    "application/json, application/yaml, application/vnd.kubernetes.protobuf";
constexpr std::string_view kProtobuf = "application/vnd.kubernetes.protobuf";

constexpr std::size_t kLongestPath = 1024;

// The start of a body, for a message.
std::string Excerpt(std::string_view text) {
  if (text.empty()) return "<empty>";
  std::string hex;
  for (const char c : text.substr(0, 128)) {
    hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  }
  return text.size() > 128 ? hex + "..." : hex;
}

ApiError Unrecognized(const Call& call, std::string_view kind, std::string_view why) {
  return BadRequest(
      fmt::format("the object provided is unrecognized (must be of type {}): couldn't get "
                  "version/kind; json parse error: {} ({})",
                  kind,
                  why,
                  Excerpt(call.exchange->request().body)));
}

ApiResult<json> ReadAny(const Call& call, std::string_view kind) {
  const net::HttpRequest& request = call.exchange->request();
  const std::string type = MediaType(request.HeaderValue("Content-Type"));
  Result<json> value = Fail(Code::kInvalidArgument, "");
  if (type.empty() || type == "application/json") {
    value = ParseJson(request.body);
  } else if (type == "application/yaml") {
    value = ParseYaml(request.body);
  } else if (type == kProtobuf) {
    value = wire::ReadProtobufBody(request.body);
    if (!value) return tl::unexpected(BadRequest(value.error().message));
  } else {
    return tl::unexpected(UnsupportedMediaType(kBodyTypes));
  }
  if (!value) return tl::unexpected(Unrecognized(call, kind, value.error().message));
  if (value->is_null()) return json::object();
  if (!value->is_object()) {
    return tl::unexpected(Unrecognized(
        call, kind, fmt::format("json: cannot unmarshal {} into Go value", value->type_name())));
  }
  return std::move(*value);
}

// The first duplicate key in a JSON body; "" for none.
std::string DuplicateField(const net::HttpRequest& request) {
  const std::string type = MediaType(request.HeaderValue("Content-Type"));
  if (!type.empty() && type != "application/json") return {};
  std::string found;
  const auto visited = objects::ForEachDocument(
      "body.json", request.body, [&](const objects::Value& value) -> Status {
        if (auto key = objects::FindDuplicateKey(value)) found = std::move(*key);
        return {};
      });
  return visited ? found : std::string();
}

ApiResult<void> CheckCustomKind(const Call& call, const json& object) {
  const Resource& resource = *call.resource;
  const std::string& kind = TextAt(object, {"kind"});
  const std::string& version = TextAt(object, {"apiVersion"});
  if (kind.empty() || version.empty()) {
    return tl::unexpected(BadRequest(fmt::format("Object '{}' is missing in '{}'",
                                                 kind.empty() ? "Kind" : "apiVersion",
                                                 DumpJson(object).substr(0, 1000))));
  }
  if (version != resource.ApiVersion()) {
    return tl::unexpected(BadRequest(
        fmt::format("the API version in the data ({}) does not match the expected API version ({})",
                    version,
                    resource.ApiVersion())));
  }
  if (kind != resource.kind) {
    return tl::unexpected(
        Invalid(resource,
                TextAt(object, {"metadata", "name"}),
                {{"kind",
                  "FieldValueInvalid",
                  fmt::format("Invalid value: {}: must be {}", DumpJson(kind), resource.kind)}}));
  }
  return {};
}

ApiResult<void> CheckBuiltInKind(const Call& call, const json& object) {
  const Resource& resource = *call.resource;
  const std::string& kind = TextAt(object, {"kind"});
  const std::string& version = TextAt(object, {"apiVersion"});
  if (!version.empty() && version != resource.ApiVersion()) {
    return tl::unexpected(BadRequest(
        fmt::format("the API version in the data ({}) does not match the expected API version ({})",
                    version,
                    resource.ApiVersion())));
  }
  if (!kind.empty() && kind != resource.kind) {
    return tl::unexpected(
        BadRequest(fmt::format("{} in version \"{}\" cannot be handled as a {}: no kind \"{}\" is "
                               "registered for this resource",
                               kind,
                               resource.version,
                               resource.kind,
                               kind)));
  }
  return {};
}

ApiResult<void> CheckTypes(const Resource& resource, const json& object) {
  const schema::Schema* schema = resource.schema.get();
  const json* value = &object;
  if (resource.custom) {  // the rest is the schema's matter, and 422
    const schema::Field* metadata = schema->Find("metadata");
    value = FindAt(object, {"metadata"});
    if (value == nullptr || metadata == nullptr) return {};
    schema = metadata->schema.get();
  }
  const Status decodes = schema::CheckDecodes(*schema, *value);
  if (decodes) return {};
  return tl::unexpected(BadRequest(fmt::format("{} in version \"{}\" cannot be handled as a {}: {}",
                                               resource.kind,
                                               resource.version,
                                               resource.kind,
                                               decodes.error().message)));
}

std::string StrictMessage(const std::vector<std::string>& errors) {
  const std::size_t told = std::min(errors.size(), kMaxCauses);
  std::string message = fmt::format(
      "strict decoding error: {}",
      fmt::join(errors.begin(), errors.begin() + static_cast<std::ptrdiff_t>(told), ", "));
  if (told < errors.size()) message += fmt::format(", and {} more", errors.size() - told);
  return message;
}

}  // namespace

std::string MediaType(std::string_view header) {
  return LowerCase(Trim(header.substr(0, header.find(';'))));
}

Result<json> ParseYaml(std::string_view text) {
  TRY_ASSIGN(const std::vector<std::string> documents, objects::YamlToJson(text));
  if (documents.empty()) return json();
  return ParseJson(documents.front());
}

ApiResult<json> ReadObject(Call& call, FieldValidation validation) {
  const Resource& resource = *call.resource;
  TRY_API_ASSIGN(json object, ReadAny(call, resource.kind));
  TRY_API(resource.custom ? CheckCustomKind(call, object) : CheckBuiltInKind(call, object));
  object["apiVersion"] = resource.ApiVersion();
  object["kind"] = resource.kind;
  TRY_API(CheckTypes(resource, object));
  if (!object.contains("metadata") || object["metadata"].is_null()) {
    object["metadata"] = json::object();
  }
  if (validation == FieldValidation::kIgnore) return object;
  std::vector<std::string> errors = admission::StrictFaults(*resource.schema, object, nullptr);
  if (const std::string twice = DuplicateField(call.exchange->request()); !twice.empty()) {
    errors.insert(errors.begin(),
                  fmt::format("duplicate field \"{}\"", Shortened(twice, kLongestPath)));
  }
  if (validation == FieldValidation::kStrict && !errors.empty()) {
    return tl::unexpected(
        BadRequest(fmt::format("{} in version \"{}\" cannot be handled as a {}: {}",
                               resource.kind,
                               resource.version,
                               resource.kind,
                               StrictMessage(errors))));
  }
  call.Warn(std::move(errors));
  return object;
}

ApiResult<void> CheckPatched(Call& call,
                             const json& object,
                             const json& before,
                             FieldValidation validation) {
  const Resource& resource = *call.resource;
  if (resource.custom) TRY_API(CheckCustomKind(call, object));
  TRY_API(CheckTypes(resource, object));
  if (validation == FieldValidation::kIgnore) return {};
  std::vector<std::string> errors = admission::StrictFaults(*resource.schema, object, before);
  if (validation == FieldValidation::kStrict && !errors.empty()) {
    return tl::unexpected(Invalid(
        resource,
        TextAt(object, {"metadata", "name"}),
        {{"patch",
          "FieldValueInvalid",
          fmt::format(
              "Invalid value: {}: {}", DumpJson(DumpJson(object)), StrictMessage(errors))}}));
  }
  call.Warn(std::move(errors));
  return {};
}

ApiResult<json> ReadDeleteBody(const Call& call) {
  if (call.exchange->request().body.empty()) return json();
  return ReadAny(call, "DeleteOptions");
}

ApiResult<json> ReadOther(const Call& call, std::string_view kind) {
  TRY_API_ASSIGN(json object, ReadAny(call, kind));
  const std::string& given = TextAt(object, {"kind"});
  if (!given.empty() && given != kind) {
    return tl::unexpected(
        BadRequest(fmt::format("{} in version \"v1\" cannot be handled as a {}", given, kind)));
  }
  return object;
}

}  // namespace strata::apiserver
