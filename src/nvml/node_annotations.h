#pragma once

#include <string>

#include "model/gpu.h"

// The annotations in which a node registers its GPUs, in HAMi's JSON.
namespace strata::nvml {

inline constexpr const char* kRegisterKey = "hami.io/node-nvidia-register";
inline constexpr const char* kScoreKey = "hami.io/node-nvidia-score";

// GPUs by index; fields that are 0, false or empty are left out, as HAMi does.
[[nodiscard]] std::string RegisterText(const NodeGpus& node);
// Pairs that are not known have no score.
[[nodiscard]] std::string ScoreText(const NodeGpus& node);

}  // namespace strata::nvml
