#pragma once

#include <string>

#include "simulate/result.h"
#include "simulate/topology_report.h"

// Results for programs. Each is one document that ends in a newline; the order of keys is fixed.
namespace strata {

[[nodiscard]] std::string RenderJson(const SimulationResult& result);
[[nodiscard]] std::string RenderYaml(const SimulationResult& result);
[[nodiscard]] std::string RenderJson(const TopologyReport& report);

}  // namespace strata
