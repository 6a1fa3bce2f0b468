#include "device_plugin/cache_folder.h"

#include <filesystem>
#include <random>
#include <system_error>

#include <fmt/format.h>

namespace strata::device_plugin {

Status MakeCacheFolder(const std::string& folder, KeepContent keep) {
  std::error_code error;
  if (keep == KeepContent::kNo) std::filesystem::remove_all(folder, error);
  if (!error) std::filesystem::create_directories(folder, error);
  if (!error) std::filesystem::permissions(folder, std::filesystem::perms::all, error);
  if (error) return Fail(Code::kUnavailable, fmt::format("make {}: {}", folder, error.message()));
  return {};
}

std::string RandomHex() {
  std::random_device device;
  return fmt::format("{:08x}", device());
}

}  // namespace strata::device_plugin
