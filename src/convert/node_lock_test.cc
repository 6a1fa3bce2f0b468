#include "convert/node_lock.h"

#include <chrono>

#include <gtest/gtest.h>

#include "convert/gpu_annotations.h"

namespace strata {
namespace {

using std::chrono::seconds;
using Phase = AgentProgress::Phase;

const Time kNow{seconds(1'800'000'000)};  // 2027-01-15T08:00:00Z

TEST(NeedsNodeLock, OnlyWhereGpusAreRegisteredAndTheAgentDoesNotKnowItsPods) {
  const std::string gpus(kGpuRegisterAnnotation);
  EXPECT_FALSE(NeedsNodeLock({})) << "no GPUs of HAMi's";
  EXPECT_TRUE(NeedsNodeLock({{gpus, "[]"}}));
  const auto with_agent = [&](const char* agent) {
    return NeedsNodeLock({{gpus, "[]"}, {"strata.sh/agent", agent}});
  };
  EXPECT_FALSE(with_agent(R"({"version":"1","identity":"pods-api"})"));
  EXPECT_FALSE(with_agent(R"({"identity":"pods"})"));
  EXPECT_TRUE(with_agent(R"({"identity":"lock"})"));
  EXPECT_TRUE(with_agent(R"({"identity":"none"})"));
  EXPECT_TRUE(with_agent(R"({"identity":7})"));
  EXPECT_TRUE(with_agent("pods")) << "not JSON";
  EXPECT_FALSE(NeedsNodeLock({{"strata.sh/agent", "x"}}));
}

TEST(NodeLock, IsReadAsItIsWritten) {
  const std::string text = NodeLockText(kNow + std::chrono::milliseconds(250), "ns", "p-0");
  EXPECT_EQ(text, "2027-01-15T08:00:00Z,ns,p-0");
  const auto lock = ReadNodeLock({{"hami.io/mutex.lock", text}});
  ASSERT_TRUE(lock.has_value());
  EXPECT_EQ(lock->since, kNow);
  EXPECT_EQ(lock->owner, "ns/p-0");
  EXPECT_EQ(lock->text, text);
}

TEST(NodeLock, IsReadInEveryFormAndEveryText) {
  const auto read = [](const char* text) { return ReadNodeLock({{"hami.io/mutex.lock", text}}); };
  EXPECT_FALSE(ReadNodeLock({}).has_value());
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
  const AgentProgress waits = ReadAgentProgress(MakePod("allocating"));
  EXPECT_EQ(waits.phase, Phase::kAllocating);
  EXPECT_EQ(waits.bound, kNow);
  EXPECT_EQ(ReadAgentProgress(MakePod("success")).phase, Phase::kServed);
  EXPECT_EQ(ReadAgentProgress(MakePod("failed")).phase, Phase::kServed);
}

TEST(AgentProgress, ConcernsOnlyPodsWithGpusOnANode) {
  EXPECT_EQ(ReadAgentProgress(MakePod("")).phase, Phase::kNone);
  EXPECT_EQ(ReadAgentProgress(MakePod("allocating", "")).phase, Phase::kNone);
}

TEST(AgentProgress, APodThatRunsOrFailedWaitsForNoAgent) {
  objects::Pod pod = MakePod("allocating");
  for (const auto phase : {objects::PodPhase::kRunning, objects::PodPhase::kFailed}) {
    pod.status.phase = phase;
    EXPECT_EQ(ReadAgentProgress(pod).phase, Phase::kNone);
  }
}

TEST(AgentProgress, ABindTimeThatIsNotANumberIsNone) {
  objects::Pod pod = MakePod("allocating");
  pod.meta.annotations["hami.io/bind-time"] = "soon";
  EXPECT_EQ(ReadAgentProgress(pod).bound, std::nullopt);
}

}  // namespace
}  // namespace strata
