#include "agent/health_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::agent {
namespace {

using ::testing::IsEmpty;

const DriverLife kLife = {.boot = "b1", .driver = "42"};
const GpuHealth::Errors kErrors = {
    {"GPU-0", {.xid = 79, .at = net::SteadyTime(std::chrono::seconds(5))}},
    {"GPU-3", {.xid = 94, .at = net::SteadyTime(std::chrono::seconds(7))}}};

TEST(HealthFile, IsReadBackInTheSameLifeOfTheDriver) {
  EXPECT_EQ(ReadHealthText(HealthText(kLife, kErrors), kLife), kErrors);
}

TEST(HealthFile, IsForgottenAfterARebootAndWhenTheDriverIsLoadedAgain) {
  const std::string text = HealthText(kLife, kErrors);
  EXPECT_THAT(ReadHealthText(text, {.boot = "b2", .driver = "42"}), IsEmpty());
  EXPECT_THAT(ReadHealthText(text, {.boot = "b1", .driver = "43"}), IsEmpty());
}

TEST(HealthFile, IsNothingWhenItCannotBeRead) {
  for (const char* text : {"",
                           "{",
                           "[]",
                           "null",
                           R"({"boot":"b1","driver":"42"})",
                           R"({"boot":"b1","driver":"42","gpus":[1]})",
                           R"({"boot":"b1","driver":"42","gpus":{"a":{"xid":"79"}}})"}) {
    EXPECT_THAT(ReadHealthText(text, kLife), IsEmpty()) << text;
  }
  EXPECT_THAT(ReadHealthText(HealthText({}, kErrors), {}), IsEmpty()) << "no boot is known";
}

TEST(DriverLife, DiffersWhenTheModuleIsLoadedAgain) {
  namespace fs = std::filesystem;
  const fs::path root = fs::path(::testing::TempDir()) / ("life" + std::to_string(getpid()));
  fs::create_directories(root / "proc/sys/kernel/random");
  fs::create_directories(root / "sys/module");
  std::ofstream(root / "proc/sys/kernel/random/boot_id") << "0b0f-1\n";
  const auto read = [&] { return ReadDriverLife(root / "proc", root / "sys"); };
  EXPECT_EQ(read(), (DriverLife{.boot = "0b0f-1", .driver = ""}));
  fs::create_directories(root / "sys/module/nvidia");
  const DriverLife first = read();
  EXPECT_NE(first.driver, "");
  EXPECT_EQ(read(), first);
  fs::create_directories(root / "sys/module/other");  // has a number of its own
  fs::rename(root / "sys/module/nvidia", root / "sys/module/old");
  fs::rename(root / "sys/module/other", root / "sys/module/nvidia");
  EXPECT_NE(read(), first);
  fs::remove_all(root);
}

}  // namespace
}  // namespace strata::agent
