#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

// What HAMi's webhook does to pods with GPUs, for the pods of our schedulers. Pure.
namespace strata::webhooks {

struct GpuVerdict {
  std::optional<std::string> refusal;  // why the pod may not be made
  std::vector<std::string> warnings;   // for the user who makes it
};

// Completes what a pod of one of these schedulers asks of GPUs, by the limits of its containers:
//
//   - shares of a GPU without a count mean one GPU; without that count no kubelet would ever ask
//     the node agent for it
//   - whole GPUs are not shared: nvidia.com/gpucores: 100
//   - nvidia.com/priority becomes the variable CUDA_TASK_PRIORITY
//
// Annotations in which schedulers and agents record who has which GPU are removed, whatever the
// scheduler of the pod: a user who writes them would choose the GPUs of somebody else. Otherwise
// pods of other schedulers stay as they are.
[[nodiscard]] GpuVerdict CompleteGpuPod(const std::vector<std::string>& scheduler_names,
                                        nlohmann::json& pod);

}  // namespace strata::webhooks
