#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/client.h"
#include "kube/kubeconfig.h"

namespace strata::inspect {

// One log that is followed.
struct FollowedLog {
  kube::ResourcePath path;
  kube::Call call;
  std::string prefix;  // before each of its lines; "" for none
};

// Takes whole lines, each with its end. An error ends the following.
using TakeLines = std::function<Status(std::string_view lines)>;

// Follows the logs at once until each of them has ended, and hands over their lines as they come.
// Lines of one log keep their order. The first failure ends it, and is the error: one line for a
// person. Nothing is under way afterwards. REQUIRES: not on a thread of the client's transports.
[[nodiscard]] Status FollowLogs(kube::Client& client,
                                const kube::ConnectionConfig& config,
                                const std::vector<FollowedLog>& logs,
                                const TakeLines& take);

}  // namespace strata::inspect
