#include "sched/config.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Arguments With(ArgumentValue value) {
  Arguments arguments;
  arguments.Set("key", std::move(value));
  return arguments;
}

template <typename T>
std::string MessageOf(const Result<T>& result) {
  return result ? "no error" : result.error().message;
}

TEST(Arguments, AnAbsentKeyGivesTheDefault) {
  const Arguments none;
  EXPECT_EQ(none.Int("key", 7).value(), 7);
  EXPECT_EQ(none.Float("key", 0.8).value(), 0.8);
  EXPECT_EQ(none.Bool("key", true).value(), true);
  EXPECT_EQ(none.String("key", "x").value(), "x");
  EXPECT_FALSE(none.Has("key"));
}

TEST(Arguments, ReturnsValuesOfTheRightTypeUnchanged) {
  EXPECT_EQ(With(std::int64_t{-3}).Int("key", 0).value(), -3);
  EXPECT_EQ(With(0.25).Float("key", 0).value(), 0.25);
  EXPECT_EQ(With(std::int64_t{2}).Float("key", 0).value(), 2.0);
  EXPECT_EQ(With(false).Bool("key", true).value(), false);
  EXPECT_EQ(With("a, b").String("key", "").value(), "a, b");
}

TEST(Arguments, ParsesQuotedNumbersAndBools) {
  EXPECT_EQ(With("10").Int("key", 0).value(), 10);
  EXPECT_EQ(With("+10").Int("key", 0).value(), 10);
  EXPECT_EQ(With("0.5").Float("key", 0).value(), 0.5);
  EXPECT_EQ(With("True").Bool("key", false).value(), true);
  EXPECT_EQ(With("0").Bool("key", true).value(), false);
}

TEST(Arguments, ErrorForAWrongTypeNamesKeyTypeAndValue) {
  EXPECT_EQ(MessageOf(With("ten").Int("key", 0)), "key: want an integer, found \"ten\"");
  EXPECT_EQ(MessageOf(With(1.5).Int("key", 0)), "key: want an integer, found 1.5");
  EXPECT_EQ(MessageOf(With("").Int("key", 0)), "key: want an integer, found \"\"");
  EXPECT_EQ(MessageOf(With("1 ").Int("key", 0)), "key: want an integer, found \"1 \"");
  EXPECT_EQ(MessageOf(With(true).Float("key", 0)), "key: want a number, found true");
  EXPECT_EQ(MessageOf(With(std::int64_t{1}).Bool("key", true)), "key: want true or false, found 1");
  EXPECT_EQ(MessageOf(With(std::int64_t{1}).String("key", "")), "key: want a string, found 1");
  EXPECT_EQ(MessageOf(With(std::monostate{}).Int("key", 0)),
            "key: want an integer, found no scalar");
}

TEST(Arguments, RejectsNanAndInfinity) {
  EXPECT_FALSE(With(std::numeric_limits<double>::quiet_NaN()).Float("key", 0).has_value());
  EXPECT_FALSE(With(std::numeric_limits<double>::infinity()).Float("key", 0).has_value());
  EXPECT_FALSE(With("nan").Float("key", 0).has_value());
  EXPECT_FALSE(With("99999999999999999999").Int("key", 0).has_value());
}

TEST(Arguments, UnknownKeysAreThoseOutsideTheListAndItsPrefixes) {
  Arguments arguments;
  for (const char* key : {"weight", "wieght", "resources", "resources.gpu", "resource.gpu"}) {
    arguments.Set(key, std::int64_t{1});
  }
  EXPECT_THAT(arguments.Unknown({"weight", "resources", "resources."}),
              ElementsAre("resource.gpu", "wieght"));
}

TEST(PluginConfig, SwitchesAreOnUnlessWrittenOtherwiseOrOffInVolcano) {
  PluginConfig plugin{.name = "gang", .switches = {{"enableJobOrder", false}}, .arguments = {}};
  for (const std::string_view name : KnownSwitches()) {
    const bool off =
        name == "enableJobOrder" || name == "enableHierarchy" || name == "enabledClusterOrder";
    EXPECT_EQ(plugin.Enabled(name), !off) << name;
  }
  plugin.switches["enableHierarchy"] = true;
  EXPECT_TRUE(plugin.Enabled("enableHierarchy"));
}

TEST(DefaultSchedulerConfig, IsTheConfigurationThatTheDocumentationNames) {
  const SchedulerConfig config = DefaultSchedulerConfig();
  std::vector<std::string> actions;
  for (const ActionConfig& action : config.actions) actions.push_back(action.name);
  EXPECT_THAT(actions, ElementsAre("enqueue", "allocate", "backfill"));

  std::vector<std::vector<std::string>> tiers;
  for (const auto& tier : config.tiers) {
    tiers.emplace_back();
    for (const PluginConfig& plugin : tier) tiers.back().push_back(plugin.name);
  }
  EXPECT_THAT(tiers,
              ElementsAre(ElementsAre("priority", "gang", "conformance"),
                          ElementsAre("predicates",
                                      "proportion",
                                      "nodeorder",
                                      "binpack",
                                      "network-topology-aware",
                                      "deviceshare")));
  EXPECT_EQ(config.tiers[1][3].arguments.String("binpack.resources", "").value(), "nvidia.com/gpu");
  EXPECT_EQ(config.tiers[1][4].arguments.String("hypernode.binpack.resources", "").value(),
            "nvidia.com/gpu");
  const Arguments& topology = config.tiers[1][4].arguments;
  EXPECT_EQ(topology.Int("hypernode.search.second.max-steps", 0).value(), 20000);
  EXPECT_TRUE(topology.Bool("hypernode.search.fewest-leaves.enable", false).value());
  EXPECT_TRUE(topology.Bool("hypernode.search.rank-order.enable", false).value());
  EXPECT_THAT(config.tiers[1][0].arguments.Unknown({}), IsEmpty());
}

}  // namespace
}  // namespace strata
