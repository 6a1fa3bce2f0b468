#pragma once

#include <string>
#include <vector>

#include "admission/admission.h"
#include "admission/object_reader.h"
#include "base/clock.h"
#include "webhooks/admission_conf.h"
#include "webhooks/review.h"
#include "webhooks/webhook.h"

namespace strata::webhooks {

// What a verdict depends on besides the review.
struct Circumstances {
  const admission::ObjectReader& objects;  // Queues, PodGroups, Namespaces as they were last seen
  const AdmissionConf& conf;
  const std::vector<std::string>& scheduler_names;  // whose pods /pods/validate looks at
  Time now;
  admission::UsedQueues used_queues = admission::UsedQueues::kMayGo;
};

// What `webhook` says to `review`: the rules of the embedded API server (src/admission), of
// which one that mutates keeps what they add, and one that validates what they refuse. Pure; a dry
// run is the same.
[[nodiscard]] Verdict Admit(const Webhook& webhook,
                            const Review& review,
                            const Circumstances& around);

}  // namespace strata::webhooks
