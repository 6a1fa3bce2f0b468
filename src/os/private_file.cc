#include "os/private_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

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

Result<std::string> WriteNewPrivateFile(const NewFileName& name, const std::string& text) {
  std::array<std::uint64_t, 2> random{};
  if (getrandom(random.data(), sizeof(random), 0) != sizeof(random)) return SystemFailure("random");
  const std::string path = fmt::format(
      "{}/{}-{:016x}{:016x}{}", name.folder, name.prefix, random[0], random[1], name.suffix);
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const int file = open(path.c_str(), flags, kOwnerOnly);
  if (file < 0) return SystemFailure(path);
  const bool written = WriteAll(file, text);
  const tl::unexpected<Error> failure = SystemFailure(path);
  close(file);
  if (written) return path;
  unlink(path.c_str());
  return failure;
}

}  // namespace strata::os
