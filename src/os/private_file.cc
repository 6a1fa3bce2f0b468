#include "os/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "os/write_all.h"

namespace strata::os {
namespace {

constexpr mode_t kOwnerOnly = 0600;

tl::unexpected<Error> SystemFailure(const std::string& path) {
  const std::error_code error(errno, std::generic_category());
  return Fail(Code::kUnavailable, path + ": " + error.message());
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
  Status status;
  if (!WriteAll(file, text) || fsync(file) != 0) status = SystemFailure(draft);
  close(file);
  if (status && std::rename(draft.c_str(), path.c_str()) != 0) status = SystemFailure(path);
  if (!status) unlink(draft.c_str());
  return status;
}

}  // namespace strata::os
