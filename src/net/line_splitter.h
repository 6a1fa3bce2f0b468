#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace strata::net {

// Cuts a stream into lines: a watch is one JSON document per line. What follows the last line end
// is kept for the next piece.
class LineSplitter {
 public:
  explicit LineSplitter(std::size_t longest = std::size_t{64} << 20U) : longest_(longest) {}

  // Calls `take(std::string line)` for each line that `piece` completes, without its line end,
  // until it says false. False then, and when a line is longer than any can be.
  template <typename Take>
  [[nodiscard]] bool Feed(std::string_view piece, const Take& take) {
    while (true) {
      const std::size_t end = piece.find('\n');
      if (end == std::string_view::npos) break;
      rest_ += piece.substr(0, end);
      piece.remove_prefix(end + 1);
      if (!rest_.empty() && rest_.back() == '\r') rest_.pop_back();
      if (!take(std::exchange(rest_, {}))) return false;
    }
    rest_ += piece;
    return rest_.size() <= longest_;
  }

  // What came after the last line end.
  [[nodiscard]] const std::string& rest() const { return rest_; }

 private:
  std::size_t longest_;
  std::string rest_;
};

}  // namespace strata::net
