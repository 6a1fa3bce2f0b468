#include "tests/disk/fault_disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace strata::testing {
namespace {

FaultDisk*& CurrentDisk() {
  static FaultDisk* disk = nullptr;
  return disk;
}

}  // namespace

FaultDisk::FaultDisk(std::string root) : image_(std::move(root)) {
  CurrentDisk() = this;
}

FaultDisk::~FaultDisk() {
  CurrentDisk() = nullptr;
}

FaultDisk* FaultDisk::Current() {
  return CurrentDisk();
}

void FaultDisk::FailAt(int call, int error, Lasts lasts) {
  fail_at_ = call;
  error_ = error;
  lasts_ = lasts;
  half_given_ = false;
}

void FaultDisk::CutPowerAt(int call) {
  cut_at_ = call;
}

void FaultDisk::RestorePower(Unsynced unsynced, Random& random) {
  cut_at_ = 0;
  handles_.clear();
  image_.LosePower(unsynced, random);
}

FaultDisk::Handle* FaultDisk::Find(int file) {
  const auto found = handles_.find(file);
  return found == handles_.end() ? nullptr : &found->second;
}

int FaultDisk::Count(Call call) {
  ++calls_;
  if (cut_at_ != 0 && calls_ >= cut_at_) return EIO;
  if (fail_at_ == 0 || calls_ < fail_at_) return 0;
  if (error_ == ENOSPC && call != Call::kTakesSpace) return 0;
  if (lasts_ == Lasts::kOneCall && calls_ > fail_at_ && !half_given_) return 0;
  half_given_ = false;
  return error_;
}

bool FaultDisk::GetsHalf(int error) {
  if (error != ENOSPC || calls_ != fail_at_) return false;
  half_given_ = true;  // the rest of this write fails
  return true;
}

namespace {

using Handle = FaultDisk::Handle;
using Call = FaultDisk::Call;

// The handle of a file on the disk, when there is a disk.
Handle* HandleOf(int file) {
  FaultDisk* const disk = FaultDisk::Current();
  return disk == nullptr ? nullptr : disk->Find(file);
}

// Counts a call on the disk; false, with errno, when it fails.
bool Works(Call call) {
  const int error = FaultDisk::Current()->Count(call);
  errno = error == 0 ? errno : error;
  return error == 0;
}

bool IsOnDisk(const char* path) {
  FaultDisk* const disk = FaultDisk::Current();
  return disk != nullptr && disk->image().Has(path);
}

int OpenFile(const char* path, int flags, mode_t mode) {
  const auto really = [&] {
    return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
  };
  FaultDisk* const disk = FaultDisk::Current();
  if (disk == nullptr || !disk->image().Covers(path)) return really();
  struct stat found {};
  const bool is_folder = stat(path, &found) == 0 && S_ISDIR(found.st_mode);
  const bool makes = !is_folder && (flags & O_CREAT) != 0 && disk->image().Find(path) == nullptr;
  if (!Works(makes ? Call::kTakesSpace : Call::kReads)) return -1;
  const int file = really();
  if (file < 0) return file;
  DiskImage::File image;
  if (!is_folder) image = makes ? disk->image().MakeFile(path) : disk->image().Find(path);
  if (image != nullptr && (flags & O_TRUNC) != 0) image->Resize(0);
  disk->Opened(file, {.path = path, .file = std::move(image)});
  return file;
}

ssize_t WriteAt(int file, const void* data, std::size_t size, std::int64_t offset) {
  const auto really = [&](std::size_t bytes) {
    return static_cast<ssize_t>(syscall(SYS_pwrite64, file, data, bytes, offset));
  };
  Handle* const handle = HandleOf(file);
  if (handle == nullptr) return really(size);
  if (!Works(Call::kTakesSpace)) {
    if (size < 2 || !FaultDisk::Current()->GetsHalf(errno)) return -1;
    size /= 2;
  }
  const ssize_t written = really(size);
  if (written > 0) {
    handle->file->Write(offset,
                        {static_cast<const char*>(data), static_cast<std::size_t>(written)});
  }
  return written;
}

ssize_t WriteOn(int file, const void* data, std::size_t size) {
  Handle* const handle = HandleOf(file);
  if (handle == nullptr) return syscall(SYS_write, file, data, size);
  const ssize_t written = WriteAt(file, data, size, handle->at);
  if (written > 0) handle->at += written;
  return written;
}

ssize_t ReadAt(int file, void* data, std::size_t size, std::int64_t offset) {
  if (HandleOf(file) != nullptr && !Works(Call::kReads)) return -1;
  return syscall(SYS_pread64, file, data, size, offset);
}

int Resize(int file, std::int64_t size) {
  Handle* const handle = HandleOf(file);
  if (handle != nullptr && !Works(Call::kOther)) return -1;
  const int code = static_cast<int>(syscall(SYS_ftruncate, file, size));
  if (handle != nullptr && code == 0) handle->file->Resize(size);
  return code;
}

// Gives the number of the error, as the C library does.
int Allocate(int file, std::int64_t offset, std::int64_t size) {
  Handle* const handle = HandleOf(file);
  if (handle != nullptr && !Works(Call::kTakesSpace)) return errno;
  struct stat before {};
  if (fstat(file, &before) != 0 || syscall(SYS_fallocate, file, 0, offset, size) != 0) return errno;
  if (handle != nullptr && before.st_size < offset + size) handle->file->Resize(offset + size);
  return 0;
}

int Sync(int file) {
  Handle* const handle = HandleOf(file);
  if (handle == nullptr) return 0;  // the real disk keeps nothing that matters
  if (!Works(Call::kTakesSpace)) {
    if (handle->file != nullptr) handle->file->FailSync();
    return -1;
  }
  if (handle->file == nullptr) {
    FaultDisk::Current()->image().SyncFolder(handle->path);
  } else {
    handle->file->Sync();
  }
  return 0;
}

int Close(int file) {
  if (FaultDisk* const disk = FaultDisk::Current(); disk != nullptr) disk->Closed(file);
  return static_cast<int>(syscall(SYS_close, file));
}

int Unlink(const char* path) {
  const bool on_disk = IsOnDisk(path);
  if (on_disk && !Works(Call::kOther)) return -1;
  const int code = static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, path, 0));
  if (on_disk && code == 0) FaultDisk::Current()->image().Remove(path);
  return code;
}

