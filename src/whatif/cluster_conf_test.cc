#include "whatif/cluster_conf.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "objects/test_support.h"

namespace strata {
namespace {

using testing::HasSubstr;

std::string ConfigMapWith(const std::string& ns, const std::string& data) {
  return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: volcano-scheduler-configmap, "
         "namespace: " +
         ns + "}\ndata:\n" + data;
}

TEST(FindSchedulerConf, ReadsTheConfigMapOfTheCluster) {
  const auto conf = FindSchedulerConf(objects::MustLoad(
      ConfigMapWith("volcano-system",
                    "  volcano-scheduler.conf: |\n    actions: \"allocate\"\n    tiers: []\n")));
  ASSERT_TRUE(conf) << conf.error().message;
  ASSERT_EQ(conf->config.actions.size(), 1U);
  EXPECT_EQ(conf->config.actions.front().name, "allocate");
}

TEST(FindSchedulerConf, IsTheDefaultWithoutThatConfigMapOrKey) {
  const std::size_t actions = DefaultSchedulerConfig().actions.size();
  for (const std::string& manifests :
       {ConfigMapWith("elsewhere", "  volcano-scheduler.conf: 'actions: \"allocate\"'\n"),
        ConfigMapWith("volcano-system", "  other.conf: 'actions: \"allocate\"'\n")}) {
    const auto conf = FindSchedulerConf(objects::MustLoad(manifests));
    ASSERT_TRUE(conf) << conf.error().message;
    EXPECT_EQ(conf->config.actions.size(), actions);
  }
}

TEST(FindSchedulerConf, NamesTheConfigMapWhenItIsInvalid) {
  const auto conf = FindSchedulerConf(objects::MustLoad(
      ConfigMapWith("volcano-system", "  volcano-scheduler.conf: 'actions: \"fly\"'\n")));
  ASSERT_FALSE(conf);
  EXPECT_THAT(conf.error().message, HasSubstr("volcano-system/volcano-scheduler-configmap"));
}

}  // namespace
}  // namespace strata
