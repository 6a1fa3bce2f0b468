#include "explain/kept_relaxations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::IsNull;
using testing::Pointee;

const Refusal kFull{"NotEnoughResources", "2 of 4 pods fit"};
const Refusal kFuller{"NotEnoughResources", "1 of 4 pods fit"};
const Refusal kClosed{"QueueClosed", "2 of 4 pods fit"};

// An answer that can be told from others.
RelaxationReport Answer(std::size_t solved) {
  RelaxationReport report;
  report.solved = solved;
  return report;
}

auto IsAnswer(std::size_t solved) {
  return Pointee(Field(&RelaxationReport::solved, solved));
}

TEST(KeptRelaxations, AJobThatBeginsToWaitIsDue) {
  KeptRelaxations kept;
  EXPECT_THAT(kept.Due(), IsEmpty());
  kept.Follow({{"ns/b", kFull}, {"ns/a", kFull}});
  EXPECT_THAT(kept.Due(), ElementsAre("ns/a", "ns/b"));
  EXPECT_THAT(kept.Find("ns/a", kFull), IsNull());
}

TEST(KeptRelaxations, AnAnswerHoldsWhileTheVerdictDoes) {
  KeptRelaxations kept;
  kept.Follow({{"ns/a", kFull}, {"ns/b", kFull}});
  kept.Keep("ns/a", kFull, Answer(7));
  kept.Follow({{"ns/a", kFull}, {"ns/b", kFull}});
  EXPECT_THAT(kept.Due(), ElementsAre("ns/b"));
  EXPECT_THAT(kept.Find("ns/a", kFull), IsAnswer(7));
}

TEST(KeptRelaxations, AnotherSentenceOrAnotherWordMakesTheJobDueAgain) {
  for (const Refusal& other : {kFuller, kClosed}) {
    KeptRelaxations kept;
    kept.Follow({{"ns/a", kFull}});
    kept.Keep("ns/a", kFull, Answer(7));
    kept.Follow({{"ns/a", other}});
    EXPECT_THAT(kept.Due(), ElementsAre("ns/a"));
    EXPECT_THAT(kept.Find("ns/a", kFull), IsNull());
    EXPECT_THAT(kept.Find("ns/a", other), IsNull());
  }
}

TEST(KeptRelaxations, AJobThatStartedIsForgottenAndDueWhenItWaitsAgain) {
  KeptRelaxations kept;
  kept.Follow({{"ns/a", kFull}});
  kept.Keep("ns/a", kFull, Answer(7));
  kept.Follow({});
  EXPECT_THAT(kept.Due(), IsEmpty());
  EXPECT_THAT(kept.VerdictOf("ns/a"), IsNull());
  kept.Follow({{"ns/a", kFull}});
  EXPECT_THAT(kept.Due(), ElementsAre("ns/a"));
}

TEST(KeptRelaxations, DropsTheAnswerToAPreviousVerdict) {
  KeptRelaxations kept;
  kept.Follow({{"ns/a", kFull}});
  kept.Follow({{"ns/a", kFuller}});
  kept.Keep("ns/a", kFull, Answer(7));
  kept.Keep("ns/gone", kFull, Answer(8));
  EXPECT_THAT(kept.Due(), ElementsAre("ns/a"));
  EXPECT_THAT(kept.Find("ns/a", kFuller), IsNull());
  EXPECT_THAT(kept.Find("ns/gone", kFull), IsNull());
}

TEST(KeptRelaxations, TheJobThatIsDueForLongestComesFirstEvenIfItsVerdictChanges) {
  KeptRelaxations kept;
  kept.Follow({{"ns/z", kFull}});
  kept.Follow({{"ns/z", kFuller}, {"ns/a", kFull}});
  EXPECT_THAT(kept.Due(), ElementsAre("ns/z", "ns/a"));
  kept.Keep("ns/z", kFuller, Answer(1));
  kept.Follow({{"ns/z", kFull}, {"ns/a", kFuller}});
  EXPECT_THAT(kept.Due(), ElementsAre("ns/a", "ns/z"));
}

}  // namespace
}  // namespace strata
