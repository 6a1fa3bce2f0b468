#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "inspect/live_cluster.h"
#include "kube/json_text.h"

// What a person does to a Job. Errors are one line, as LiveCluster gives them.
namespace strata::inspect {

enum class JobAction : std::uint8_t { kSuspend, kResume };

// The body of the bus.volcano.sh Command that asks the job controller for it, as Volcano's own
// command line makes it: owned by the Job, and aimed at it. Pure.
[[nodiscard]] std::string CommandBody(const kube::ObjectKey& job,
                                      const std::string& uid,
                                      JobAction action);

// kNotFound when there is no such Job.
[[nodiscard]] Result<std::string> FindJobUid(LiveCluster& cluster, const kube::ObjectKey& job);
[[nodiscard]] Status SendCommand(LiveCluster& cluster,
                                 const kube::ObjectKey& job,
                                 JobAction action);
// What it owns goes after it, in the background. Only the Job of that uid.
[[nodiscard]] Status DeleteJob(LiveCluster& cluster,
                               const kube::ObjectKey& job,
                               const std::string& uid);

}  // namespace strata::inspect
