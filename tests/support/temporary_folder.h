#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include <gtest/gtest.h>

namespace strata::testing {

// An empty folder of its own, which goes with it. Its path is short: sockets fit into it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = "/tmp/strata.XXXXXX";
    const char* const made = mkdtemp(name.data());
    EXPECT_NE(made, nullptr) << name;
    if (made != nullptr) path_ = made;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace strata::testing
