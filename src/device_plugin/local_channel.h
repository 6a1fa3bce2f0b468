#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <grpcpp/grpcpp.h>

#include "base/clock.h"
#include "base/result.h"

// Calls to a server behind a socket of this machine.
namespace strata::device_plugin {

// A connection of its own for each channel: a kubelet that was restarted is reached at once,
// without the waiting time of an earlier connection that failed.
[[nodiscard]] std::shared_ptr<grpc::Channel> LocalChannel(const std::string& socket);

void SetLimit(grpc::ClientContext& context, Duration limit);

// `what` is who was called: "kubelet Pods API".
[[nodiscard]] Error ErrorOf(const grpc::Status& status, const std::string& what);

}  // namespace strata::device_plugin