int MakeFolder(const char* path, mode_t mode) {
  const bool on_disk = IsOnDisk(path);
  if (on_disk && !Works(Call::kTakesSpace)) return -1;
  const int code = static_cast<int>(syscall(SYS_mkdirat, AT_FDCWD, path, mode));
  if (on_disk && code == 0) FaultDisk::Current()->image().MakeFolder(path);
  return code;
}

}  // namespace
}  // namespace strata::testing

// The names of the C library, under which libraries and this program find these.
namespace t = strata::testing;

extern "C" {
int StrataOpen(const char* path, int flags, mode_t mode) __asm__("open");
int StrataOpen64(const char* path, int flags, mode_t mode) __asm__("open64");
ssize_t StrataPwrite(int file,
                     const void* data,
                     std::size_t size,
                     std::int64_t at) __asm__("pwrite");
ssize_t StrataPwrite64(int file,
                       const void* data,
                       std::size_t size,
                       std::int64_t at) __asm__("pwrite64");
ssize_t StrataWrite(int file, const void* data, std::size_t size) __asm__("write");
ssize_t StrataPread(int file, void* data, std::size_t size, std::int64_t at) __asm__("pread");
ssize_t StrataPread64(int file, void* data, std::size_t size, std::int64_t at) __asm__("pread64");
int StrataTruncate(int file, std::int64_t size) __asm__("ftruncate");
int StrataTruncate64(int file, std::int64_t size) __asm__("ftruncate64");
int StrataAllocate(int file, std::int64_t at, std::int64_t size) __asm__("posix_fallocate");
int StrataAllocate64(int file, std::int64_t at, std::int64_t size) __asm__("posix_fallocate64");
int StrataSync(int file) __asm__("fsync");
int StrataSyncData(int file) __asm__("fdatasync");
int StrataClose(int file) __asm__("close");
int StrataUnlink(const char* path) __asm__("unlink");
int StrataMakeFolder(const char* path, mode_t mode) __asm__("mkdir");

int StrataOpen(const char* path, int flags, mode_t mode) {
  return t::OpenFile(path, flags, mode);
}
int StrataOpen64(const char* path, int flags, mode_t mode) {
  return t::OpenFile(path, flags, mode);
}
ssize_t StrataPwrite(int file, const void* data, std::size_t size, std::int64_t at) {
  return t::WriteAt(file, data, size, at);
}
ssize_t StrataPwrite64(int file, const void* data, std::size_t size, std::int64_t at) {
  return t::WriteAt(file, data, size, at);
}
ssize_t StrataWrite(int file, const void* data, std::size_t size) {
  return t::WriteOn(file, data, size);
}
ssize_t StrataPread(int file, void* data, std::size_t size, std::int64_t at) {
  return t::ReadAt(file, data, size, at);
}
ssize_t StrataPread64(int file, void* data, std::size_t size, std::int64_t at) {
  return t::ReadAt(file, data, size, at);
}
int StrataTruncate(int file, std::int64_t size) {
  return t::Resize(file, size);
}
int StrataTruncate64(int file, std::int64_t size) {
  return t::Resize(file, size);
}
int StrataAllocate(int file, std::int64_t at, std::int64_t size) {
  return t::Allocate(file, at, size);
}
int StrataAllocate64(int file, std::int64_t at, std::int64_t size) {
  return t::Allocate(file, at, size);
}
int StrataSync(int file) {
  return t::Sync(file);
}
int StrataSyncData(int file) {
  return t::Sync(file);
}
int StrataClose(int file) {
  return t::Close(file);
}
int StrataUnlink(const char* path) {
  return t::Unlink(path);
}
int StrataMakeFolder(const char* path, mode_t mode) {
  return t::MakeFolder(path, mode);
}
}
