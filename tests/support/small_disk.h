#pragma once

#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>

#include "tests/support/temporary_folder.h"

namespace strata::testing {

// A small file system of its own, in memory, which only this process and its later children see.
// Its calls fail with ENOSPC as those of a real disk do.
//
// The process gets its own mounts, and as another user than root its own user namespace. That
// needs a process with one thread, and a system that permits it.
class SmallDisk {
 public:
  explicit SmallDisk(std::int64_t bytes) {
    if (!OwnMounts()) return;
    const std::string options = "mode=0700,size=" + std::to_string(bytes);
    is_there_ = mount("strata-test", path().c_str(), "tmpfs", 0, options.c_str()) == 0;
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (is_there_) umount2(path().c_str(), MNT_DETACH);
  }

  // False: the system does not permit it.
  [[nodiscard]] bool is_there() const { return is_there_; }
  [[nodiscard]] const std::string& path() const { return folder_.path(); }
  [[nodiscard]] std::int64_t FreeBytes() const {
    struct statvfs found {};
    EXPECT_EQ(statvfs(path().c_str(), &found), 0);
    return static_cast<std::int64_t>(found.f_bavail * found.f_frsize);
  }

 private:
  static bool OwnMounts() {
    static const bool own = [] {
      const uid_t user = geteuid();
      const gid_t group = getegid();
      if (unshare(user == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0) return false;
      if (user != 0) {
        std::ofstream("/proc/self/setgroups") << "deny";
        std::ofstream("/proc/self/uid_map") << "0 " << user << " 1";
        std::ofstream("/proc/self/gid_map") << "0 " << group << " 1";
      }
      return mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
    }();
    return own;
  }

  TemporaryFolder folder_;
  bool is_there_ = false;
};

}  // namespace strata::testing
