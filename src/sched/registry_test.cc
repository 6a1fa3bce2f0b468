#include "sched/registry.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Registry, NamesAreSortedAndEachOneMakesAPlugin) {
  const std::vector<std::string_view> names = PluginNames();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  for (const std::string_view name : names) {
    ResourceNames resources;
    const PluginConfig config{.name = std::string(name), .switches = {}, .arguments = {}};
    ASSERT_TRUE(IsPlugin(name));
    const auto made = MakePlugin(config, resources);
    ASSERT_TRUE(made.has_value()) << name;
    EXPECT_NE(made->plugin, nullptr) << name;
    EXPECT_THAT(made->warnings, IsEmpty()) << name;
  }
}

TEST(Registry, EveryPluginWarnsOfUnknownArguments) {
  for (const std::string_view name : PluginNames()) {
    ResourceNames resources;
    PluginConfig config{.name = std::string(name), .switches = {}, .arguments = {}};
    config.arguments.Set("no.such.argument", true);
    const auto made = MakePlugin(config, resources);
    ASSERT_TRUE(made.has_value()) << name;
    EXPECT_THAT(made->warnings,
                ElementsAre(config.name + ": no.such.argument: unknown argument, ignored"));
  }
}

TEST(Registry, DistinguishesUnsupportedVolcanoPluginsFromUnknownNames) {
  EXPECT_TRUE(IsVolcanoPlugin("usage"));
  EXPECT_TRUE(IsVolcanoPlugin("tdm"));
  EXPECT_FALSE(IsVolcanoPlugin("gnag"));
  EXPECT_FALSE(IsPlugin("tdm"));
  for (const std::string_view name : PluginNames()) EXPECT_FALSE(IsVolcanoPlugin(name)) << name;
}

TEST(Registry, TheDefaultConfigurationIsMadeOfKnownPluginsWithoutWarnings) {
  ResourceNames resources;
  for (const auto& tier : DefaultSchedulerConfig().tiers) {
    for (const PluginConfig& plugin : tier) {
      ASSERT_TRUE(IsPlugin(plugin.name)) << plugin.name;
      const auto made = MakePlugin(plugin, resources);
      ASSERT_TRUE(made.has_value()) << plugin.name;
      EXPECT_THAT(made->warnings, IsEmpty()) << plugin.name;
    }
  }
}

TEST(Registry, AnErrorNamesThePluginAndTheArgument) {
  ResourceNames resources;
  PluginConfig config{.name = "binpack", .switches = {}, .arguments = {}};
  config.arguments.Set("binpack.cpu", "much");
  const auto made = MakePlugin(config, resources);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().message, "binpack: binpack.cpu: want an integer, found \"much\"");
}

}  // namespace
}  // namespace strata
