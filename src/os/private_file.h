#pragma once

#include <string>

#include "base/result.h"

namespace strata::os {

// Writes a file that only its owner may read, in folders that are created as needed. A reader finds
// the old file or the new one, never a part, also after a loss of power. kUnavailable, naming the
// path, when that fails.
[[nodiscard]] Status WritePrivateFile(const std::string& path, const std::string& text);

// A file that does not exist yet: `folder`/`prefix`-<32 random digits>`suffix`.
struct NewFileName {
  std::string folder;
  std::string prefix;
  std::string suffix;
};

// Writes a new file that only its owner may read, and returns its path. Nobody can guess the name,
// and neither a file nor a link that is there is opened: the folder may be one that others write,
// such as /tmp. kUnavailable, naming the path, when that fails.
[[nodiscard]] Result<std::string> WriteNewPrivateFile(const NewFileName& name,
                                                      const std::string& text);

}  // namespace strata::os
