#include "agent/settlement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/test_pods.h"

namespace strata::agent {
namespace {

using testing::Slot;

KnownPod InitAndMain() {
  KnownPod pod = testing::Pod("a", 1);
  pod.containers = {{.name = "init", .kind = KnownContainer::Kind::kInit, .gpus = 1},
                    {.name = "main", .gpus = 1}};
  return testing::WithRecord(pod, Slot({3}) + Slot({4}));
}

TEST(Settlement, WritesThePhaseOnceEveryContainerIsServed) {
  const KnownPod pod = InitAndMain();
  Journal journal;
  journal.Put({.uid = pod.uid, .container = "init"});
  const Settlement first = SettleServed(pod, journal);
  EXPECT_FALSE(first.done());
  EXPECT_EQ(PatchOf(first, NodeLocked::kNo), "");
  EXPECT_EQ(PatchOf(first, NodeLocked::kYes),
            R"({"metadata":{"annotations":{"hami.io/vgpu-devices-to-allocate":";)" + Slot({4}) +
                R"("},"uid":"uid-a"}})");
  journal.Put({.uid = pod.uid, .container = "main"});
  const Settlement last = SettleServed(pod, journal);
  EXPECT_TRUE(last.done());
  EXPECT_EQ(PatchOf(last, NodeLocked::kNo),
            R"({"metadata":{"annotations":{"hami.io/bind-phase":"success"},"uid":"uid-a"}})");
}

TEST(Settlement, OfARefusalIsFailed) {
  EXPECT_EQ(PatchOf(SettleRefused(InitAndMain()), NodeLocked::kNo),
            R"({"metadata":{"annotations":{"hami.io/bind-phase":"failed"},"uid":"uid-a"}})");
}

TEST(Settlement, ReleasesOnlyTheLockOfThePod) {
  const Settlement settlement = SettleRefused(InitAndMain());
  const auto locked_by = [&](const std::string& pod) {
    return LockedFor(settlement, {{"hami.io/mutex.lock", "2026-01-01T00:00:00Z,ns," + pod}});
  };
  EXPECT_EQ(locked_by("a"), NodeLocked::kYes);
  EXPECT_EQ(locked_by("b"), NodeLocked::kNo);
  EXPECT_EQ(LockedFor(settlement, {}), NodeLocked::kNo);
  EXPECT_EQ(PatchToReleaseLock("17"),
            R"({"metadata":{"annotations":{"hami.io/mutex.lock":null},"resourceVersion":"17"}})");
}

TEST(Settlement, LeavesPodsWithoutARecordAlone) {
  const KnownPod pod = testing::Pod("a", 1);
  Journal journal;
  journal.Put({.uid = pod.uid, .container = "main"});
  EXPECT_EQ(PatchOf(SettleServed(pod, journal), NodeLocked::kYes), "");
  EXPECT_EQ(PatchOf(SettleRefused(pod), NodeLocked::kYes), "");
}

}  // namespace
}  // namespace strata::agent
