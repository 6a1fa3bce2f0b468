#include "os/append_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "os/write_all.h"

namespace strata::os {
namespace {

constexpr mode_t kOwnerMayReadAndWrite = 0600;

tl::unexpected<Error> FailureOf(const std::string& path) {
  return Fail(Code::kUnavailable, path + ": " + std::generic_category().message(errno));
}

}  // namespace

AppendFile::AppendFile(std::string path) : path_(std::move(path)) {}

AppendFile::AppendFile(AppendFile&& other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}

AppendFile::~AppendFile() {
  if (file_ >= 0) close(file_);
}

Result<AppendFile> AppendFile::Open(std::string path) {
  AppendFile opened(std::move(path));
  TRY(opened.Reopen());
  return opened;
}

Status AppendFile::Reopen() {
  const int flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
  const int file = open(path_.c_str(), flags, kOwnerMayReadAndWrite);
  if (file < 0) return FailureOf(path_);
  if (file_ >= 0) close(file_);
  file_ = file;
  return {};
}

bool AppendFile::HasMoved() const {
  struct stat named {};
  struct stat opened {};
  if (lstat(path_.c_str(), &named) != 0 || fstat(file_, &opened) != 0) return true;
  return named.st_ino != opened.st_ino || named.st_dev != opened.st_dev;
}

Status AppendFile::AppendLine(std::string_view text) {
  if (HasMoved()) TRY(Reopen());
  std::string line(text);
  line += '\n';
  if (!WriteAll(file_, line)) return FailureOf(path_);
  return {};
}

}  // namespace strata::os
