#include "agent/reconcile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/test_pods.h"

namespace strata::agent {
namespace {

using ::testing::ElementsAre;
using testing::G;
using ::testing::HasSubstr;
using testing::Ids;
using ::testing::IsEmpty;
using testing::PodWith;
using ::testing::SizeIs;

constexpr Time kReconcileNow{std::chrono::hours(1)};

struct ReconcileCase {
  std::vector<KnownPod> pods;
  Journal journal;
  std::vector<HeldDevices> held;
  NodeGpus gpus = testing::EightGpus();

  void Served(const KnownPod& pod, int gpu, int id, Time when = Time{}) {
    journal.Put({.uid = pod.uid,
                 .ns = pod.ns,
                 .pod = pod.name,
                 .container = "main",
                 .uuids = {G(gpu)},
                 .ids = Ids({id}),
                 .served = when});
  }
  void Holds(const KnownPod& pod, int id) {
    held.push_back({.ns = pod.ns, .pod = pod.name, .container = "main", .ids = Ids({id})});
  }
  [[nodiscard]] Reconciliation Run() const {
    return Reconcile({.node = testing::kHere,
                      .journal = journal,
                      .held = held,
                      .pods = pods,
                      .gpus = gpus,
                      .now = kReconcileNow});
  }
};

TEST(Reconcile, FindsNothingWhereAllAgree) {
  const KnownPod a = PodWith("a", {1});
  ReconcileCase c{.pods = {a}};
  c.Served(a, 1, 1);
  c.Holds(a, 1);
  const Reconciliation result = c.Run();
  EXPECT_THAT(result.differences, IsEmpty());
  EXPECT_THAT(result.corrections, IsEmpty());
  EXPECT_EQ(result.journal, c.journal);
}

TEST(Reconcile, RebuildsALostJournal) {
  const KnownPod a = PodWith("a", {1});
  const KnownPod plain = testing::Pod("plain", 1);
  ReconcileCase c{.pods = {a, plain}};
  c.Holds(a, 4);
  c.Holds(plain, 5);
  const Reconciliation result = c.Run();
  ASSERT_NE(result.journal.Find(a.uid, "main"), nullptr);
  EXPECT_THAT(result.journal.Find(a.uid, "main")->uuids, ElementsAre(G(1)));  // by its record
  EXPECT_THAT(result.journal.Find(a.uid, "main")->ids, ElementsAre(testing::Id(4)));
  EXPECT_THAT(result.journal.Find(plain.uid, "main")->uuids, ElementsAre(G(5)));
  ASSERT_THAT(result.differences, SizeIs(2));
  EXPECT_EQ(result.differences[0].kind, Difference::Kind::kUnknown);
}

TEST(Reconcile, CorrectsTwoPodsThatHoldEachOthersSets) {
  const KnownPod a = PodWith("a", {1});
  const KnownPod b = PodWith("b", {2});
  ReconcileCase c{.pods = {a, b}};
  c.Served(a, 1, 1);
  c.Served(b, 2, 2);
  c.Holds(a, 2);
  c.Holds(b, 1);
  const Reconciliation result = c.Run();
  EXPECT_THAT(result.journal.Find(a.uid, "main")->uuids, ElementsAre(G(2)));
  EXPECT_THAT(result.journal.Find(b.uid, "main")->uuids, ElementsAre(G(1)));
  ASSERT_THAT(result.corrections, SizeIs(2));
  EXPECT_EQ(result.corrections[0].pod, "a");
  EXPECT_EQ(result.corrections[0].annotations.at("hami.io/vgpu-devices-allocated"),
            testing::Slot({2}));
  EXPECT_THAT(result.corrections[0].annotations, SizeIs(1));
  ASSERT_THAT(result.differences, SizeIs(2));
  EXPECT_EQ(result.differences[0].kind, Difference::Kind::kSwapped);
  EXPECT_THAT(result.differences[0].message, HasSubstr("meant for pod ns/b"));

  // Once it is corrected there is nothing to say.
  ReconcileCase after = c;
  after.journal = result.journal;
  EXPECT_THAT(after.Run().differences, IsEmpty());
}

TEST(Reconcile, LeavesAThreeCycleAndReportsIt) {
  const KnownPod a = PodWith("a", {1});
  const KnownPod b = PodWith("b", {2});
  const KnownPod d = PodWith("d", {3});
  ReconcileCase c{.pods = {a, b, d}};
  c.Served(a, 1, 1);
  c.Served(b, 2, 2);
  c.Served(d, 3, 3);
  c.Holds(a, 2);
  c.Holds(b, 3);
  c.Holds(d, 1);
  const Reconciliation result = c.Run();
  EXPECT_THAT(result.corrections, IsEmpty());
  ASSERT_THAT(result.differences, SizeIs(3));
  EXPECT_EQ(result.differences[0].kind, Difference::Kind::kOther);
  EXPECT_EQ(result.journal, c.journal);
}

TEST(Reconcile, DoesNotJudgeWhatWasJustServed) {
  const KnownPod a = PodWith("a", {1});
  const KnownPod gone = PodWith("gone", {2});
  ReconcileCase c{.pods = {a}};
  c.Served(a, 1, 1, kReconcileNow - std::chrono::seconds(1));
  c.Served(gone, 2, 2, kReconcileNow - std::chrono::seconds(1));
  c.Holds(a, 5);
  const Reconciliation result = c.Run();
  EXPECT_THAT(result.differences, IsEmpty());
  EXPECT_EQ(result.journal, c.journal);
}

TEST(Reconcile, DropsPodsThatAreGoneOrHaveEnded) {
  const KnownPod gone = PodWith("gone", {1});
  KnownPod ended = PodWith("ended", {2});
  ended.phase = objects::PodPhase::kSucceeded;
  ReconcileCase c{.pods = {ended}};
  c.Served(gone, 1, 1);
  c.Served(ended, 2, 2);
  EXPECT_THAT(c.Run().journal.entries(), IsEmpty());
}

}  // namespace
}  // namespace strata::agent
