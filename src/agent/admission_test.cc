#include "agent/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/test_pods.h"

namespace strata::agent {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::G;
using ::testing::HasSubstr;
using testing::Id;
using testing::Ids;
using ::testing::IsEmpty;
using testing::PodWith;

struct AdmissionCase {
  std::vector<KnownPod> pods;
  Journal journal;
  NodeGpus gpus = testing::EightGpus();
  std::optional<std::string> lock_owner = std::nullopt;

  [[nodiscard]] AdmissionInput Input() const {
    return {.node = testing::kHere,
            .pods = pods,
            .journal = journal,
            .gpus = gpus,
            .lock_owner = lock_owner};
  }
  [[nodiscard]] auto Ask(const std::vector<std::string>& ids) const { return Admit(Input(), ids); }
  void Serve(const KnownPod& pod,
             const std::string& container,
             const std::vector<std::string>& uuids,
             const std::vector<std::string>& ids) {
    journal.Put({.uid = pod.uid,
                 .ns = pod.ns,
                 .pod = pod.name,
                 .container = container,
                 .uuids = uuids,
                 .ids = ids});
  }
};

std::vector<std::string> UuidsIn(const AdmittedSlot& slot) {
  std::vector<std::string> uuids;
  for (const GpuShare& share : slot.shares) uuids.push_back(share.uuid);
  return uuids;
}

TEST(Admission, ARecordDoesNotGiveAwayGpusThatOthersHold) {
  AdmissionCase c{.pods = {PodWith("holder", {1}), PodWith("forger", {1})}};
  for (Gpu& gpu : c.gpus.gpus) gpu.slots = 1;
  c.Serve(c.pods[0], c.pods[0].containers[0].name, {G(1)}, Ids({1}));
  // The kubelet counts it on GPU 2; its record, which anybody can write, names GPU 1.
  const auto slot = c.Ask(Ids({2}));
  ASSERT_FALSE(slot.has_value());
  EXPECT_THAT(slot.error().reason,
              HasSubstr("its record names " + G(1) + ", which other pods hold"));
  c.pods[0].phase = objects::PodPhase::kSucceeded;
  EXPECT_TRUE(c.Ask(Ids({2})).has_value()) << "nobody holds it any more";
}

TEST(Admission, APodThatRunsDoesNotWait) {
  AdmissionCase c{.pods = {PodWith("runs", {1}), PodWith("waits", {2})}};
  c.pods[0].phase = objects::PodPhase::kRunning;
  const auto slot = c.Ask(Ids({2}));
  ASSERT_TRUE(slot.has_value());
  EXPECT_EQ(slot->pod, 1U);
  EXPECT_FALSE(slot->ambiguous);
}

TEST(Admission, GivesThePodThatWaitsItsRecord) {
  const AdmissionCase c{.pods = {PodWith("a", {1, 2})}};
  const auto slot = c.Ask(Ids({2, 1}));
  ASSERT_TRUE(slot.has_value());
  EXPECT_THAT(UuidsIn(*slot), ElementsAre(G(1), G(2)));
  EXPECT_FALSE(slot->ambiguous || slot->ids_differ || slot->again);
}

TEST(Admission, RecordWinsOverOtherIds) {
  const AdmissionCase c{.pods = {PodWith("a", {1, 2})}};
  const auto slot = c.Ask(Ids({5, 6}));
  ASSERT_TRUE(slot.has_value());
  EXPECT_THAT(UuidsIn(*slot), ElementsAre(G(1), G(2)));
  EXPECT_TRUE(slot->ids_differ);
}

TEST(Admission, PodWithoutARecordGetsTheGpusOfTheIds) {
  const AdmissionCase c{.pods = {testing::Pod("a", 2)}};
  const auto slot = c.Ask(Ids({6, 5}));
  ASSERT_TRUE(slot.has_value());
  EXPECT_FALSE(slot->has_record);
  EXPECT_THAT(UuidsIn(*slot), ElementsAre(G(5), G(6)));
}

TEST(Admission, ServesContainersInTheirOrder) {
  KnownPod pod = testing::Pod("a", 1);
  pod.containers = {{.name = "init", .kind = KnownContainer::Kind::kInit, .gpus = 1},
                    {.name = "plain"},
                    {.name = "main", .gpus = 1}};
  pod = testing::WithRecord(pod, testing::Slot({3}) + ";" + testing::Slot({4}));
  AdmissionCase c{.pods = {pod}};
  EXPECT_EQ(c.Ask(Ids({3}))->container, 0U);
  c.Serve(pod, "init", {G(3)}, Ids({3}));
  // The kubelet gives the main container the id of the init container, which ends before it.
  const auto slot = c.Ask(Ids({3}));
  ASSERT_TRUE(slot.has_value());
  EXPECT_EQ(slot->container, 2U);
  EXPECT_THAT(UuidsIn(*slot), ElementsAre(G(4)));
  EXPECT_TRUE(slot->ids_differ);
}

TEST(Admission, RebuiltJournalWithoutTheInitContainerDoesNotMakeItWait) {
  KnownPod pod = testing::Pod("a", 1);
  pod.containers = {{.name = "init", .kind = KnownContainer::Kind::kInit, .gpus = 1},
                    {.name = "main", .gpus = 1}};
  pod = testing::WithRecord(pod, testing::Slot({3}) + testing::Slot({3}));
  AdmissionCase c{.pods = {pod, PodWith("b", {5}, 10)}};
  c.Serve(pod, "main", {G(3)}, Ids({3}));
  const auto slot = c.Ask(Ids({5}));
  ASSERT_TRUE(slot.has_value());
  EXPECT_EQ(slot->pod, 1U);
  EXPECT_FALSE(slot->ambiguous);
}

TEST(Admission, OfSeveralTheOneWhoseGpusTheIdsHaveThenTheOldest) {
  const AdmissionCase c{.pods = {PodWith("young", {1}, 20), PodWith("old", {2}, 10)}};
  const auto by_ids = c.Ask(Ids({1}));
  ASSERT_TRUE(by_ids.has_value());
  EXPECT_EQ(by_ids->pod, 0U);
  EXPECT_TRUE(by_ids->ambiguous);
  const auto by_age = c.Ask(Ids({7}));
  ASSERT_TRUE(by_age.has_value());
  EXPECT_EQ(by_age->pod, 1U);
  EXPECT_TRUE(by_age->ambiguous);
}

TEST(Admission, IgnoresPodsThatHaveEndedAndThoseThatAskForAnotherNumber) {
  KnownPod failed = PodWith("failed", {1});
  failed.phase = objects::PodPhase::kFailed;
  const AdmissionCase c{.pods = {failed, PodWith("two", {2, 3}), PodWith("one", {4})}};
  const auto slot = c.Ask(Ids({1}));
  ASSERT_TRUE(slot.has_value());
  EXPECT_EQ(c.pods[slot->pod].name, "one");
  EXPECT_FALSE(slot->ambiguous);
}

TEST(Admission, LockSaysWhichPodIsMeant) {
  AdmissionCase c{.pods = {PodWith("a", {1}, 1), PodWith("b", {2}, 2)}};
  c.lock_owner = "ns/b";
  const auto slot = c.Ask(Ids({1}));
  ASSERT_TRUE(slot.has_value());
  EXPECT_EQ(slot->pod, 1U);
  EXPECT_FALSE(slot->ambiguous);
  c.lock_owner = "ns/c";
  EXPECT_THAT(c.Ask(Ids({1})).error().reason, HasSubstr("the lock names ns/c"));
}

TEST(Admission, WithoutALockOnlyPodsWithoutARecordCanBeMeant) {
  AdmissionCase c{.pods = {PodWith("a", {1}, 1)}};
  c.lock_owner = "";
  EXPECT_THAT(c.Ask(Ids({5})).error().reason, HasSubstr("the Node has no lock"));
  c.pods.push_back(testing::Pod("plain", 1, 2));
  const auto slot = c.Ask(Ids({5}));
  ASSERT_TRUE(slot.has_value());
  EXPECT_EQ(c.pods[slot->pod].name, "plain");
}

TEST(Admission, RefusesWithPodContainerAskedAndFound) {
  const AdmissionCase c{.pods = {PodWith("a", {1, 2})}};
  const auto refused = c.Ask(Ids({1}));
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().reason,
              AllOf(HasSubstr("pod ns/a, container main"),
                    HasSubstr("asked for 1 GPU (GPU-x-1-0)"),
                    HasSubstr("found: it needs 2 GPUs")));
  EXPECT_EQ(refused.error().pod, 0U);
  const AdmissionCase none;
  EXPECT_THAT(none.Ask(Ids({1})).error().reason, HasSubstr("found: none"));
}

