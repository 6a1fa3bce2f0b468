#pragma once

#include <string>

#include "base/result.h"

namespace strata::store {

// Names of files and folders in `folder` are on the disk once this has returned. Nothing where this
// process may not read the folder, or the file system has no such call.
[[nodiscard]] Status SyncFolder(const std::string& folder);

}  // namespace strata::store
