#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/clock.h"
#include "kube/json_text.h"
#include "model/labels.h"
#include "objects/pod.h"

namespace strata::controllers {

// On pods whose end the controller itself wanted, so that no policy acts on it.
inline constexpr std::string_view kOutOfSyncKey = "volcano.sh/controller-out-of-sync";

// What the controllers need to know of a pod: there are many, so no more is kept.
struct PodSeen {
  kube::ObjectKey key;
  std::string uid;
  std::string version;
  std::string owner_uid;  // of its controller
  std::string job;        // the name of the Job that controls it, "" for other owners
  std::string node;       // "" while it has none
  std::string task;       // of a Job's pod
  std::int32_t index = -1;
  std::int32_t job_version = 0;
  std::string partition;
  objects::PodPhase phase = objects::PodPhase::kPending;
  bool being_deleted = false;
  bool out_of_sync = false;
  bool ready = false;
  std::string evicted;  // by whom and why, of one that is being deleted; "" when that is not known
  Time created{};
  std::optional<std::int32_t> exit_code;  // of its first container
  std::int64_t restarts = 0;              // of all its containers
  Labels labels;                          // kept only where somebody asks for them

  friend bool operator==(const PodSeen&, const PodSeen&) = default;

  [[nodiscard]] bool finished() const {
    return phase == objects::PodPhase::kSucceeded || phase == objects::PodPhase::kFailed;
  }
};

[[nodiscard]] PodSeen SeePod(const nlohmann::json& pod);

// "Running"
[[nodiscard]] std::string_view WordOf(objects::PodPhase phase);

}  // namespace strata::controllers
