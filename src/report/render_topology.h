#pragma once

#include <cstdint>
#include <string>

#include "report/text.h"
#include "report/topology_report.h"

// The topology report as text. Each text ends in a newline.
namespace strata {

// "cpu=8,nvidia.com/gpu=8".
[[nodiscard]] std::string ShapeText(const objects::ResourceList& pod);

// The tree with used and free resources, and how many pods of the shape fit at each tier.
[[nodiscard]] std::string RenderTable(const TopologyReport& report, const TextStyle& style);

// The tree alone; with the column of fitting pods if asked for.
enum class FitColumn : std::uint8_t { kHide, kShow };
[[nodiscard]] std::string RenderTree(const TopologyReport& report,
                                     FitColumn fit_column,
                                     const TextStyle& style);

// One JSON document; the order of keys is fixed.
[[nodiscard]] std::string RenderJson(const TopologyReport& report);

}  // namespace strata
