#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "kube/json_text.h"

// What the status of an object tells people, and what no decision needs. Pure; what is missing or
// of another type is left empty.
namespace strata::inspect {

// status.state of a Job.
struct JobStatusFacts {
  kube::ObjectKey key;
  std::string phase = "Pending";
  std::string reason;
  std::string message;
};
[[nodiscard]] JobStatusFacts ReadJobStatus(std::string_view text);

// When a pod ran, and how it ended.
struct PodStatusFacts {
  kube::ObjectKey key;
  std::optional<Time> started;
  std::optional<Time> finished;           // when its last container ended
  std::optional<std::int32_t> exit_code;  // of the first container that failed
  std::string reason;                     // of the pod, such as Evicted, else of that container
};
[[nodiscard]] PodStatusFacts ReadPodStatus(std::string_view text);

}  // namespace strata::inspect
