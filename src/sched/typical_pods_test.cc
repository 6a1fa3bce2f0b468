#include "sched/typical_pods.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/plugins/test_cluster.h"

namespace strata {
namespace {

using ::testing::IsEmpty;

TEST(TypicalPods, AreReadFromTheConfiguration) {
  const auto read =
      ParseTypicalPods("gpus=1, milli=500, cpu=500m, models=T4|P100, weight=12; gpus=8,cpu=64;");
  ASSERT_TRUE(read.has_value());
  ASSERT_EQ(read->pods.size(), 2U);
  EXPECT_EQ(
      read->pods[0].pod,
      (TypicalPod{
          .cpu_milli = 500, .gpus = 1, .milli = 500, .models = {"t4", "p100"}, .request = {}}));
  EXPECT_EQ(read->pods[1].pod.milli, 1000);
  EXPECT_EQ(read->Weight(), 13);
  EXPECT_TRUE(ParseTypicalPods(" ")->empty());
}

TEST(TypicalPods, AreRefusedWithThePartThatIsWrong) {
  const auto error = [](std::string_view text) { return ParseTypicalPods(text).error().message; };
  EXPECT_EQ(error("gpus=x"), "\"gpus=x\": want a number of GPUs, as in gpus=8");
  EXPECT_EQ(error("gpus=1,milli=1001"),
            "\"milli=1001\": want thousandths of a GPU, as in milli=500");
  EXPECT_EQ(error("cpu=-1"), "\"cpu=-1\": want cores, as in cpu=8 or cpu=500m");
  EXPECT_EQ(error("gpus=1,models=T4|"), "\"models=T4|\": want models, as in models=T4|A100");
  EXPECT_EQ(error("gpus=1,weight=0"), "\"weight=0\": want a number of pods, as in weight=12");
  EXPECT_EQ(error("colour=red"), "\"colour=red\": want cpu=, gpus=, milli=, models= or weight=");
  EXPECT_EQ(error("milli=500"), "\"milli=500\": want gpus= beside milli= and models=");
}

TEST(TypicalPods, AcceptTheModelsThatTheyName) {
  const TypicalPod pod = ParseTypicalPods("gpus=1,models=T4")->pods[0].pod;
  Gpu gpu;
  gpu.type = "NVIDIA-Tesla T4";
  EXPECT_TRUE(AskOf(pod, &gpu).has_value());
  gpu.type = "NVIDIA-A100";
  EXPECT_FALSE(AskOf(pod, &gpu).has_value());
  EXPECT_TRUE(AskOf(pod, nullptr).has_value());  // nobody knows
}

struct Pods : TestCluster {
  JobId job = AddJob("ns/job", "q");
  void AddPods(int count, double gpus, int created) {
    for (int i = 0; i < count; ++i) {
      TaskSpec spec;
      spec.constraints = ClassOf({.cpu = 1, .memory = 1, .gpu = gpus});
      spec.created = Time{std::chrono::seconds(created)};
      AddTask(job, std::move(spec));
    }
  }
};

TEST(LearnTypicalPods, KeepsTheKindsThatAreMostOfThePods) {
  Pods c;
  c.AddPods(1, 4, 1);
  c.AddPods(15, 1, 1);
  c.AddPods(10, 8, 1);
  const TypicalPods learned = LearnTypicalPods(c.state, 100);
  ASSERT_EQ(learned.pods.size(), 2U);
  EXPECT_EQ(learned.pods[0].pod.gpus, 1);
  EXPECT_EQ(learned.pods[0].weight, 15);
  EXPECT_EQ(learned.pods[1].pod.gpus, 8);
  EXPECT_EQ(learned.Weight(), 25);
}

TEST(LearnTypicalPods, LooksAtTheLastOnesByCreation) {
  Pods c;
  c.AddPods(5, 8, 200);
  c.AddPods(50, 1, 100);
  const TypicalPods learned = LearnTypicalPods(c.state, 5);
  ASSERT_EQ(learned.pods.size(), 1U);
  EXPECT_EQ(learned.pods[0].pod.gpus, 8);
  EXPECT_THAT(LearnTypicalPods(TestCluster().state, 5).pods, IsEmpty());
}

}  // namespace
}  // namespace strata
