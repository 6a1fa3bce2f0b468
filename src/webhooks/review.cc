#include "webhooks/review.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "json/access.h"
#include "json/dump.h"
#include "json/parse.h"

namespace strata::webhooks {
namespace {

using nlohmann::json;

constexpr std::string_view kApiVersion = "admission.k8s.io/v1";

tl::unexpected<Error> Bad(std::string why) {
  return Fail(Code::kInvalidArgument, std::move(why));
}

// The object of that name, taken out of the request; null when there is none.
Result<json> TakeObject(json& request, const char* key) {
  const auto found = request.find(key);
  if (found == request.end() || found->is_null()) return json();
  if (!found->is_object()) return Bad(fmt::format("request.{} is not an object", key));
  return std::move(*found);
}

Status CheckObjects(Review& review) {
  const bool changes = review.operation == "CREATE" || review.operation == "UPDATE";
  if (changes && review.object.is_null()) return Bad("request.object is required");
  if (review.operation == "UPDATE" && review.old_object.is_null()) {
    return Bad("request.oldObject is required");
  }
  if (review.operation != "DELETE" || !review.old_object.is_null()) return {};
  if (review.name.empty()) return Bad("request.oldObject or request.name is required");
  review.old_object = {{"metadata", {{"name", review.name}}}};
  return {};
}

}  // namespace

Result<Review> ParseReview(std::string_view body) {
  TRY_ASSIGN(json parsed, ParseJson(body));
  if (TextAt(parsed, {"kind"}) != "AdmissionReview" ||
      TextAt(parsed, {"apiVersion"}) != kApiVersion) {
    return Bad(fmt::format("want an AdmissionReview of {}", kApiVersion));
  }
  const auto found = parsed.find("request");
  if (found == parsed.end() || !found->is_object()) return Bad("request is required");
  json& request = *found;
  Review review;
  review.uid = TextAt(request, {"uid"});
  if (review.uid.empty()) return Bad("request.uid is required");
  review.operation = TextAt(request, {"operation"});
  review.group = TextAt(request, {"resource", "group"});
  review.plural = TextAt(request, {"resource", "resource"});
  review.subresource = TextAt(request, {"subResource"});
  review.ns = TextAt(request, {"namespace"});
  review.name = TextAt(request, {"name"});
  TRY_ASSIGN(review.object, TakeObject(request, "object"));
  TRY_ASSIGN(review.old_object, TakeObject(request, "oldObject"));
  TRY(CheckObjects(review));
  return review;
}

std::string AnswerText(const std::string& uid, const Verdict& verdict) {
  json response = {{"uid", uid}, {"allowed", !verdict.refusal.has_value()}};
  if (verdict.refusal) {
    response["status"] = {{"status", "Failure"}, {"message", *verdict.refusal}, {"code", 400}};
  } else if (!verdict.patch.empty()) {
    response["patchType"] = "JSONPatch";
    response["patch"] = EncodeBase64(DumpJson(verdict.patch));
  }
  if (!verdict.warnings.empty()) response["warnings"] = verdict.warnings;
  return DumpJson({{"kind", "AdmissionReview"},
                   {"apiVersion", kApiVersion},
                   {"response", std::move(response)}});
}

}  // namespace strata::webhooks
