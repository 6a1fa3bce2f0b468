#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace strata::device_plugin {

// The folder that HAMi-core in a container shares with the host: made with its parents, mode 0777,
// and emptied unless its content is to be kept (the container may run).
enum class KeepContent : std::uint8_t { kNo, kYes };
[[nodiscard]] Status MakeCacheFolder(const std::string& folder, KeepContent keep);

// Eight hexadecimal digits by chance.
[[nodiscard]] std::string RandomHex();

}  // namespace strata::device_plugin
