#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "kube/client.h"
#include "obs/log.h"

namespace strata::device_plugin {

// Whether NVIDIA's DRA driver publishes the GPUs of a node, as ResourceSlices of gpu.nvidia.com:
// then claims hand them out, and a device plugin would hand out the same GPUs once more. Asks the
// API server; blocks, but not beyond a stop. From one thread at a time.
class DraSlices {
 public:
  enum class Found : std::uint8_t { kNone, kSome };

  // All but the name must outlive it. `look_again`: between questions of WaitForChange.
  DraSlices(kube::Client& client, std::string node, Duration look_again, const obs::Log& log);

  // Asks until there is an answer; nothing when it was stopped before. Without the API
  // (Kubernetes before 1.34), or without the right to list, there are none.
  [[nodiscard]] std::optional<Found> Ask(const std::stop_token& stop);
  // True once the answer is another one than `known`; false when it was stopped.
  [[nodiscard]] bool WaitForChange(Found known, const std::stop_token& stop);

 private:
  kube::Client& client_;
  const std::string node_;
  const Duration look_again_;
  const obs::Log& log_;
  bool told_forbidden_ = false;
};

}  // namespace strata::device_plugin
