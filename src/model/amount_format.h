#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "model/resources.h"

// Amounts as people write them, for sentences and tables. For what machines read back, use
// Quantity.
namespace strata {

// The number alone, in the unit people use for the resource, with at most `decimals` decimals:
// cores and pieces ("1.5", "8"), binary multiples for bytes ("64Gi", "1.5Gi", "512").
[[nodiscard]] std::string FormatNumber(std::string_view resource_name,
                                       Amount amount,
                                       int decimals = 2);

// The number and what it counts: "8 cpu", "64Gi" (memory), "100Gi ephemeral-storage",
// "2 nvidia.com/gpu".
[[nodiscard]] std::string FormatAmount(std::string_view resource_name, Amount amount);

// Both numbers, with as many decimals as it takes to tell them apart when they differ.
[[nodiscard]] std::pair<std::string, std::string> FormatNumbers(std::string_view resource_name,
                                                                Amount a,
                                                                Amount b);

}  // namespace strata
