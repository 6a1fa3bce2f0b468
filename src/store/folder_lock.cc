#include "store/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/ascii.h"
#include "store/sync_folder.h"
#include "store/system_failure.h"

namespace strata::store {
namespace {

Status MakeFolder(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  const bool made = fs::create_directories(folder, error);
  if (error) return Fail(Code::kUnavailable, folder + ": " + error.message());
  // It will hold keys and Secrets. A folder that was there before is its owner's affair.
  if (made) fs::permissions(folder, fs::perms::owner_all, error);
  if (error) return Fail(Code::kUnavailable, folder + ": " + error.message());
  return {};
}

// The folder may be new, or made by a start that failed: what is in it is lost with it.
Status SyncFoldersAbove(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path at = fs::canonical(folder, error);
  if (error) return Fail(Code::kUnavailable, folder + ": " + error.message());
  struct stat below {};
  if (stat(at.c_str(), &below) != 0) return SystemFailure(folder);
  while (at.has_relative_path()) {
    at = at.parent_path();
    struct stat above {};
    const bool same_disk = stat(at.c_str(), &above) == 0 && above.st_dev == below.st_dev;
    if (!same_disk) return {};
    TRY(SyncFolder(at.string()));
  }
  return {};
}

Status RequireThatOnlyItsOwnerWrites(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) {
    return errno == ENOENT ? Status() : Status(SystemFailure(path));
  }
  const uid_t user = geteuid();
  if (user != 0 && found.st_uid != 0 && found.st_uid != user) {
    return Fail(Code::kInvalidArgument,
                path + ": belongs to user " + std::to_string(found.st_uid) + ", want user " +
                    std::to_string(user));
  }
  if ((found.st_mode & (S_IWGRP | S_IWOTH)) == 0) return {};
  return Fail(Code::kInvalidArgument,
              path +
                  ": other users may write to it; take that right away (chmod go-w), or name a "
                  "folder that does not exist yet");
}

// " (process 4711)", "" when the file does not say.
std::string HolderIn(int file) {
  std::array<char, 32> text{};
  const ssize_t size = pread(file, text.data(), text.size(), 0);
  if (size <= 0) return "";
  const std::string_view digits = Trim({text.data(), static_cast<std::size_t>(size)});
  if (!WholeNumber(digits, INT32_MAX)) return "";
  return " (process " + std::string(digits) + ")";
}

}  // namespace

Result<FolderLock> FolderLock::Take(const std::string& folder) {
  TRY(MakeFolder(folder));
  TRY(SyncFoldersAbove(folder));
  for (const char* const name : {"", "/lock", "/strata.db", "/strata.db-wal"}) {
    TRY(RequireThatOnlyItsOwnerWrites(folder + name));
  }
  const std::string path = folder + "/lock";
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kOwnerOnly);
  if (file < 0) return SystemFailure(path);
  FolderLock lock(file);
  if (flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return SystemFailure(path);
    return Fail(Code::kConflict, folder + ": in use by another process" + HolderIn(file));
  }
  // The number only helps people; the lock holds without it.
  const std::string id = std::to_string(getpid()) + "\n";
  if (ftruncate(file, 0) == 0) (void)!pwrite(file, id.data(), id.size(), 0);
  return lock;
}

FolderLock::FolderLock(FolderLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}

FolderLock::~FolderLock() {
  if (file_ >= 0) close(file_);
}

}  // namespace strata::store
