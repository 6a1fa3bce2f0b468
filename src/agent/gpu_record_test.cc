#include "agent/gpu_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/test_pods.h"

namespace strata::agent {
namespace {

using testing::EightGpus;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kHere;
using ::testing::SizeIs;
using testing::Slot;

KnownPod ThreeContainers(const std::string& record) {
  KnownPod pod = testing::Pod("p", 1);
  pod.containers = {{.name = "first", .gpus = 1}, {.name = "plain"}, {.name = "last", .gpus = 2}};
  return testing::WithRecord(std::move(pod), record);
}

TEST(GpuRecord, HasTheGpusOfEachContainer) {
  const GpuRecord record =
      ReadGpuRecord(ThreeContainers(Slot({3}) + ";" + Slot({1, 2})), kHere, EightGpus());
  EXPECT_TRUE(record.present);
  EXPECT_EQ(record.problem, "");
  ASSERT_THAT(record.containers, SizeIs(3));
  EXPECT_EQ(record.containers[0][0].uuid, testing::G(3));
  EXPECT_THAT(record.containers[1], IsEmpty());
  EXPECT_EQ(record.containers[2][1].uuid, testing::G(2));
}

TEST(GpuRecord, IsReadWithoutSlotsOfContainersThatHaveNoGpus) {
  const GpuRecord record =
      ReadGpuRecord(ThreeContainers(Slot({3}) + Slot({1, 2})), kHere, EightGpus());
  EXPECT_EQ(record.problem, "");
  EXPECT_THAT(record.containers[1], IsEmpty());
  EXPECT_THAT(record.containers[2], SizeIs(2));
}

TEST(GpuRecord, IsAbsentWhereNoSchedulerChose) {
  const GpuRecord record = ReadGpuRecord(testing::Pod("p", 1), kHere, EightGpus());
  EXPECT_FALSE(record.present);
  EXPECT_EQ(record.problem, "");
}

TEST(GpuRecord, OfAnotherNodeOrOfForeignGpusIsNotUsed) {
  const KnownPod elsewhere = testing::WithRecord(testing::Pod("p", 1), Slot({1}), "n2");
  EXPECT_EQ(ReadGpuRecord(elsewhere, kHere, EightGpus()).problem, "is for node \"n2\"");
  const KnownPod foreign = testing::WithRecord(testing::Pod("p", 1), "GPU-z,NVIDIA,1,1:;");
  EXPECT_THAT(ReadGpuRecord(foreign, kHere, EightGpus()).problem, HasSubstr("GPU-z, which"));
  const KnownPod huge = testing::WithRecord(testing::Pod("p", 1), std::string(70'000, 'x'));
  EXPECT_THAT(ReadGpuRecord(huge, kHere, EightGpus()).problem, HasSubstr("bytes"));
  const KnownPod other = ThreeContainers(Slot({1}));
  EXPECT_THAT(ReadGpuRecord(other, kHere, EightGpus()).problem, HasSubstr("does not fit"));
}

TEST(GpuRecord, LosesTheSlotsThatWereServed) {
  const KnownPod pod = ThreeContainers(Slot({3}) + ";" + Slot({1, 2}));
  EXPECT_EQ(BlankSlots(pod, {true, true, false}), ";;" + Slot({1, 2}));
  EXPECT_EQ(BlankSlots(pod, {true, true, true}), ";;;");
  EXPECT_EQ(BlankSlots(pod, {false, false, false}), Slot({3}) + ";" + Slot({1, 2}));
  EXPECT_EQ(BlankSlots(ThreeContainers(Slot({3}) + Slot({1, 2})), {true, true, false}),
            ";" + Slot({1, 2}));
}

}  // namespace
}  // namespace strata::agent
