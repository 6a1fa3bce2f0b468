#pragma once

#include <string>
#include <vector>

namespace strata::agent {

// The text of a small file without the line end; "" when it cannot be read.
[[nodiscard]] std::string ReadSysfs(const std::string& path);
// The names in a folder, ascending; none when it cannot be read.
[[nodiscard]] std::vector<std::string> ListSysfs(const std::string& path);

}  // namespace strata::agent
