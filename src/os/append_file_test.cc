#include "os/append_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::os {
namespace {

using testing::HasSubstr;

class AppendFileTest : public testing::Test {
 protected:
  AppendFileTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~AppendFileTest() override { std::filesystem::remove_all(folder_); }

  static std::string ReadAll(const std::filesystem::path& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("append_file" + std::to_string(getpid()));
  const std::filesystem::path path_ = folder_ / "log";
};

TEST_F(AppendFileTest, KeepsWhatIsThereAndIsReadableByItsOwnerOnly) {
  for (const char* line : {"one", "two"}) {
    auto file = AppendFile::Open(path_);
    ASSERT_TRUE(file) << file.error().message;
    ASSERT_TRUE(file->AppendLine(line));
  }
  EXPECT_EQ(ReadAll(path_), "one\ntwo\n");
  struct stat status {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(AppendFileTest, BeginsANewFileWhenItWasMovedAway) {
  auto file = AppendFile::Open(path_);
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_TRUE(file->AppendLine("one"));
  std::filesystem::rename(path_, folder_ / "log.1");
  ASSERT_TRUE(file->AppendLine("two"));
  EXPECT_EQ(ReadAll(folder_ / "log.1"), "one\n");
  EXPECT_EQ(ReadAll(path_), "two\n");
}

TEST_F(AppendFileTest, FollowsNoLink) {
  std::filesystem::create_symlink(folder_ / "elsewhere", path_);
  const auto file = AppendFile::Open(path_);
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message, HasSubstr(path_.string()));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "elsewhere"));
}

}  // namespace
}  // namespace strata::os
