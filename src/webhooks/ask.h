#pragma once

#include <functional>
#include <stop_token>

#include "kube/call.h"
#include "kube/client.h"
#include "kube/failure.h"

namespace strata::webhooks {

// Carries out one call and waits for the answer.
using Ask = std::function<kube::Reply(kube::Call)>;

// By `client`, which must outlive it; an answer that does not come is waited for until `stop`.
[[nodiscard]] Ask AskUntil(kube::Client& client, std::stop_token stop);

}  // namespace strata::webhooks
