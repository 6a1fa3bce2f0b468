#include "os/private_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::os {
namespace {

using testing::HasSubstr;

std::filesystem::path NewFolder(const std::string& name) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / (name + std::to_string(getpid()));
  std::filesystem::remove_all(folder);
  return folder;
}

std::string TextOf(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(WritePrivateFile, CreatesFoldersAndIsReadableByItsOwnerOnly) {
  const std::filesystem::path folder = NewFolder("private_file");
  const std::string path = folder / "deep" / "file";
  ASSERT_TRUE(WritePrivateFile(path, "one"));
  EXPECT_EQ(TextOf(path), "one");
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  ASSERT_TRUE(WritePrivateFile(path, "two"));
  EXPECT_EQ(TextOf(path), "two");
  EXPECT_FALSE(std::filesystem::exists(path + ".new"));
  std::filesystem::remove_all(folder);
}

TEST(WritePrivateFile, NamesTheFolderThatItCannotCreate) {
  const Status status = WritePrivateFile("/dev/null/x/file", "text");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::kUnavailable);
  EXPECT_THAT(status.error().message, HasSubstr("/dev/null/x"));
}

TEST(WriteNewPrivateFile, IsReadableByItsOwnerOnlyAndHasANameOfItsOwn) {
  const std::filesystem::path folder = NewFolder("new_private_file");
  std::filesystem::create_directories(folder);
  const auto first = WriteNewPrivateFile({folder, "dump", ".txt"}, "one");
  const auto second = WriteNewPrivateFile({folder, "dump", ".txt"}, "two");
  ASSERT_TRUE(first) << first.error().message;
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_NE(*first, *second);
  EXPECT_EQ(TextOf(*first), "one");
  struct stat status {};
  ASSERT_EQ(stat(first->c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST(WriteNewPrivateFile, NamesTheFileThatItCannotCreate) {
  const auto path = WriteNewPrivateFile({"/nonexistent", "dump", ".txt"}, "one");
  ASSERT_FALSE(path);
  EXPECT_THAT(path.error().message, HasSubstr("/nonexistent/dump-"));
}

}  // namespace
}  // namespace strata::os
