#pragma once

#include <string>

#include "base/result.h"

namespace strata::store {

// A folder that only one process uses at a time. The system takes the lock away when the process
// ends, however it ends.
class FolderLock {
 public:
  // Makes the folder (mode 0700, with its parents) when it is not there, and locks it. kConflict,
  // with the holder's process id, when somebody else has it. kInvalidArgument when another user may
  // write to it or to the database in it: that user could change every object and the CA.
  [[nodiscard]] static Result<FolderLock> Take(const std::string& folder);

  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  explicit FolderLock(int file) : file_(file) {}
  int file_ = -1;
};

}  // namespace strata::store
