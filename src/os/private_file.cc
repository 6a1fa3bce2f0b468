#include "os/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace strata::os {
namespace {

constexpr mode_t kOwnerOnly = 0600;

tl::unexpected<Error> SystemFailure(const std::string& path) {
  const std::error_code error(errno, std::generic_category());
  return Fail(Code::kUnavailable, path + ": " + error.message());
}

Status WriteAll(int file, const std::string& path, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0) return SystemFailure(path);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (fsync(file) != 0) return SystemFailure(path);
  return {};
}

}  // namespace

Status WritePrivateFile(const std::string& path, const std::string& text) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) return Fail(Code::kUnavailable, folder.string() + ": " + error.message());
  const std::string draft = path + ".new";
  unlink(draft.c_str());
  const int file = open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kOwnerOnly);
  if (file < 0) return SystemFailure(draft);
  Status status = WriteAll(file, draft, text);
  close(file);
  if (status && std::rename(draft.c_str(), path.c_str()) != 0) status = SystemFailure(path);
  if (!status) unlink(draft.c_str());
  return status;
}

}  // namespace strata::os
