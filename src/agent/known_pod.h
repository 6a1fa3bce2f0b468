#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "model/labels.h"
#include "objects/pod.h"

namespace strata::agent {

struct KnownContainer {
  enum class Kind : std::uint8_t {
    kInit,     // ends before the containers behind it start
    kSidecar,  // an init container that stays
    kApp,
  };
  std::string name;
  Kind kind = Kind::kApp;
  std::int64_t gpus = 0;          // of the resource that the plugin offers
  bool disables_control = false;  // env CUDA_DISABLE_CONTROL=true

  bool operator==(const KnownContainer&) const = default;
};

// A pod of this node, as the kubelet or the API server describes it.
struct KnownPod {
  std::string uid;
  std::string ns;
  std::string name;
  Time created{};
  objects::PodPhase phase = objects::PodPhase::kPending;
  Labels annotations;                      // written by users, too: not to be trusted
  std::vector<KnownContainer> containers;  // init containers and sidecars first

  [[nodiscard]] bool Ended() const {
    return phase == objects::PodPhase::kSucceeded || phase == objects::PodPhase::kFailed;
  }
  [[nodiscard]] std::string FullName() const { return ns + "/" + name; }
  bool operator==(const KnownPod&) const = default;
};

// The phase by its name in the API; "" is Pending.
[[nodiscard]] objects::PodPhase PhaseOf(std::string_view text);
// The number of GPUs that a limit of a container asks for; 0 when the text is not a whole number.
[[nodiscard]] std::int64_t GpusOfLimit(std::string_view quantity);

// The pods of a PodList in JSON: the answer of the kubelet's /pods, or of the API server. Items
// without uid, namespace or name are left out. `resource` is the one that the plugin offers.
// kInvalidArgument when `text` is not JSON.
[[nodiscard]] Result<std::vector<KnownPod>> ReadPodList(std::string_view text,
                                                        std::string_view resource);
// One Pod in JSON. kInvalidArgument also when it lacks uid, namespace or name.
[[nodiscard]] Result<KnownPod> ReadKnownPod(std::string_view text, std::string_view resource);

}  // namespace strata::agent
