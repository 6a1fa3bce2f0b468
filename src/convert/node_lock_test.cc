#include "convert/node_lock.h"

#include <chrono>

#include <gtest/gtest.h>

#include "convert/gpu_dialect.h"

namespace strata {
namespace {

using std::chrono::seconds;
using Phase = AgentProgress::Phase;

constexpr GpuDialect kHami = GpuDialect::kHami;
constexpr GpuDialect kVolcano = GpuDialect::kVolcano;

const Time kNow{seconds(1'800'000'000)};  // 2027-01-15T08:00:00Z

TEST(NeedsNodeLock, OnlyWhereGpusAreRegisteredAndTheAgentDoesNotKnowItsPods) {
  const std::string gpus(NamesOf(kHami).registered);
  EXPECT_FALSE(NeedsNodeLock({}, kHami)) << "no GPUs of HAMi's";
  EXPECT_TRUE(NeedsNodeLock({{gpus, "[]"}}, kHami));
  const auto with_agent = [&](const char* agent) {
    return NeedsNodeLock({{gpus, "[]"}, {"strata.sh/agent", agent}}, kHami);
  };
  EXPECT_FALSE(with_agent(R"({"version":"1","identity":"pods-api"})"));
  EXPECT_FALSE(with_agent(R"({"identity":"pods"})"));
  EXPECT_TRUE(with_agent(R"({"identity":"lock"})"));
  EXPECT_FALSE(with_agent(R"({"identity":"none"})"));
  EXPECT_TRUE(with_agent(R"({"identity":7})"));
  EXPECT_TRUE(with_agent("pods")) << "not JSON";
  EXPECT_FALSE(NeedsNodeLock({{"strata.sh/agent", "x"}}, kHami));
}

TEST(NodeLock, IsReadAsItIsWritten) {
  const std::string text = NodeLockText(kHami, kNow + std::chrono::milliseconds(250), "ns", "p-0");
  EXPECT_EQ(text, "2027-01-15T08:00:00Z,ns,p-0");
  const auto lock = ReadNodeLock({{"hami.io/mutex.lock", text}}, kHami);
  ASSERT_TRUE(lock.has_value());
  EXPECT_EQ(lock->since, kNow);
  EXPECT_EQ(lock->owner, "ns/p-0");
  EXPECT_EQ(lock->text, text);
}

TEST(NodeLock, IsReadInEveryFormAndEveryText) {
  const auto read = [](const char* text) {
    return ReadNodeLock({{"hami.io/mutex.lock", text}}, kHami);
  };
  EXPECT_FALSE(ReadNodeLock({}, kHami).has_value());
  EXPECT_EQ(read("2027-01-15T16:00:00+08:00,a,b")->since, kNow);
  EXPECT_EQ(read("2027-01-15T08:00:00Z")->since, kNow) << "HAMi's old form";
  EXPECT_EQ(read("2027-01-15T08:00:00Z")->owner, "");
  EXPECT_EQ(read("yesterday,a,b")->since, std::nullopt);
  EXPECT_EQ(read("yesterday,a,b")->owner, "a/b");
  EXPECT_EQ(read("")->owner, "");
  EXPECT_EQ(read("a,b,c,d")->owner, "");
}

objects::Pod MakePod(const char* phase, const char* node = "n") {
  objects::Pod pod;
  pod.spec.node_name = node;
  if (*phase != '\0') pod.meta.annotations["hami.io/bind-phase"] = phase;
  pod.meta.annotations["hami.io/bind-time"] = "1800000000";
  return pod;
}

TEST(AgentProgress, GoesFromAllocatingToServed) {
  const AgentProgress waits = ReadAgentProgress(MakePod("allocating"), kHami);
  EXPECT_EQ(waits.phase, Phase::kAllocating);
  EXPECT_EQ(waits.bound, kNow);
  EXPECT_EQ(ReadAgentProgress(MakePod("success"), kHami).phase, Phase::kServed);
  EXPECT_EQ(ReadAgentProgress(MakePod("failed"), kHami).phase, Phase::kServed);
}

TEST(AgentProgress, ConcernsOnlyPodsWithGpusOnANode) {
  EXPECT_EQ(ReadAgentProgress(MakePod(""), kHami).phase, Phase::kNone);
  EXPECT_EQ(ReadAgentProgress(MakePod("allocating", ""), kHami).phase, Phase::kNone);
}

TEST(AgentProgress, APodThatRunsOrFailedWaitsForNoAgent) {
  objects::Pod pod = MakePod("allocating");
  for (const auto phase : {objects::PodPhase::kRunning, objects::PodPhase::kFailed}) {
    pod.status.phase = phase;
    EXPECT_EQ(ReadAgentProgress(pod, kHami).phase, Phase::kNone);
  }
}

TEST(AgentProgress, ABindTimeThatIsNotANumberIsNone) {
  objects::Pod pod = MakePod("allocating");
  pod.meta.annotations["hami.io/bind-time"] = "soon";
  EXPECT_EQ(ReadAgentProgress(pod, kHami).bound, std::nullopt);
}

TEST(NeedsNodeLock, InVolcanosDialectWhereverGpusAreRegisteredInIt) {
  const Labels registered = {{"volcano.sh/node-vgpu-register", "GPU-a,10,16384,NVIDIA-T4,true,:"},
                             {"strata.sh/agent", R"({"identity":"pods"})"}};
  EXPECT_TRUE(NeedsNodeLock(registered, kVolcano));
  EXPECT_FALSE(NeedsNodeLock(registered, kHami));
  EXPECT_FALSE(NeedsNodeLock({{"hami.io/node-nvidia-register", "[]"}}, kVolcano));
}

TEST(NodeLock, OfVolcanosDialectIsATime) {
  const std::string text = NodeLockText(kVolcano, kNow, "ns", "p-0");
  EXPECT_EQ(text, "2027-01-15T08:00:00Z");
  const Labels node = {{"volcano.sh/mutex.lock", text}};
  EXPECT_EQ(ReadNodeLock(node, kVolcano)->since, kNow);
  EXPECT_EQ(ReadNodeLock(node, kVolcano)->owner, "");
  EXPECT_FALSE(ReadNodeLock(node, kHami).has_value());
}

TEST(AgentProgress, IsReadInTheDialectOfTheAgent) {
  objects::Pod pod;
  pod.spec.node_name = "n";
  pod.meta.annotations = {{"volcano.sh/bind-phase", "allocating"},
                          {"volcano.sh/bind-time", "1800000000"}};
  EXPECT_EQ(ReadAgentProgress(pod, kVolcano).phase, Phase::kAllocating);
  EXPECT_EQ(ReadAgentProgress(pod, kVolcano).bound, kNow);
  EXPECT_EQ(ReadAgentProgress(pod, kHami).phase, Phase::kNone);
}

}  // namespace
}  // namespace strata
