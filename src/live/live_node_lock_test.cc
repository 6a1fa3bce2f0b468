// The live scheduler beside HAMi's node agent, which serves one pod per node at a time.
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "live/test_hami_node.h"

namespace strata::live {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kGang = 8;

bool IsBind(const net::HttpRequest& request) {
  return request.path.ends_with("/binding");
}
bool IsLock(const net::HttpRequest& request) {
  return request.path == "/api/v1/nodes/n0";
}

TEST(LiveNodeLock, EveryPodOfAGangOnOneNodeGetsItsOwnGpu) {
  HamiNode node;
  node.AddGang(kGang, kGang);
  node.Start();
  EXPECT_TRUE(node.Until([&] { return node.RightOnes() == kGang; }, minutes(1)));
  EXPECT_EQ(node.Count("Failed"), 0);
  EXPECT_EQ(node.most_in_flight, 1);
  std::set<std::string> gpus;
  for (const auto& [name, pod] : node.pods) gpus.insert(pod.got.begin(), pod.got.end());
  EXPECT_THAT(gpus, SizeIs(kGang));
  EXPECT_EQ(node.LockText(), "");
  EXPECT_THAT(node.NodeWrites(), SizeIs(kGang)) << "one for each pod: the agent releases the lock";
  node.Pass(minutes(10));
  EXPECT_THAT(node.NodeWrites(), SizeIs(kGang));
}

TEST(LiveNodeLock, EveryPodOfAGangGetsItsOwnGpuFromVolcanosAgent) {
  HamiNode node(GpuDialect::kVolcano);
  node.AddGang(kGang, kGang);
  node.Start();
  EXPECT_TRUE(node.Until([&] { return node.RightOnes() == kGang; }, minutes(1)));
  EXPECT_EQ(node.Count("Failed"), 0);
  EXPECT_EQ(node.most_in_flight, 1);
  EXPECT_EQ(node.LockText(), "");
  EXPECT_THAT(node.NodeWrites(), SizeIs(kGang)) << "one for each pod: the agent releases the lock";
  const auto& record = node.pods.at("p-0").annotations;
  EXPECT_EQ(record.at("volcano.sh/vgpu-node"), "n0");
  EXPECT_EQ(record.at("volcano.sh/vgpu-ids-new"), node.pods.at("p-0").got[0] + ",NVIDIA,81920,0:");
  EXPECT_EQ(record.at("volcano.sh/bind-phase"), "success");
  EXPECT_TRUE(record.contains("volcano.sh/bind-time"));
  EXPECT_FALSE(record.contains("hami.io/vgpu-node"));
}

TEST(LiveNodeLock, ASchedulerThatIsKilledBesideVolcanosAgentGoesOnWhenTheLockIsTooOld) {
  for (int writes = 1; writes <= 4; ++writes) {
    HamiNode node(GpuDialect::kVolcano);
    node.AddGang(2, 2);
    node.die_after = writes;
    node.Start();
    node.Pass(minutes(2));
    ASSERT_TRUE(node.dead) << writes;
    node.Kill();
    node.Start();
    EXPECT_TRUE(node.Until([&] { return node.RightOnes() == 2; }, minutes(6))) << writes;
    EXPECT_EQ(node.Count("Failed"), 0) << writes;
    EXPECT_EQ(node.most_in_flight, 1) << writes;
    EXPECT_EQ(node.LockText(), "") << writes;
  }
}

TEST(LiveNodeLock, ASchedulerThatIsKilledAfterAnyWriteLeavesNothingBehind) {
  for (int writes = 1; writes <= 2 * kGang; ++writes) {
    HamiNode node;
    node.AddGang(kGang, kGang);
    node.die_after = writes;
    node.Start();
    node.Pass(minutes(2));
    ASSERT_TRUE(node.dead) << writes;
    node.Kill();
    node.Start();
    EXPECT_TRUE(node.Until([&] { return node.RightOnes() == kGang; }, minutes(2))) << writes;
    EXPECT_EQ(node.Count("Failed"), 0) << writes;
    EXPECT_EQ(node.most_in_flight, 1) << writes;
    EXPECT_EQ(node.LockText(), "") << writes;
  }
}

TEST(LiveNodeLock, WaitsForTheLockOfAnotherScheduler) {
  HamiNode node;
  node.AddPod("other", {.scheduler = "hami-scheduler"});
  node.AddGang(2, 2);
  node.Lock(node.Ago(seconds(0)) + ",ns,other");
  node.Start();
  node.Pass(seconds(200));
  EXPECT_THAT(node.bound, IsEmpty());
  EXPECT_THAT(node.NodeWrites(), IsEmpty());
  node.annotations.erase("hami.io/mutex.lock");
  node.PutNode();
  EXPECT_TRUE(node.Until([&] { return node.RightOnes() == 2; }, seconds(10)));
}

TEST(LiveNodeLock, BreaksALockThatIsOlderThanFiveMinutes) {
  HamiNode node;
  node.AddPod("other", {.scheduler = "hami-scheduler"});
  node.AddGang(2, 2);
  node.Lock(node.Ago(seconds(280)) + ",ns,other");
  node.Start();
  node.Pass(seconds(15));
  EXPECT_THAT(node.bound, IsEmpty());
  EXPECT_TRUE(node.Until([&] { return node.RightOnes() == 2; }, seconds(20)));
}

TEST(LiveNodeLock, BreaksALockWhoseTimeCannotBeReadAfterFiveMinutes) {
  HamiNode node;
  node.AddGang(1, 1);
  node.Lock("whenever");
  node.Start();
  node.Pass(seconds(295));
  EXPECT_THAT(node.bound, IsEmpty());
  EXPECT_TRUE(node.Until([&] { return node.RightOnes() == 1; }, seconds(20)));
}

TEST(LiveNodeLock, BreaksALockWhoseOwnerIsGone) {
  HamiNode node;
  node.AddPod("other", {.scheduler = "hami-scheduler"});
  node.AddGang(2, 2);
  node.Lock(node.Ago(seconds(0)) + ",ns,other");
  node.Start();
  node.Pass(seconds(30));
  EXPECT_THAT(node.bound, IsEmpty());
  node.RemovePod("other");
  EXPECT_TRUE(node.Until([&] { return node.RightOnes() == 2; }, seconds(20)));
}

TEST(LiveNodeLock, ANodeThatChangedMeanwhileIsLockedByItsNewVersion) {
  HamiNode node;
  node.AddGang(2, 2);
  int changes = 3;
  node.refuse = [&](const net::HttpRequest& request) {
    if (IsLock(request) && changes-- > 0) node.PutNode();  // before the patch is looked at
    return 0;
  };
  node.Start();
  EXPECT_TRUE(node.Until([&] { return node.RightOnes() == 2; }, minutes(1)));
  EXPECT_THAT(node.NodeWrites(), SizeIs(2 + 3));
}

TEST(LiveNodeLock, AnAgentThatNeverAnswersHoldsTheOthersUpForFiveMinutes) {
  HamiNode node;
  node.AddGang(2, 2);
  node.agent_serves = false;
  node.Start();
  node.Pass(seconds(295));
  EXPECT_THAT(node.bound, ElementsAre("p-0"));
  node.Pass(seconds(15));
  EXPECT_THAT(node.bound, ElementsAre("p-0", "p-1"));
  EXPECT_THAT(node.LockText(), HasSubstr(",ns,p-1"));
}

TEST(LiveNodeLock, OtherNodesGoOnMeanwhile) {
  HamiNode node;
  node.AddPod("other", {.scheduler = "hami-scheduler"});
  node.Lock(node.Ago(seconds(0)) + ",ns,other");
  node.AddGang(10, 10);  // n0 has eight GPUs
  auto second = node.annotations;
  second.erase("hami.io/mutex.lock");
  std::string& gpus = second["hami.io/node-nvidia-register"];
  for (std::size_t at = gpus.find("GPU-"); at != std::string::npos; at = gpus.find("GPU-", at)) {
    gpus.replace(at, 4, "XPU-");
  }
  node.cluster.Put(kube::kNodes,
                   "",
                   "n1",
                   R"("status":{"allocatable":{"cpu":"64","pods":"100","nvidia.com/gpu":"80"}})",
                   R"(,"annotations":)" + nlohmann::json(second).dump());
  node.Start();
  EXPECT_TRUE(node.Until([&] { return !node.bound.empty(); }, seconds(10)));
  EXPECT_EQ(node.pods.at(node.bound.front()).node, "n1");
  EXPECT_THAT(node.NodeWrites(), IsEmpty());
}

TEST(LiveNodeLock, ABindThatFailsReleasesTheLock) {
  HamiNode node;
  node.AddGang(1, 1);
  bool was_locked = false;
  node.refuse = [&](const net::HttpRequest& request) {
    if (!IsBind(request)) return 0;
    was_locked = node.LockText().ends_with(",ns,p-0");
    return 422;
  };
  node.Start();
  EXPECT_TRUE(node.Until([&] { return was_locked && node.LockText().empty(); }, seconds(10)));
  node.refuse = [](const auto&) { return 0; };
  EXPECT_TRUE(node.Until([&] { return node.RightOnes() == 1; }, minutes(1)));
}

TEST(LiveNodeLock, ANodeThatMayNotBeLockedIsAFailedBind) {
  HamiNode node;
  node.AddGang(1, 1);
  node.refuse = [](const net::HttpRequest& request) { return IsLock(request) ? 403 : 0; };
  node.Start();
  node.Pass(seconds(5));
  EXPECT_THAT(node.bound, IsEmpty());
  EXPECT_THAT(node.cluster.WritesTo("/events"), Contains(HasSubstr("cannot lock node n0: ")));
  node.refuse = [](const auto&) { return 0; };
  EXPECT_TRUE(node.Until([&] { return node.RightOnes() == 1; }, minutes(1)));
}

TEST(LiveNodeLock, APodThatIsDeletedInLineIsNotWaitedFor) {
  HamiNode node;
  node.AddGang(3, 1);
  node.agent_serves = false;
  node.Start();
  EXPECT_TRUE(node.Until([&] { return node.bound.size() == 1; }, seconds(10)));
  node.RemovePod("p-1");
  node.agent_serves = true;
  EXPECT_TRUE(node.Until([&] { return node.RightOnes() == 2; }, seconds(20)));
  EXPECT_THAT(node.bound, ElementsAre("p-0", "p-2"));
}

TEST(LiveNodeLock, ALockOfAFormerLeaderForAPodThatHasNoNodeIsRemoved) {
  HamiNode node;
  node.AddGang(2, 3);  // it cannot start
  node.Lock(node.Ago(seconds(10)) + ",ns,p-1");
  node.Start();
  EXPECT_TRUE(node.Until([&] { return node.LockText().empty(); }, seconds(5)));
  EXPECT_THAT(node.bound, IsEmpty());
}

// As with NVIDIA's device plugin, which knows nothing of locks and phases.
TEST(LiveNodeLock, ALockThatNobodyReleasesIsRemovedWhenThePodRuns) {
  HamiNode node;
  node.AddGang(3, 3);
  node.agent_serves = false;
  node.Start();
  for (std::size_t i = 1; i <= 3; ++i) {
    ASSERT_TRUE(node.Until([&] { return node.bound.size() == i; }, seconds(5))) << i;
    node.pods.at(node.bound.back()).phase = "Running";
    node.PutPod(node.bound.back());
  }
  EXPECT_TRUE(node.Until([&] { return node.LockText().empty(); }, seconds(5)));
}

// The agent died between the two writes.
TEST(LiveNodeLock, ALockThatTheAgentDidNotReleaseIsTakenOver) {
  HamiNode node;
  node.AddGang(2, 2);
  node.agent_serves = false;
  node.Start();
  ASSERT_TRUE(node.Until([&] { return node.bound.size() == 1; }, seconds(5)));
  node.pods.at("p-0").annotations["hami.io/bind-phase"] = "success";
  node.PutPod("p-0");
  node.Pass(seconds(5));
  EXPECT_THAT(node.bound, SizeIs(1)) << "the agent may be about to release it";
  EXPECT_TRUE(node.Until([&] { return node.bound.size() == 2; }, seconds(10)));
}

TEST(LiveNodeLock, AnAgentThatKnowsItsPodsNeedsNoLock) {
  HamiNode node;
  node.annotations["strata.sh/agent"] = R"({"version":"1","identity":"pods-api"})";
  node.PutNode();
  node.AddGang(kGang, kGang);
  node.agent_serves = false;
  node.Start();
  EXPECT_TRUE(node.Until([&] { return node.bound.size() == kGang; }, seconds(3)));
  EXPECT_THAT(node.NodeWrites(), IsEmpty());
}

TEST(LiveNodeLock, BindsThatWaitGoOnWhenTheNodeNeedsNoLockAnyMore) {
  HamiNode node;
  node.AddGang(3, 3);
  node.agent_serves = false;
  node.Start();
  ASSERT_TRUE(node.Until([&] { return node.bound.size() == 1; }, seconds(5)));
  node.annotations["strata.sh/agent"] = R"({"version":"1","identity":"pods"})";
  node.PutNode();
  EXPECT_TRUE(node.Until([&] { return node.bound.size() == 3; }, seconds(3)));
}

TEST(LiveNodeLock, TheTimeOfABindIsThatOfTheBind) {
  HamiNode node;
  node.AddPod("other", {.scheduler = "hami-scheduler"});
  node.AddGang(1, 1);
  node.Lock(node.Ago(seconds(0)) + ",ns,other");
  node.Start();
  node.Pass(minutes(2));
  node.annotations.erase("hami.io/mutex.lock");
  node.PutNode();
  ASSERT_TRUE(node.Until([&] { return node.bound.size() == 1; }, seconds(5)));
  const auto& annotations = node.pods.at("p-0").annotations;
  EXPECT_GE(std::stoll(annotations.at("hami.io/bind-time")),
            std::stoll(annotations.at("hami.io/vgpu-time")) + 119);
}

}  // namespace
}  // namespace strata::live
