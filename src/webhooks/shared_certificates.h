#pragma once

#include <span>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "webhooks/ask.h"
#include "webhooks/certificates.h"

namespace strata::webhooks {

// Where replicas share what they show.
struct SecretName {
  std::string ns;
  std::string name;
};

// The certificates of the Secret, which is made where it is missing and renewed where it is time.
// A Secret that is gone is created again from `shown` (empty at the start), so that replicas which
// serve those stay trusted. kConflict when another replica did that at the same moment: ask again.
[[nodiscard]] Result<Certificates> ShareCertificates(const Ask& ask,
                                                     const SecretName& secret,
                                                     std::span<const std::string> hosts,
                                                     const Certificates& shown,
                                                     Time now);

}  // namespace strata::webhooks
