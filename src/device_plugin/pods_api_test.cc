#include "device_plugin/pods_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device_plugin/proto/core_pod.pb.h"

namespace strata::device_plugin {
namespace {

using Kind = agent::KnownContainer::Kind;

TEST(PodBytes, AreReadAsAPod) {
  kubelet::Pod message;
  message.mutable_metadata()->set_name("a");
  message.mutable_metadata()->set_namespace_("ns");
  message.mutable_metadata()->set_uid("u");
  message.mutable_metadata()->mutable_creation_timestamp()->set_seconds(60);
  (*message.mutable_metadata()->mutable_annotations())["k"] = "v";
  kubelet::Container& sidecar = *message.mutable_spec()->add_init_containers();
  sidecar.set_name("s");
  sidecar.set_restart_policy("Always");
  kubelet::Container& main = *message.mutable_spec()->add_containers();
  main.set_name("c");
  (*main.mutable_resources()->mutable_limits())["nvidia.com/gpu"].set_string("2");
  main.add_env()->set_name("CUDA_DISABLE_CONTROL");
  main.mutable_env(0)->set_value("true");
  message.mutable_status()->set_phase("Running");

  const auto pod = ReadPodBytes(message.SerializeAsString(), "nvidia.com/gpu");
  ASSERT_TRUE(pod.has_value());
  EXPECT_EQ(pod->FullName(), "ns/a");
  EXPECT_EQ(pod->created, Time(std::chrono::seconds(60)));
  EXPECT_EQ(pod->phase, objects::PodPhase::kRunning);
  EXPECT_EQ(pod->annotations.at("k"), "v");
  EXPECT_THAT(pod->containers,
              ::testing::ElementsAre(agent::KnownContainer{"s", Kind::kSidecar, 0, false},
                                     agent::KnownContainer{"c", Kind::kApp, 2, true}));
}

TEST(PodBytes, ThatAreNotAPodAreAnError) {
  EXPECT_FALSE(ReadPodBytes("\xff", "nvidia.com/gpu").has_value());
  EXPECT_FALSE(ReadPodBytes("", "nvidia.com/gpu").has_value());
}

TEST(JsonPodSource, PassesPodsAndLockOn) {
  JsonPodSource source("lock", "nvidia.com/gpu", [](Duration) -> Result<JsonPodSource::Answer> {
    return JsonPodSource::Answer{
        .pod_list = R"({"items":[{"metadata":{"name":"a","namespace":"ns","uid":"u"}}]})",
        .lock_owner = "ns/a"};
  });
  const auto known = source.List(std::chrono::seconds(1));
  ASSERT_TRUE(known.has_value());
  EXPECT_EQ(known->pods.size(), 1U);
  EXPECT_EQ(known->lock_owner, "ns/a");
}

}  // namespace
}  // namespace strata::device_plugin
