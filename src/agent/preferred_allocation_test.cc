#include "agent/preferred_allocation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/test_pods.h"

namespace strata::agent {
namespace {

using testing::EightGpus;
using ::testing::ElementsAre;
using testing::G;
using testing::Id;
using testing::Ids;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

TEST(PreferredAllocation, IsTheRecordOfThePodThatWaits) {
  const PreferredRequest request{Ids({0, 1, 2, 3, 4, 5, 6, 7}), {}, 2};
  EXPECT_THAT(PreferIds(EightGpus(), request, {.uuids = {G(5), G(2)}, .ids = {}}),
              ElementsAre(Id(5), Id(2)));
}

TEST(PreferredAllocation, KeepsWhatTheKubeletHasAlready) {
  const PreferredRequest request{Ids({0, 2, 5}), Ids({5}), 2};
  EXPECT_THAT(PreferIds(EightGpus(), request, {.uuids = {G(2), G(5)}, .ids = {}}),
              UnorderedElementsAre(Id(5), Id(2)));
}

TEST(PreferredAllocation, WithoutARecordIsTheBestSetByLinks) {
  // dgx1v: GPUs 2 and 3 have the best pair, 0 and 7 the worst.
  const PreferredRequest request{Ids({0, 2, 3, 7}), {}, 2};
  EXPECT_THAT(PreferIds(EightGpus(), request, {}), UnorderedElementsAre(Id(2), Id(3)));
}

TEST(PreferredAllocation, BestSetHasTheGpusThatMustBeIncluded) {
  // GPU 0 is linked to 3 (230) better than to 1, 2 and 4.
  const PreferredRequest request{Ids({0, 1, 2, 3, 4}), Ids({0}), 2};
  EXPECT_THAT(PreferIds(EightGpus(), request, {}), ElementsAre(Id(0), Id(3)));
}

TEST(PreferredAllocation, TakesFreeGpusBeforeSharedOnes) {
  // Two ids for each GPU: one of GPU 2 and of GPU 3 is in use, GPUs 0 and 7 are free.
  const PreferredRequest request{
      {Id(2, 1), Id(3, 0), Id(0, 0), Id(0, 1), Id(7, 0), Id(7, 1)}, {}, 2};
  EXPECT_THAT(PreferIds(EightGpus(2), request, {}), UnorderedElementsAre(Id(0, 0), Id(7, 0)));
}

TEST(PreferredAllocation, FillsUpWithWhateverIsThere) {
  const PreferredRequest shared{{Id(2, 1), "GPU-z-0", Id(0, 0), Id(0, 1)}, {}, 4};
  EXPECT_THAT(PreferIds(EightGpus(2), shared, {}),
              ElementsAre(Id(0, 0), Id(2, 1), Id(0, 1), "GPU-z-0"));
  const PreferredRequest few{Ids({1}), {}, 3};
  EXPECT_THAT(PreferIds(EightGpus(), few, {.uuids = {G(4)}, .ids = {}}), ElementsAre(Id(1)));
}

TEST(PreferredAllocation, NeverFails) {
  EXPECT_THAT(PreferIds({}, {}, {}), IsEmpty());
  EXPECT_THAT(PreferIds({}, {{"a", "b"}, {"a"}, 2}, {{"c"}, {"d"}}), ElementsAre("a", "b"));
  NodeGpus without_scores = EightGpus();
  without_scores.scores = {};
  EXPECT_THAT(PreferIds(without_scores, {Ids({4, 5, 6}), {}, 2}, {}), SizeIs(2));
  // More must be included than are asked for: the kubelet has them in any case.
  EXPECT_THAT(PreferIds(EightGpus(), {Ids({1, 2}), Ids({1, 2}), 1}, {}), SizeIs(2));
}

TEST(PreferredAllocation, ReturnsForgottenIdsThemselves) {
  const PreferredRequest request{{Id(2, 0), Id(2, 1), Id(3, 0)}, {}, 1};
  EXPECT_THAT(PreferIds(EightGpus(2), request, {.uuids = {G(2)}, .ids = {Id(2, 1)}}),
              ElementsAre(Id(2, 1)));
}

}  // namespace
}  // namespace strata::agent
