#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "discovery/permissions.h"
#include "discovery/reader.h"

namespace strata::discovery {

// What one pass of one source may take, in all.
struct ReadLimits {
  std::chrono::milliseconds time = std::chrono::seconds(30);
  std::size_t bytes = std::size_t{100} << 20U;
};

// The real reader: files, programs in a process group of their own (ended with the time), HTTP and
// HTTPS by libcurl. What `permissions` do not allow is an error. The time starts when it is made.
// Not thread-safe.
[[nodiscard]] std::unique_ptr<Reader> MakeSystemReader(Permissions permissions,
                                                       ReadLimits limits = {});

}  // namespace strata::discovery
