#include "agent/known_pod.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::agent {
namespace {

TEST(KnownPod, IsReadFromAListOfTheKubelet) {
  const auto pods = ReadPodList(R"({"kind":"PodList","items":[
    {"metadata":{"name":"a","namespace":"ns","uid":"u","creationTimestamp":"1970-01-01T00:01:00Z",
                 "annotations":{"k":"v"}},
     "spec":{"initContainers":[
               {"name":"i","resources":{"limits":{"nvidia.com/gpu":"1"}}},
               {"name":"s","restartPolicy":"Always"}],
             "containers":[
               {"name":"c","resources":{"limits":{"nvidia.com/gpu":"2","cpu":"1"}},
                "env":[{"name":"CUDA_DISABLE_CONTROL","value":"true"}]}]},
     "status":{"phase":"Failed"}},
    {"metadata":{"name":"without-uid"}}, null, 3]})",
                                "nvidia.com/gpu");
  ASSERT_TRUE(pods.has_value());
  ASSERT_EQ(pods->size(), 1U);
  const KnownPod& pod = (*pods)[0];
  EXPECT_EQ(pod.FullName(), "ns/a");
  EXPECT_EQ(pod.created, Time(std::chrono::seconds(60)));
  EXPECT_TRUE(pod.Ended());
  EXPECT_EQ(pod.annotations.at("k"), "v");
  EXPECT_THAT(pod.containers,
              ::testing::ElementsAre(KnownContainer{"i", KnownContainer::Kind::kInit, 1, false},
                                     KnownContainer{"s", KnownContainer::Kind::kSidecar, 0, false},
                                     KnownContainer{"c", KnownContainer::Kind::kApp, 2, true}));
}

TEST(KnownPod, ListThatIsNotJsonIsAnError) {
  EXPECT_FALSE(ReadPodList("<html>", "nvidia.com/gpu").has_value());
  EXPECT_TRUE(ReadPodList("[]", "nvidia.com/gpu")->empty());
}

TEST(KnownPod, LimitsThatAreNotWholeNumbersAskForNothing) {
  EXPECT_EQ(GpusOfLimit("8"), 8);
  EXPECT_EQ(GpusOfLimit("1k"), 1000);
  for (const char* text : {"", "x", "-1", "500m", "1e12"}) EXPECT_EQ(GpusOfLimit(text), 0) << text;
}

}  // namespace
}  // namespace strata::agent
