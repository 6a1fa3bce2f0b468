#include "live/cache_dump.h"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::live {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

std::string ContentOf(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Another user of the machine has put a link where a dump of this moment could go.
TEST(CacheDump, FollowsNoLinkAndIsReadableByItsOwnerOnly) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("cache-dump-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::filesystem::path victim = folder / "victim";
  std::ofstream(victim) << "precious";
  const Time now(std::chrono::milliseconds(42));
  const std::string moment = std::to_string(now.time_since_epoch().count());
  std::filesystem::create_symlink(victim, folder / ("strata-cache-" + moment + ".txt"));
  std::filesystem::create_symlink(victim, folder / ("snapshot-" + moment + ".json"));
  const ClusterState state;
  for (const DumpForm form : {DumpForm::kText, DumpForm::kJson}) {
    const Result<std::string> path = WriteCacheDump(state, form, folder, now);
    ASSERT_TRUE(path) << path.error().message;
    EXPECT_THAT(*path, HasSubstr("-" + moment + "-"));
    EXPECT_THAT(*path, EndsWith(form == DumpForm::kText ? ".txt" : ".json"));
    struct stat status {};
    ASSERT_EQ(stat(path->c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
  }
  EXPECT_EQ(ContentOf(victim), "precious");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace strata::live
