#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/random.h"
#include "tests/disk/disk_image.h"

namespace strata::testing {

// A disk that fails when it is told to: calls of this process on what is below a folder fail, or
// the power goes. Syncing takes no time.
//
// The program that links this has its functions in place of those of the C library (open, pwrite,
// fsync, ...), for SQLite, too. One thread, and one disk at a time.
class FaultDisk {
 public:
  enum class Lasts : std::uint8_t { kOneCall, kUntilHealed };

  explicit FaultDisk(std::string root);
  FaultDisk(const FaultDisk&) = delete;
  FaultDisk& operator=(const FaultDisk&) = delete;
  ~FaultDisk();

  // How many calls there were.
  [[nodiscard]] int calls() const { return calls_; }
  // The call with that number fails, from 1. With ENOSPC only calls that take space do, and a write
  // gets half of what it wants at first.
  void FailAt(int call, int error, Lasts lasts);
  // Just before the call with that number the power goes: it and all others do nothing.
  void CutPowerAt(int call);
  void Heal() { fail_at_ = 0; }
  // Afterwards the folder is what the power left of it. REQUIRES: no file in it is open.
  void RestorePower(Unsynced unsynced, Random& random);

  // Used by the functions that are replaced.

  enum class Call : std::uint8_t { kReads, kTakesSpace, kOther };
  struct Handle {
    std::string path;
    DiskImage::File file;  // null: a folder
    std::int64_t at = 0;   // where write() goes on
  };
  [[nodiscard]] static FaultDisk* Current();
  [[nodiscard]] DiskImage& image() { return image_; }
  // Null: the file is not on this disk.
  [[nodiscard]] Handle* Find(int file);
  void Opened(int file, Handle handle) { handles_[file] = std::move(handle); }
  void Closed(int file) { handles_.erase(file); }
  // Counts a call. What it fails with, or 0.
  [[nodiscard]] int Count(Call call);
  // Whether this write, which fails for space, still gets a half.
  [[nodiscard]] bool GetsHalf(int error);

 private:
  DiskImage image_;
  std::map<int, Handle> handles_;
  int calls_ = 0;
  int fail_at_ = 0;  // 0: nothing fails
  int error_ = 0;
  Lasts lasts_ = Lasts::kOneCall;
  bool half_given_ = false;
  int cut_at_ = 0;
};

}  // namespace strata::testing
