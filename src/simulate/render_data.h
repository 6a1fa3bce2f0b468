#pragma once

#include <string>

#include "whatif/run_result.h"

// Results for programs. Each is one document that ends in a newline; the order of keys is fixed.
namespace strata {

[[nodiscard]] std::string RenderJson(const RunResult& result);
[[nodiscard]] std::string RenderYaml(const RunResult& result);

}  // namespace strata
