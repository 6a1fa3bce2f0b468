#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "webhooks/webhook.h"

// AdmissionReview of admission.k8s.io/v1: what an API server asks a webhook, and what it is told.
namespace strata::webhooks {

struct Review {
  std::string uid;
  std::string operation;  // "CREATE"
  std::string group;
  std::string plural;         // "jobs"
  std::string subresource;    // "" for the object itself
  std::string ns;             // "" for objects of the cluster
  std::string name;           // may be "" before the server has made one up
  nlohmann::json object;      // as it is to be; null for a DELETE
  nlohmann::json old_object;  // as it is; null for a CREATE
};

// kInvalidArgument, one line, for anything else than a review with all that its operation needs:
// an object for CREATE, both for UPDATE, the old one or its name for DELETE.
[[nodiscard]] Result<Review> ParseReview(std::string_view body);

struct Verdict {
  std::optional<std::string> refusal;              // why not
  nlohmann::json patch = nlohmann::json::array();  // RFC 6902; empty: the object stays as it is
  std::vector<std::string> warnings = {};          // for the user, whatever the answer
};

// The text of the answer. A refusal is a Status with code 400, as the API server makes of one
// without a code, which is what Volcano sends.
[[nodiscard]] std::string AnswerText(const std::string& uid, const Verdict& verdict);

}  // namespace strata::webhooks
