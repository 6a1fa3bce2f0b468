#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
// Sends the command, unless nothing would follow, and says what is so: "suspend requested". An
// error where the Job can no longer do what is asked.
[[nodiscard]] Result<std::string> RequestAction(LiveCluster& cluster,
                                                const kube::ObjectKey& job,
                                                JobAction action);
// What is so when nothing would follow; "" when the command is to be sent. `phase` is that of the
// Job, `pending` the last command that its controller has not taken yet. Pure.
[[nodiscard]] Result<std::string> WhyNothingFollows(std::string_view phase,
                                                    std::optional<JobAction> pending,
                                                    JobAction action);
// The last of the commands (texts of bus.volcano.sh Commands) that aim at the Job of this uid.
// Pure.
[[nodiscard]] std::optional<JobAction> PendingAction(const std::vector<ListedObject>& commands,
                                                     const std::string& uid);
// What it owns goes after it, in the background. Only the Job of that uid.
[[nodiscard]] Status DeleteJob(LiveCluster& cluster,
                               const kube::ObjectKey& job,
                               const std::string& uid);

}  // namespace strata::inspect
