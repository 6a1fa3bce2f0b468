#pragma once

#include <string>

#include "nvml/probe.h"

namespace strata::nvml {

// One JSON object: driver, GPUs, links and scores as matrices (null: unknown), the two annotations
// that the node would get, and what could not be read.
[[nodiscard]] std::string RenderProbeJson(const ProbeReport& report);
// The same for people.
[[nodiscard]] std::string RenderProbeTable(const ProbeReport& report);

}  // namespace strata::nvml
