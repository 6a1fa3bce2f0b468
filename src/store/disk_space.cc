#include "store/disk_space.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "store/journal.h"
#include "store/system_failure.h"

namespace strata::store {
namespace {

constexpr std::int64_t kStep = 256 << 10;

// 0 or the number of an error. Where the file system cannot do it, the C library writes zeros.
int Allocate(int file, std::int64_t from, std::int64_t to) {
  int error = EINTR;
  while (error == EINTR) error = posix_fallocate(file, from, to - from);
  return error;
}

// What others than root may use. A file system that does not say has enough.
std::int64_t FreeBytes(int file) {
  constexpr std::int64_t kUnknown = std::int64_t{1} << 60;
  struct statvfs found {};
  if (fstatvfs(file, &found) != 0 || found.f_blocks == 0) return kUnknown;
  return static_cast<std::int64_t>(found.f_bavail * found.f_frsize);
}

}  // namespace

OpenFile::OpenFile(OpenFile&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

OpenFile& OpenFile::operator=(OpenFile&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}

OpenFile::~OpenFile() {
  if (file_ >= 0) close(file_);
}

Result<FileSpace> FileSpace::Of(const std::string& path) {
  FileSpace space;
  space.path_ = path;
  space.file_ = OpenFile(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (space.file_.file() < 0) return SystemFailure(path);
  return space;
}

Status FileSpace::Take(std::int64_t bytes, std::int64_t left) {
  struct stat found {};
  if (fstat(file_.file(), &found) != 0) return SystemFailure(path_);
  if (found.st_size >= bytes) return {};
  const std::int64_t max = found.st_size + FreeBytes(file_.file()) - left;
  const std::int64_t rounded = (bytes + kStep - 1) / kStep * kStep;
  if (rounded <= max && Allocate(file_.file(), found.st_size, rounded) == 0) return {};
  const int error = bytes <= max ? Allocate(file_.file(), found.st_size, bytes) : ENOSPC;
  if (error == 0) return {};
  if (IsDiskFull(error)) return tl::unexpected(DiskFull(path_));
  errno = error;
  return SystemFailure(path_);
}

bool Reserve::Fill() {
  if (full_) return true;
  if (file_.file() < 0) {
    const int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
    file_ = OpenFile(open(path_.c_str(), flags, kOwnerOnly));
    if (file_.file() < 0) return false;
  }
  full_ = Allocate(file_.file(), 0, kBytes) == 0;
  if (!full_) Release();  // of a part
  return full_;
}

void Reserve::Release() {
  full_ = false;
  if (file_.file() >= 0) (void)!ftruncate(file_.file(), 0);
}

}  // namespace strata::store
