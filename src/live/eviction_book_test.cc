#include "live/eviction_book.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "live/bind_book.h"

namespace strata::live {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
using Outcome = EvictionBook::Outcome;

constexpr net::SteadyTime kNow{seconds(1000)};

std::vector<std::string> Texts(const EvictionBook::Steps& steps) {
  constexpr const char* kWords[] = {
      "try", "nominate", "mark", "delete", "evict", "unmark", "clear"};
  std::vector<std::string> texts;
  texts.reserve(steps.size());
  for (const EvictionStep& step : steps) {
    texts.push_back(std::string(kWords[static_cast<int>(step.kind)]) + " " + NameOf(step.pod));
  }
  return texts;
}

EvictionOrder Order(bool budgeted = false) {
  return {.job = "ns/high",
          .action = "preempt",
          .reason = "preempt: ns/high needs room",
          .nominations = {{{"ns", "h0", "u0"}, "node0"}, {{"ns", "h1", "u1"}, "node1"}},
          .victims = {{{"ns", "v0", "w0"}, budgeted}, {{"ns", "v1", "w1"}, false}}};
}

struct BookCase {
  EvictionBook book{[] { return 0.5; }};

  // Answers all steps alike, and returns what follows.
  EvictionBook::Steps Answer(const EvictionBook::Steps& steps, StepAnswer answer) {
    EvictionBook::Steps next;
    for (const EvictionStep& step : steps) {
      for (EvictionStep& one : book.Take(step, answer, kNow)) next.push_back(std::move(one));
    }
    return next;
  }
};

TEST(EvictionBook, NominatesThenMarksAllVictimsThenDeletesThem) {
  BookCase plan;
  EvictionBook::Steps steps = plan.book.Begin(Order());
  EXPECT_THAT(Texts(steps), ElementsAre("nominate ns/h0", "nominate ns/h1"));
  EXPECT_THAT(plan.book.Take(steps[0], StepAnswer::kDone, kNow), IsEmpty())
      << "not before the last nomination";
  steps = plan.book.Take(steps[1], StepAnswer::kDone, kNow);
  EXPECT_THAT(Texts(steps), ElementsAre("mark ns/v0", "mark ns/v1"));
  steps = plan.Answer(steps, StepAnswer::kDone);
  EXPECT_THAT(Texts(steps), ElementsAre("delete ns/v0", "delete ns/v1"));
  EXPECT_THAT(plan.book.TakeOutcomes(), IsEmpty());
  plan.Answer(steps, StepAnswer::kGone);
  const std::vector<Outcome> outcomes = plan.book.TakeOutcomes();
  ASSERT_THAT(outcomes, SizeIs(1));
  EXPECT_EQ(outcomes[0].kind, Outcome::Kind::kGone);
  EXPECT_FALSE(plan.book.IsBusyFor("ns/high"));
}

TEST(EvictionBook, AsksBudgetsFirstAndDropsThePlanWhenOneRefuses) {
  BookCase plan;
  const EvictionBook::Steps steps = plan.book.Begin(Order(/*budgeted=*/true));
  EXPECT_THAT(Texts(steps), ElementsAre("try ns/v0"));
  EXPECT_THAT(plan.Answer(steps, StepAnswer::kRefused), IsEmpty()) << "there is nothing to undo";
  const std::vector<Outcome> outcomes = plan.book.TakeOutcomes();
  ASSERT_THAT(outcomes, SizeIs(1));
  EXPECT_EQ(outcomes[0].kind, Outcome::Kind::kDropped);
  EXPECT_EQ(outcomes[0].why, "the budget of pod ns/v0 refuses");
}

TEST(EvictionBook, PodsWithABudgetGoThroughIt) {
  BookCase plan;
  EvictionBook::Steps steps = plan.book.Begin(Order(/*budgeted=*/true));
  for (int phase = 0; phase < 3; ++phase) steps = plan.Answer(steps, StepAnswer::kDone);
  EXPECT_THAT(Texts(steps), ElementsAre("evict ns/v0", "delete ns/v1"));
  EXPECT_THAT(plan.Answer({steps[0]}, StepAnswer::kRefused), IsEmpty());
  EXPECT_THAT(Texts(plan.book.TakeDue(kNow + seconds(60))), ElementsAre("evict ns/v0"))
      << "others have gone: it is asked until it agrees";
}

TEST(EvictionBook, WhatHasNoAnswerIsSentAgain) {
  BookCase plan;
  EvictionBook::Steps steps = plan.book.Begin(Order());
  static_cast<void>(plan.book.Take(steps[0], StepAnswer::kNone, kNow));
  EXPECT_THAT(plan.book.TakeDue(kNow), IsEmpty());
  ASSERT_TRUE(plan.book.NextDue());
  EXPECT_THAT(Texts(plan.book.TakeDue(*plan.book.NextDue())), ElementsAre("nominate ns/h0"));
  EXPECT_EQ(plan.book.NextDue(), std::nullopt);
}

TEST(EvictionBook, APodOfTheClaimantThatIsGoneDropsThePlan) {
  BookCase plan;
  const EvictionBook::Steps steps = plan.book.Begin(Order());
  const EvictionBook::Steps undo = plan.book.Take(steps[0], StepAnswer::kGone, kNow);
  EXPECT_THAT(Texts(undo), ElementsAre("clear ns/h0", "clear ns/h1"));
  EXPECT_THAT(plan.book.Take(steps[1], StepAnswer::kDone, kNow), IsEmpty());
}

TEST(EvictionBook, CanBeCancelledUntilTheFirstDeletion) {
  BookCase plan;
  EvictionBook::Steps steps = plan.Answer(plan.book.Begin(Order()), StepAnswer::kDone);
  EvictionBook::Steps undo;
  EXPECT_TRUE(plan.book.Cancel("ns/high", "it started elsewhere", undo));
  EXPECT_THAT(Texts(undo),
              UnorderedElementsAre("clear ns/h0", "clear ns/h1", "unmark ns/v0", "unmark ns/v1"));
  EXPECT_EQ(plan.book.TakeOutcomes().at(0).kind, Outcome::Kind::kCancelled);

  steps = plan.Answer(plan.book.Begin(Order()), StepAnswer::kDone);
  steps = plan.Answer(steps, StepAnswer::kDone);
  EXPECT_THAT(Texts(steps), ElementsAre("delete ns/v0", "delete ns/v1"));
  EXPECT_FALSE(plan.book.Cancel("ns/high", "too late", undo));
}

TEST(EvictionBook, WhatANewPlanWantsIsNotTakenBack) {
  BookCase plan;
  static_cast<void>(plan.book.Begin(Order()));
  EvictionBook::Steps undo;
  ASSERT_TRUE(plan.book.Cancel("ns/high", "", undo));
  static_cast<void>(plan.book.Take(undo[0], StepAnswer::kNone, kNow));
  static_cast<void>(plan.book.Begin(Order()));
  static_cast<void>(plan.book.Take(undo[1], StepAnswer::kNone, kNow));
  EXPECT_THAT(plan.book.TakeDue(kNow + seconds(60)), IsEmpty());
}

// The claim ended while the last of its victims could not be deleted, and the job evicts others.
TEST(EvictionBook, AJobMayHaveAnotherPlanWhileVictimsOfItsFirstOneStillGo) {
  BookCase plan;
  EvictionBook::Steps first = plan.Answer(plan.book.Begin(Order()), StepAnswer::kDone);
  first = plan.Answer(first, StepAnswer::kDone);
  EvictionOrder other = Order();
  other.victims = {{{"ns", "v2", "w2"}, false}};
  EvictionBook::Steps second = plan.book.Begin(other);
  EXPECT_THAT(Texts(second), ElementsAre("nominate ns/h0", "nominate ns/h1"));
  plan.Answer(first, StepAnswer::kDone);
  EXPECT_THAT(plan.book.TakeOutcomes(), SizeIs(1));
  EXPECT_TRUE(plan.book.IsBusyFor("ns/high"));
}

TEST(EvictionBook, GoesOnFromTheConditions) {
  BookCase plan;
  EvictionOrder order = Order();
  order.nominations.clear();
  EXPECT_THAT(Texts(plan.book.GoOn(order)), ElementsAre("mark ns/v0", "mark ns/v1"));
  order.job = "ns/next";
  order.victims.clear();
  EXPECT_THAT(plan.book.GoOn(order), IsEmpty());
  EXPECT_THAT(plan.book.TakeOutcomes(), SizeIs(1)) << "all its victims are going already";
}

}  // namespace
}  // namespace strata::live
