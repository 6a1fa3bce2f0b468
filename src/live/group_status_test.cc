#include "live/group_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/timestamp.h"
#include "objects/waiting_advice.h"

namespace strata::live {
namespace {

using ::testing::HasSubstr;

const Moment kFirst{*ParseTimestamp("2026-01-01T00:00:00.5Z"), "1"};
const Moment kLater{*ParseTimestamp("2026-01-01T00:01:00Z"), "2"};
const Refusal kRefusal{"NotEnoughResources", "no room"};

Job Gang(std::int32_t minimum, std::int32_t pending, std::int32_t bound) {
  Job job;
  job.spec.min_available = minimum;
  job.phase = JobPhase::kInqueue;
  job.counts.by_status[static_cast<std::size_t>(TaskStatus::kPending)] = pending;
  job.counts.by_status[static_cast<std::size_t>(TaskStatus::kBound)] = bound;
  return job;
}

const objects::Condition& At(const GroupStatus& status, const char* type) {
  const objects::Condition* condition = objects::FindCondition(status.conditions, type);
  static const objects::Condition none;
  return condition == nullptr ? none : *condition;
}

TEST(NextStatus, ARefusedGangIsUnschedulableWithTheSentence) {
  const GroupStatus next = NextStatus({}, Gang(2, 2, 0), &kRefusal, kFirst);
  EXPECT_EQ(next.phase, "Inqueue");
  EXPECT_EQ(At(next, kUnschedulable).status, "True");
  EXPECT_EQ(At(next, kUnschedulable).reason, "NotEnoughResources");
  EXPECT_EQ(At(next, kUnschedulable).message, "no room");
  EXPECT_EQ(At(next, kUnschedulable).last_transition, kFirst.now);
}

TEST(NextStatus, AGangWithItsMinimumIsScheduledAndNoLongerUnschedulable) {
  const GroupStatus refused = NextStatus({}, Gang(2, 2, 0), &kRefusal, kFirst);
  const GroupStatus next = NextStatus(refused, Gang(2, 1, 2), &kRefusal, kLater);
  EXPECT_EQ(At(next, kScheduled).status, "True");
  EXPECT_EQ(At(next, kUnschedulable).status, "False");
}

// A process that ends now would leave the gang with a part of its pods.
TEST(NextStatus, AGangIsNotScheduledWhileItsPodsAreBeingBound) {
  Job gang = Gang(2, 0, 1);
  gang.counts.by_status[static_cast<std::size_t>(TaskStatus::kBinding)] = 1;
  EXPECT_EQ(At(NextStatus({}, gang, nullptr, kFirst), kScheduled).status, "");
}

TEST(NextStatus, AGangThatLosesAPodWasScheduledOnceAndOneThatBeginsAnewWasNot) {
  const GroupStatus whole = NextStatus({}, Gang(2, 0, 2), nullptr, kFirst);
  const GroupStatus broken = NextStatus(whole, Gang(2, 1, 1), &kRefusal, kLater);
  EXPECT_EQ(At(broken, kScheduled).status, "False");
  EXPECT_EQ(At(NextStatus(broken, Gang(2, 2, 0), &kRefusal, kLater), kScheduled).status, "");
}

TEST(NextStatus, SaysTheSameWhileNothingChanges) {
  const GroupStatus once = NextStatus({}, Gang(2, 2, 0), &kRefusal, kFirst);
  const GroupStatus twice = NextStatus(once, Gang(2, 2, 0), &kRefusal, kLater);
  EXPECT_TRUE(SaysTheSame(once, twice));
  EXPECT_EQ(At(twice, kUnschedulable).last_transition, kFirst.now);
  EXPECT_FALSE(SaysTheSame(once, NextStatus(once, Gang(2, 1, 1), &kRefusal, kLater)) &&
               SaysTheSame(once, NextStatus(once, Gang(2, 0, 2), nullptr, kLater)));
}

TEST(WithAdvice, StaysWithTheSentenceForAsLongAsThatIsTheVerdict) {
  const GroupStatus refused = NextStatus({}, Gang(2, 2, 0), &kRefusal, kFirst);
  const GroupStatus advised = WithAdvice(refused, kRefusal, "start with 1 pod");
  const std::string message = At(advised, kUnschedulable).message;
  EXPECT_EQ(message, kRefusal.message + "; this alone would let it start: start with 1 pod");
  EXPECT_EQ(objects::WithoutAdvice(message), kRefusal.message);
  EXPECT_TRUE(SaysTheSame(advised, NextStatus(advised, Gang(2, 2, 0), &kRefusal, kLater)));
  const Refusal other{kRefusal.reason, "another sentence"};
  EXPECT_EQ(At(NextStatus(advised, Gang(2, 2, 0), &other, kLater), kUnschedulable).message,
            "another sentence");
  EXPECT_TRUE(SaysTheSame(WithAdvice(advised, kRefusal, ""), refused)) << "nothing helps any more";
  EXPECT_TRUE(SaysTheSame(WithAdvice(refused, other, "x"), refused)) << "not what it is about";
}

TEST(IsUrgent, IsTrueForAPhaseOrAVerdictAndFalseForCounts) {
  const GroupStatus fresh = NextStatus({}, Gang(2, 2, 0), nullptr, kFirst);
  const GroupStatus refused = NextStatus(fresh, Gang(2, 2, 0), &kRefusal, kFirst);
  EXPECT_TRUE(IsUrgent(fresh, refused));
  GroupStatus next = refused;
  next.running = 7;
  EXPECT_FALSE(IsUrgent(refused, next));
  EXPECT_FALSE(IsUrgent(refused, NextStatus(refused, Gang(2, 0, 2), nullptr, kLater)));
  next.phase = "Running";
  EXPECT_TRUE(IsUrgent(refused, next));
}

TEST(StatusPatch, IsWhatTheObjectIsToSay) {
  const auto patch =
      nlohmann::json::parse(StatusPatch(NextStatus({}, Gang(2, 2, 0), &kRefusal, kFirst), "u"));
  EXPECT_EQ(patch["metadata"]["uid"], "u");
  EXPECT_EQ(patch["status"]["phase"], "Inqueue");
  EXPECT_EQ(patch["status"]["conditions"][0]["lastTransitionTime"], "2026-01-01T00:00:00Z");
  EXPECT_TRUE(patch["status"]["running"].is_null());
}

TEST(StatusPatch, SurvivesTextThatIsNoUtf8) {
  const Refusal odd{"X", "\xff\xfe"};
  EXPECT_THAT(StatusPatch(NextStatus({}, Gang(1, 1, 0), &odd, kFirst), "u"),
              HasSubstr("Unschedulable"));
}

}  // namespace
}  // namespace strata::live
