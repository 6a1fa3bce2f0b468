#include "whatif/cluster_conf.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "objects/test_support.h"

namespace strata {
namespace {

using testing::HasSubstr;

std::string ConfigMapNamed(const std::string& name, const std::string& data) {
  return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name +
         ", namespace: volcano-system}\ndata:\n" + data;
}

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

TEST(FindSchedulerConf, IsTheDefaultWithoutSuchAConfigMap) {
  const std::size_t actions = DefaultSchedulerConfig().actions.size();
  for (const std::string& manifests :
       {ConfigMapWith("volcano-system", "  readme: 'actions: \"allocate\"'\n"),
        ConfigMapWith("volcano-system", "  a.conf: 'x'\n  b.conf: 'y'\n"),
        ConfigMapNamed("prod-agent-scheduler-configmap", "  a.conf: 'x'\n"),
        ConfigMapNamed("prod-controller-configmap", "  a.conf: 'x'\n")}) {
    const auto conf = FindSchedulerConf(objects::MustLoad(manifests));
    ASSERT_TRUE(conf) << conf.error().message;
    EXPECT_EQ(conf->config.actions.size(), actions);
    EXPECT_TRUE(conf->warnings.empty());
  }
}

// As Volcano's chart names them: after the release, and the key after the file.
TEST(FindSchedulerConf, TakesTheOnlyConfigMapOfAnotherNameWithAWarning) {
  const std::string other = ConfigMapNamed("prod-scheduler-configmap",
                                           "  volcano-scheduler-ci.conf: 'actions: allocate'\n");
  const auto conf = FindSchedulerConf(objects::MustLoad(other));
  ASSERT_TRUE(conf) << conf.error().message;
  EXPECT_EQ(conf->config.actions.size(), 1U);
  EXPECT_THAT(conf->warnings,
              testing::Contains(HasSubstr("ConfigMap volcano-system/prod-scheduler-configmap")));
  const auto usual = FindSchedulerConf(objects::MustLoad(
      other + "---\n" +
      ConfigMapWith("volcano-system", "  volcano-scheduler.conf: 'actions: allocate'\n")));
  ASSERT_TRUE(usual) << usual.error().message;
  EXPECT_TRUE(usual->warnings.empty());
  const auto two = FindSchedulerConf(objects::MustLoad(
      other + "---\n" +
      ConfigMapNamed("test-scheduler-configmap", "  a.conf: 'actions: allocate'\n")));
  ASSERT_FALSE(two);
  EXPECT_THAT(two.error().message, HasSubstr("may both be the scheduler's"));
}

TEST(FindSchedulerConf, NamesTheConfigMapWhenItIsInvalid) {
  const auto conf = FindSchedulerConf(objects::MustLoad(
      ConfigMapWith("volcano-system", "  volcano-scheduler.conf: 'actions: \"fly\"'\n")));
  ASSERT_FALSE(conf);
  EXPECT_THAT(conf.error().message, HasSubstr("volcano-system/volcano-scheduler-configmap"));
}

}  // namespace
}  // namespace strata
