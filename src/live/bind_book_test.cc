#include "live/bind_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::live {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const kube::PodName kPod{"ns", "p", "u"};

Binder::Outcome OutcomeOf(Binder::Outcome::Kind kind, const std::string& error = "") {
  return {kind, {.pod = kPod, .node = "n0", .annotations = {}}, error};
}

// A book in which the bind of ns/p has just failed, at time 0.
struct AfterFailure {
  AfterFailure() { event = Fail(now); }
  kube::EventNote Fail(net::SteadyTime at) {
    return book.Take(OutcomeOf(Binder::Outcome::Kind::kFailed, "no such node"), at);
  }
  std::vector<std::string> DueAt(net::SteadyTime at) {
    std::vector<std::string> names;
    for (const kube::PodName& pod : book.TakeDue(at)) names.push_back(NameOf(pod));
    return names;
  }
  net::SteadyTime now{seconds(1000)};
  BindBook book{[] { return 1.0; }};
  kube::EventNote event;
};

TEST(BindBook, TellsOfAPodThatIsBound) {
  BindBook book([] { return 1.0; });
  const kube::EventNote event = book.Take(OutcomeOf(Binder::Outcome::Kind::kBound), {});
  EXPECT_EQ(event.type, kube::EventNote::Type::kNormal);
  EXPECT_EQ(event.reason, "Scheduled");
  EXPECT_EQ(event.message, "Successfully assigned ns/p to n0");
  EXPECT_EQ(event.about.uid, "u");
  EXPECT_EQ(book.NextDue(), std::nullopt);
}

TEST(BindBook, APodWhoseBindFailedIsGivenBackOnceAfterAWhile) {
  AfterFailure after;
  EXPECT_EQ(after.event.type, kube::EventNote::Type::kWarning);
  EXPECT_EQ(after.event.message, "bind: no such node");
  EXPECT_THAT(after.DueAt(after.now), IsEmpty()) << "it keeps its room for now";
  const auto due = after.book.NextDue();
  ASSERT_TRUE(due.has_value());
  EXPECT_GT(*due, after.now);
  EXPECT_THAT(after.DueAt(*due), ElementsAre("ns/p"));
  EXPECT_THAT(after.DueAt(*due), IsEmpty());
  EXPECT_EQ(after.book.NextDue(), std::nullopt);
}

TEST(BindBook, WaitsLongerAfterEachFailure) {
  AfterFailure after;
  const net::SteadyTime first = *after.book.NextDue();
  EXPECT_THAT(after.DueAt(first), ElementsAre("ns/p"));
  after.Fail(first);
  EXPECT_GT(*after.book.NextDue() - first, first - after.now);
}

TEST(BindBook, ANewBindMakesAnEarlierFailureVoid) {
  AfterFailure after;
  const net::SteadyTime due = *after.book.NextDue();
  after.book.Begin(kPod);
  EXPECT_THAT(after.DueAt(due), IsEmpty()) << "the room belongs to the new bind";
}

}  // namespace
}  // namespace strata::live
