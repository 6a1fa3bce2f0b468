#include "apps/component_flags.h"

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr std::array<const char*, 1> kIgnored = {"--plugins-dir"};

struct Line {
  explicit Line(const std::string& text) {
    AddComponentFlags(app, flags, kIgnored);
    try {
      app.parse(text);
    } catch (const CLI::ParseError& error) {
      problem = error.what();
    }
  }

  CLI::App app;
  ComponentFlags flags;
  std::string problem;
};

TEST(ComponentFlags, VerbosityIsReadAsKlogReadsIt) {
  EXPECT_EQ(Line("-v 3").flags.verbosity, 3);
  EXPECT_EQ(Line("-v=4").flags.verbosity, 4);
  EXPECT_EQ(Line("--v=5").flags.verbosity, 5);
  EXPECT_THAT(Line("-v much").problem,
              HasSubstr("invalid verbosity \"much\": want an integer from 0 to 1000"));
}

TEST(ComponentFlags, IgnoredFlagsAreRemembered) {
  const Line line("--plugins-dir x --logtostderr --kube-api-qps 7");
  EXPECT_EQ(line.problem, "");
  EXPECT_THAT(line.flags.ignored_flags, UnorderedElementsAre("--plugins-dir", "--logtostderr"));
  EXPECT_EQ(line.flags.write_rate, 7);
}

TEST(ComponentFlags, IgnoredFlagsAreLastInTheHelp) {
  Line line("");
  line.app.add_option("--own", "A flag of the command that is added later");
  const std::string help = line.app.help();
  EXPECT_LT(help.find("--own"), help.find("\nAccepted and ignored:"));
  EXPECT_LT(help.find("\nAccepted and ignored:"), help.find("--logtostderr"));
  EXPECT_LT(help.find("--logtostderr"), help.find("--plugins-dir"));
}

TEST(ComponentFlags, RememberWhichAddressesWereGiven) {
  const Line line("--enable-metrics --listen-address :9090");
  EXPECT_TRUE(line.flags.metrics);
  EXPECT_TRUE(line.flags.metrics_address_given);
  EXPECT_FALSE(line.flags.healthz_address_given);
}

TEST(LeaseOf, TakesTheFlags) {
  const Line line("--leader-elect-resource-name x --leader-elect-lease-duration 20s");
  const auto lease = LeaseOf(line.flags);
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->ns, "volcano-system");
  EXPECT_EQ(lease->name, "x");
  EXPECT_EQ(lease->duration, std::chrono::seconds(20));
  EXPECT_EQ(lease->renew, std::chrono::seconds(10));
  EXPECT_EQ(lease->retry, std::chrono::seconds(2));
}

TEST(LeaseOf, IsEmptyWithoutLeaderElection) {
  EXPECT_FALSE(LeaseOf(Line("--leader-elect=false").flags));
}

TEST(CheckLease, TimesAreThoseThatClientGoAccepts) {
  const auto problem = [](const std::string& duration, const char* renew, const char* retry) {
    return Line("--leader-elect-lease-duration=" + duration +
                " --leader-elect-renew-deadline=" + renew + " --leader-elect-retry-period=" + retry)
        .problem;
  };
  EXPECT_EQ(problem("15s", "10s", "2s"), "");
  EXPECT_EQ(problem("10001ms", "10s", "8333ms"), "");
  EXPECT_EQ(problem("10s", "10s", "2s"),
            "--leader-elect-lease-duration: want more than --leader-elect-renew-deadline (10s), "
            "found 10s");
  EXPECT_EQ(problem("15s", "12s", "10s"),
            "--leader-elect-renew-deadline: want more than 1.2 times --leader-elect-retry-period "
            "(10s), found 12s");
  EXPECT_EQ(problem("-15s", "10s", "2s"),
            "--leader-elect-lease-duration: want 1ms or more, found -15s");
  EXPECT_EQ(problem("15s", "0", "2s"), "--leader-elect-renew-deadline: want 1ms or more, found 0");
  EXPECT_EQ(problem("15s", "10s", "10us"),
            "--leader-elect-retry-period: want 1ms or more, found 10us");
  EXPECT_EQ(problem("2562047h", "2562046h", "2000000h"), "") << "the longest do not overflow";
}

TEST(CheckLease, DefaultsCountForFlagsThatAreNotGiven) {
  EXPECT_THAT(Line("--leader-elect-lease-duration 5s").problem,
              HasSubstr("want more than --leader-elect-renew-deadline (10s), found 5s"));
}

TEST(CheckLease, IsNotAskedWithoutLeaderElection) {
  EXPECT_EQ(Line("--leader-elect=false --leader-elect-lease-duration 5s").problem, "");
}

TEST(CheckLease, TheOnlyLockIsALease) {
  EXPECT_EQ(Line("--leader-elect-resource-lock leases").problem, "");
  EXPECT_THAT(Line("--leader-elect-resource-lock endpoints").problem,
              HasSubstr("--leader-elect-resource-lock: want leases, found \"endpoints\""));
}

TEST(ComponentFlags, DurationsAreChecked) {
  EXPECT_NE(Line("--leader-elect-retry-period soon").problem, "");
}

}  // namespace
}  // namespace strata
