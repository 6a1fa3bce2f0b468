#pragma once

#include <sys/types.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "base/result.h"

namespace strata::store {

// The mode of files that hold keys and tokens.
inline constexpr mode_t kOwnerOnly = 0600;

// kUnavailable, with what the system says of the call that just failed: "/data: Permission denied".
[[nodiscard]] inline tl::unexpected<Error> SystemFailure(const std::string& path) {
  const std::error_code error(errno, std::generic_category());
  return Fail(Code::kUnavailable, path + ": " + error.message());
}

// Whether a call failed because the disk, a quota or the permitted size of files is exhausted.
[[nodiscard]] inline bool IsDiskFull(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

}  // namespace strata::store