TEST(Admission, RefusesForgedRecords) {
  KnownPod pod = PodWith("a", {1});
  pod.annotations["hami.io/vgpu-node"] = "n2";
  EXPECT_THAT((AdmissionCase{.pods = {pod}}).Ask(Ids({1})).error().reason,
              HasSubstr("its record is for node \"n2\""));
  pod = testing::WithRecord(testing::Pod("a", 1), testing::Slot({1, 2}));
  EXPECT_THAT((AdmissionCase{.pods = {pod}}).Ask(Ids({1})).error().reason,
              HasSubstr("its record has 2"));
}

TEST(Admission, RefusesAGpuThatIsNotHealthy) {
  AdmissionCase c{.pods = {PodWith("a", {1})}};
  c.gpus.gpus[1].healthy = false;
  EXPECT_THAT(c.Ask(Ids({1})).error().reason, HasSubstr("GPU-x-1 is not healthy"));
}

TEST(Admission, ServesAgainAfterTheKubeletLostItsCheckpoint) {
  const KnownPod a = PodWith("a", {1});
  const KnownPod b = PodWith("b", {2});
  AdmissionCase c{.pods = {a, b}};
  c.Serve(a, "main", {G(1)}, Ids({1}));
  c.Serve(b, "main", {G(2)}, Ids({2}));
  const auto slot = c.Ask(Ids({2}));
  ASSERT_TRUE(slot.has_value());
  EXPECT_EQ(slot->pod, 1U);
  EXPECT_TRUE(slot->again);
  EXPECT_FALSE(c.Ask(Ids({7})).has_value());  // which of the two cannot be said
  c.pods.pop_back();
  EXPECT_TRUE(c.Ask(Ids({7})).has_value());
}

TEST(Admission, WantsTheRecordOfTheContainerThatWaits) {
  const AdmissionCase c{.pods = {PodWith("young", {1}, 20), PodWith("old", {2}, 10)}};
  EXPECT_THAT(WantedBy(c.Input(), 1, Ids({1, 2, 3})).uuids, ElementsAre(G(2)));
  EXPECT_THAT(WantedBy(c.Input(), 2, Ids({1, 2, 3})).uuids, IsEmpty());
}

TEST(Admission, WantsTheIdsThatTheKubeletHasForgotten) {
  const KnownPod a = PodWith("a", {1});
  const KnownPod b = PodWith("b", {2});
  AdmissionCase c{.pods = {a, b}};
  c.Serve(a, "main", {G(1)}, {Id(1)});
  c.Serve(b, "main", {G(2)}, {Id(2)});
  EXPECT_THAT(WantedBy(c.Input(), 1, Ids({2, 3})).ids, ElementsAre(Id(2)));
  EXPECT_THAT(WantedBy(c.Input(), 1, Ids({3, 4})).ids, IsEmpty());
}

}  // namespace
}  // namespace strata::agent
