#include "local_cluster/system_objects.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convert/scheduler_conf.h"
#include "discovery/config.h"

namespace strata {
namespace {

using testing::IsEmpty;

// Everything about a configuration that the file can say, as text.
std::string Picture(const SchedulerConfig& config) {
  std::string text;
  for (const ActionConfig& action : config.actions) text += action.name + " ";
  for (const auto& tier : config.tiers) {
    text += "|";
    for (const PluginConfig& plugin : tier) {
      text += " " + plugin.name;
      for (const auto& [name, on] : plugin.switches) text += " " + name + (on ? "+" : "-");
      for (const std::string& key : plugin.arguments.Unknown({})) {
        text += " " + key + "=" + plugin.arguments.String(key, "?").value_or("no text");
      }
    }
  }
  return text;
}

TEST(SystemObjects, SchedulerConfSaysWhatIsTheDefault) {
  const auto conf = ParseSchedulerConf({"default", std::string(DefaultSchedulerConf())});
  ASSERT_TRUE(conf) << conf.error().message;
  EXPECT_THAT(conf->warnings, IsEmpty());
  EXPECT_EQ(Picture(conf->config), Picture(DefaultSchedulerConfig()));
}

TEST(SystemObjects, ControllerConfHasNoSources) {
  const auto conf =
      discovery::ParseDiscoveryConf({"default", std::string(DefaultControllerConf())});
  ASSERT_TRUE(conf) << conf.error().message;
  EXPECT_THAT(conf->sources, IsEmpty());
  EXPECT_THAT(conf->warnings, IsEmpty());
}

}  // namespace
}  // namespace strata
