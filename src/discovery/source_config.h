#pragma once

#include <string>
#include <vector>

#include "discovery/config.h"
#include "objects/cursor.h"

namespace strata::discovery {

// Reads the `config` of an entry into `out.config`, by `out.source`. Errors go to the cursor's log
// (an unknown source at `entry`); unknown keys of Volcano's own sources to `unknown`, by path.
void ReadSourceConfig(const objects::Cursor& entry,
                      const objects::Cursor& config,
                      SourceConfig& out,
                      std::vector<std::string>& unknown);

}  // namespace strata::discovery
