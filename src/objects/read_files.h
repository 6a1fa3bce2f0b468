#pragma once

#include <istream>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "objects/load.h"

namespace strata::objects {

// The texts that `-f` arguments name. A directory is every *.yaml, *.yml and *.json below it, in
// name order, and must hold one at least; "-" is `standard_input`, read once (a second "-" is an
// error). The only function here that touches the file system.
[[nodiscard]] Result<std::vector<Source>> ReadSources(std::span<const std::string> paths,
                                                      std::istream& standard_input);

}  // namespace strata::objects
