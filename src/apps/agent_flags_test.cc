#include "apps/agent_flags.h"

#include <vector>

#include <gtest/gtest.h>

namespace strata {
namespace {

struct Parsed {
  ProbeFlags flags;
  std::string problem;
};

Parsed Parse(const std::vector<std::string_view>& arguments) {
  Parsed parsed;
  parsed.problem = ParseProbeFlags(arguments, parsed.flags);
  return parsed;
}

TEST(ProbeFlags, DefaultToATableOfThisMachine) {
  const Parsed parsed = Parse({});
  EXPECT_EQ(parsed.problem, "");
  EXPECT_EQ(parsed.flags.output, "table");
  EXPECT_EQ(parsed.flags.nvml, "");
  EXPECT_EQ(parsed.flags.sysfs, "/sys");
}

TEST(ProbeFlags, AreReadInAnyOrder) {
  const Parsed parsed = Parse({"--sysfs", "/tmp/sys", "-o", "json", "--nvml", "fake.so"});
  EXPECT_EQ(parsed.problem, "");
  EXPECT_EQ(parsed.flags.output, "json");
  EXPECT_EQ(parsed.flags.nvml, "fake.so");
  EXPECT_EQ(parsed.flags.sysfs, "/tmp/sys");
  EXPECT_EQ(Parse({"--output", "json"}).flags.output, "json");
}

TEST(ProbeFlags, TheLastOfTwoValuesCounts) {
  EXPECT_EQ(Parse({"-o", "xml", "-o", "json"}).problem, "");
  EXPECT_EQ(Parse({"-o", "json", "--output", "table"}).flags.output, "table");
}

TEST(ProbeFlags, NameTheUnknownFlag) {
  EXPECT_EQ(Parse({"--fast", "yes"}).problem, "unknown flag \"--fast\"");
  EXPECT_EQ(Parse({"-o", "json", "all"}).problem, "unknown flag \"all\"");
  EXPECT_EQ(Parse({"--output=json"}).problem, "unknown flag \"--output=json\"");
}

TEST(ProbeFlags, RequireAValue) {
  EXPECT_EQ(Parse({"--nvml"}).problem, "flag --nvml requires a value");
  EXPECT_EQ(Parse({"--sysfs", "/sys", "-o"}).problem, "flag -o requires a value");
}

TEST(ProbeFlags, RejectAnUnknownFormat) {
  EXPECT_EQ(Parse({"-o", "xml"}).problem, "unknown format \"xml\" (want json or table)");
}

}  // namespace
}  // namespace strata
