#include "apiserver/request/api_error.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apiserver/resources/resource.h"
#include "apiserver/store/object_store.h"

namespace strata::apiserver {
namespace {

ApiError About(const Resource& resource, std::string_view name, int code, std::string_view reason) {
  ApiError error;
  error.code = code;
  error.reason = reason;
  error.name = name;
  error.group = resource.group;
  error.kind = resource.plural;
  return error;
}

nlohmann::json Causes(const std::vector<schema::Problem>& problems) {
  nlohmann::json causes = nlohmann::json::array();
  for (const schema::Problem& problem : problems) {
    nlohmann::json cause = {{"reason", problem.reason}, {"message", problem.message}};
    if (!problem.field.empty()) cause["field"] = problem.field;
    causes.push_back(std::move(cause));
  }
  return causes;
}

std::string Sentence(const std::vector<schema::Problem>& problems) {
  std::string all;
  for (const schema::Problem& problem : problems) {
    if (!all.empty()) all += ", ";
    if (!problem.field.empty()) all += problem.field + ": ";
    all += problem.message;
  }
  return problems.size() == 1 ? all : "[" + all + "]";
}

// As many as a client can read, in texts that a client can read.
void KeepFirst(std::vector<schema::Problem>& problems) {
  constexpr std::size_t kMostBytes = std::size_t{64} << 10U;
  constexpr std::size_t kLongestField = 1024;
  std::size_t bytes = 0;
  std::size_t kept = 0;
  for (schema::Problem& problem : problems) {
    if (kept == kMostCauses || bytes > kMostBytes) break;
    problem.field = Shortened(problem.field, kLongestField);
    bytes += problem.field.size() + problem.message.size();
    ++kept;
  }
  const std::size_t more = problems.size() - kept;
  if (more == 0) return;
  problems.resize(kept);
  problems.push_back({"", "FieldValueInvalid", fmt::format("and {} more problems", more)});
}

}  // namespace

std::string Shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  // Not in the middle of a character.
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
  return std::string(text.substr(0, most)) + "...";
}

nlohmann::json ToStatus(const ApiError& error) {
  nlohmann::json details = nlohmann::json::object();
  if (!error.name.empty()) details["name"] = error.name;
  if (!error.group.empty()) details["group"] = error.group;
  if (!error.kind.empty()) details["kind"] = error.kind;
  if (!error.uid.empty()) details["uid"] = error.uid;
  if (!error.causes.empty()) details["causes"] = Causes(error.causes);
  if (error.retry_after_seconds != 0) details["retryAfterSeconds"] = error.retry_after_seconds;

  nlohmann::json status = {{"kind", "Status"},
                           {"apiVersion", "v1"},
                           {"metadata", nlohmann::json::object()},
                           {"status", "Failure"},
                           {"message", error.message},
                           {"code", error.code}};
  if (!error.reason.empty()) status["reason"] = error.reason;
  const bool empty_details =
      error.code == 404 || error.code == 405 || error.code == 415 || error.code == 422;
  if (!details.empty() || empty_details) status["details"] = std::move(details);
  return status;
}

ApiError NotFound(const Resource& resource, std::string_view name) {
  ApiError error = About(resource, name, 404, "NotFound");
  error.message = fmt::format("{} \"{}\" not found", resource.FullName(), name);
  return error;
}

ApiError NoSuchResource() {
  ApiError error;
  error.code = 404;
  error.reason = "NotFound";
  error.message = "the server could not find the requested resource";
  return error;
}

ApiError MethodNotAllowed() {
  ApiError error;
  error.code = 405;
  error.reason = "MethodNotAllowed";
  error.message = "the server does not allow this method on the requested resource";
  return error;
}

ApiError BadRequest(std::string message) {
  ApiError error;
  error.code = 400;
  error.reason = "BadRequest";
  error.message = std::move(message);
  return error;
}

ApiError Forbidden(const Resource& resource, std::string_view name, std::string_view why) {
  ApiError error = About(resource, name, 403, "Forbidden");
  error.message = fmt::format("{} \"{}\" is forbidden: {}", resource.FullName(), name, why);
  return error;
}

ApiError AlreadyExists(const Resource& resource, std::string_view name) {
  ApiError error = About(resource, name, 409, "AlreadyExists");
  error.message = fmt::format("{} \"{}\" already exists", resource.FullName(), name);
  return error;
}

ApiError Conflict(const Resource& resource, std::string_view name, std::string_view why) {
  ApiError error = About(resource, name, 409, "Conflict");
  error.message =
      fmt::format("Operation cannot be fulfilled on {} \"{}\": {}", resource.FullName(), name, why);
  return error;
}

std::string_view StaleVersion() {
  return "the object has been modified; please apply your changes to the latest version and try "
         "again";
}

ApiError Invalid(const Resource& resource,
                 std::string_view name,
                 std::vector<schema::Problem> problems) {
  KeepFirst(problems);
  ApiError error = About(resource, name, 422, "Invalid");
  error.kind = resource.kind;
  const std::string kind =
      resource.group.empty() ? resource.kind : resource.kind + "." + resource.group;
  error.message = fmt::format("{} \"{}\" is invalid: {}", kind, name, Sentence(problems));
  error.causes = std::move(problems);
  return error;
}

ApiError InvalidOptions(std::string_view options, schema::Problem problem) {
  ApiError error;
  error.code = 422;
  error.reason = "Invalid";
  error.group = "meta.k8s.io";
  error.kind = options;
  error.causes.push_back(std::move(problem));
  error.message =
      fmt::format("{}.meta.k8s.io \"\" is invalid: {}", options, Sentence(error.causes));
  return error;
}

ApiError UnsupportedMediaType(std::string_view accepted) {
  ApiError error;
  error.code = 415;
  error.reason = "UnsupportedMediaType";
  error.message = fmt::format(
      "the body of the request was in an unknown format - accepted media types include: {}",
      accepted);
  return error;
}

ApiError EntityTooLarge() {
  ApiError error;
  error.code = 413;
  error.reason = "RequestEntityTooLarge";
  error.message = fmt::format("Request entity too large: limit is {}", kMaxObjectBytes);
  return error;
}

ApiError InternalError(std::string_view what) {
  ApiError error;
  error.code = 500;
  error.reason = "InternalError";
  error.message = fmt::format("Internal error occurred: {}", what);
  return error;
}

ApiError FromStore(const Resource& resource, std::string_view name, const Error& error) {
  switch (error.code) {
    case Code::kConflict:
      return Conflict(resource, name, StaleVersion());
    case Code::kNotFound:
      return NotFound(resource, name);
    case Code::kInvalidArgument:
      return error.message == kObjectTooLarge ? EntityTooLarge() : BadRequest(error.message);
    case Code::kGone: {
      ApiError gone;
      gone.code = 410;
      gone.reason = "Expired";
      gone.message = error.message;
      return gone;
    }
    case Code::kUnavailable: {
      ApiError later;
      later.code = 503;
      later.reason = "ServiceUnavailable";
      later.message = error.message;
      later.retry_after_seconds = 1;
      return later;
    }
    case Code::kInternal:
      break;
  }
  return InternalError(error.message);
}

}  // namespace strata::apiserver
