#include "apiserver/request/api_error.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apiserver/store/object_store.h"
#include "store/journal.h"

namespace strata::apiserver {
namespace {

nlohmann::json Causes(const std::vector<schema::Problem>& problems) {
  nlohmann::json causes = nlohmann::json::array();
  for (const schema::Problem& problem : problems) {
    nlohmann::json cause = {{"reason", problem.reason}, {"message", problem.message}};
    if (!problem.field.empty()) cause["field"] = problem.field;
    causes.push_back(std::move(cause));
  }
  return causes;
}

// As of a kube-apiserver whose etcd is out of space: clients do not repeat it by themselves.
ApiError OutOfSpace(const Error& error) {
  ApiError full;
  full.code = 500;
  full.message = error.message + "; delete objects to make room";
  return full;
}

}  // namespace

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

ApiError NotFound(const ResourceInfo& resource, std::string_view name) {
  ApiError error = ErrorAbout(resource, name, 404, "NotFound");
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

ApiError Unauthorized() {
  ApiError error;
  error.code = 401;
  error.reason = "Unauthorized";
  error.message = "Unauthorized";
  return error;
}

ApiError BadRequest(std::string message) {
  ApiError error;
  error.code = 400;
  error.reason = "BadRequest";
  error.message = std::move(message);
  return error;
}

ApiError AlreadyExists(const ResourceInfo& resource, std::string_view name) {
  ApiError error = ErrorAbout(resource, name, 409, "AlreadyExists");
  error.message = fmt::format("{} \"{}\" already exists", resource.FullName(), name);
  return error;
}

ApiError Conflict(const ResourceInfo& resource, std::string_view name, std::string_view why) {
  ApiError error = ErrorAbout(resource, name, 409, "Conflict");
  error.message =
      fmt::format("Operation cannot be fulfilled on {} \"{}\": {}", resource.FullName(), name, why);
  return error;
}

std::string_view StaleVersion() {
  return "the object has been modified; please apply your changes to the latest version and try "
         "again";
}

ApiError InvalidOptions(std::string_view options, schema::Problem problem) {
  ApiError error;
  error.code = 422;
  error.reason = "Invalid";
  error.group = "meta.k8s.io";
  error.kind = options;
  error.causes.push_back(std::move(problem));
  error.message =
      fmt::format("{}.meta.k8s.io \"\" is invalid: {}", options, JoinProblems(error.causes));
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

ApiError FromStore(const ResourceInfo& resource, std::string_view name, const Error& error) {
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
      if (store::IsDiskFull(error)) return OutOfSpace(error);
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
