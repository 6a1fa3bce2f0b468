#include "live/conf_change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::live {
namespace {

using ::testing::HasSubstr;

constexpr const char* kConf = "actions: \"allocate\"\ntiers:\n- plugins:\n  - name: gang\n";

kube::Delta ConfMap(kube::Delta::Type type, const std::string& conf) {
  kube::Delta delta;
  delta.type = type;
  delta.key = {"volcano-system", "volcano-scheduler-configmap"};
  delta.uid = "u";
  delta.version = "7";
  delta.text = R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c"},"data":)"
               R"({"volcano-scheduler.conf":")" +
               conf + "\"}}";
  return delta;
}

TEST(ConfChange, AFileIsUsedOrTheReasonIsGiven) {
  const ConfChange used = ChangeByFile("s.conf", std::string(kConf));
  ASSERT_TRUE(used.conf.has_value());
  EXPECT_EQ(used.conf->config.tiers.size(), 1U);
  const ConfChange invalid = ChangeByFile("s.conf", std::string("actions: fly\n"));
  ASSERT_FALSE(invalid.conf.has_value());
  EXPECT_THAT(invalid.conf.error().message, HasSubstr("s.conf"));
  EXPECT_FALSE(invalid.event.has_value()) << "there is no object to write an event about";
  const ConfChange unreadable = ChangeByFile("s.conf", Fail(Code::kNotFound, "s.conf: no file"));
  ASSERT_FALSE(unreadable.conf.has_value());
  EXPECT_EQ(unreadable.conf.error().message, "s.conf: no file");
}

TEST(ConfChange, AnInvalidConfigMapGetsAnEvent) {
  const ConfChange change = ChangeByConfMap(ConfMap(kube::Delta::Type::kModified, "actions: fly"));
  ASSERT_FALSE(change.conf.has_value());
  ASSERT_TRUE(change.event.has_value());
  EXPECT_EQ(change.event->reason, "InvalidConfiguration");
  EXPECT_EQ(change.event->message, change.conf.error().message);
  EXPECT_EQ(change.event->about.uid, "u");
}

// As Volcano's chart names them: after the release, and the key after the file.
TEST(ConfChange, AConfigMapMayHaveAnotherNameAndKey) {
  kube::Delta delta = ConfMap(kube::Delta::Type::kAdded, "actions: allocate");
  delta.key = {"batch", "prod-scheduler-configmap"};
  delta.text.replace(delta.text.find("volcano-scheduler.conf"), 22, "volcano-scheduler-ci.conf");
  const ConfChange change = ChangeByConfMap(delta);
  ASSERT_TRUE(change.conf) << change.conf.error().message;
  EXPECT_EQ(change.source, "ConfigMap batch/prod-scheduler-configmap");
  EXPECT_EQ(change.conf->config.actions.size(), 1U);
}

TEST(ConfChange, WithoutItsConfigMapTheDefaultIsInForce) {
  const ConfChange change = ChangeByConfMap(ConfMap(kube::Delta::Type::kDeleted, ""));
  ASSERT_TRUE(change.conf.has_value());
  EXPECT_TRUE(change.is_default);
  EXPECT_EQ(change.conf->config.actions.size(), DefaultSchedulerConfig().actions.size());
}

}  // namespace
}  // namespace strata::live
