#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>

#include <fmt/format.h>

#include "base/result.h"
#include "discovery/system_reader.h"

namespace strata::discovery {

// What is left of the limits of a pass.
class ReadBudget {
 public:
  using Clock = std::chrono::steady_clock;

  explicit ReadBudget(ReadLimits limits)
      : limits_(limits), deadline_(Clock::now() + limits.time), bytes_left_(limits.bytes) {}

  [[nodiscard]] std::chrono::milliseconds time_left() const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now());
    return std::max(left, std::chrono::milliseconds(0));
  }
  [[nodiscard]] std::size_t bytes_left() const { return bytes_left_; }

  // False when so much may not be taken in any more.
  [[nodiscard]] bool Take(std::size_t bytes) {
    if (bytes > bytes_left_) return false;
    bytes_left_ -= bytes;
    return true;
  }

  [[nodiscard]] tl::unexpected<Error> TooMuch(const std::string& what) const {
    return Fail(Code::kUnavailable,
                fmt::format("{}: more than {} MiB, given up", what, limits_.bytes >> 20U));
  }
  [[nodiscard]] tl::unexpected<Error> TooLong(const std::string& what) const {
    return Fail(Code::kUnavailable,
                fmt::format("{}: no complete answer within {} s",
                            what,
                            static_cast<double>(limits_.time.count()) / 1000));
  }

 private:
  ReadLimits limits_;
  Clock::time_point deadline_;
  std::size_t bytes_left_;
};

}  // namespace strata::discovery
