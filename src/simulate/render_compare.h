#pragma once

#include <string>

#include "report/text.h"
#include "simulate/compare.h"

// A comparison as text that ends in a newline.
namespace strata {

// For people: the figures of both sides, the jobs that stand otherwise, what differs in the
// configuration and in the objects, and one line that sums it up.
[[nodiscard]] std::string RenderTable(const Comparison& comparison, const TextStyle& style);
// One JSON document; the order of keys is fixed.
[[nodiscard]] std::string RenderJson(const Comparison& comparison);
[[nodiscard]] std::string RenderYaml(const Comparison& comparison);

}  // namespace strata
