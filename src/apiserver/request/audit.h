#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "net/http_server.h"

namespace strata::apiserver {

// Takes one line of an audit log, without a newline.
using AuditSink = std::function<void(const std::string& line)>;

// For a request that may change an object: an exchange that tells `sink` who asked for what and how
// it was answered, in the form of Kubernetes' audit events of level Metadata (without bodies), when
// it is answered. Any other exchange is returned as it is: reads, Events, and Leases, which are
// renewed all the time. `clock` must outlive it.
[[nodiscard]] std::shared_ptr<net::Exchange> Audited(std::shared_ptr<net::Exchange> exchange,
                                                     const Clock& clock,
                                                     AuditSink sink);

}  // namespace strata::apiserver
