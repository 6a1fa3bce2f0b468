#include "obs/log.h"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::obs {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class FixedClock : public Clock {
 public:
  [[nodiscard]] Time Now() const override {
    using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)
    return Time(std::chrono::sys_days(std::chrono::year(2026) / 11 / 15)) + 21h + 12min + 42s + 7ms;
  }
};

TEST(FormatLine, LooksAsThatOfEveryKubernetesComponent) {
  EXPECT_EQ(FormatLine(Severity::kWarning,
                       FixedClock().Now(),
                       "scheduler",
                       "gang bound",
                       {{"job", "default/train"}, {"pods", 4}}),
            R"(W1115 21:12:42.007000 scheduler] "gang bound" job="default/train" pods="4")");
}

TEST(FormatLine, OneCallIsOneLineWhateverTheValue) {
  EXPECT_EQ(FormatLine(Severity::kInfo, FixedClock().Now(), "x", "a", {{"k", "1\n2\t\"3\"\\"}}),
            R"(I1115 21:12:42.007000 x] "a" k="1\n2\x09\"3\"\\")");
}

TEST(Log, WritesToEverySinkAndKnowsItsVerbosity) {
  const FixedClock clock;
  RecentLines one(1000);
  RecentLines two(1000);
  Log log("scheduler", clock, {&one, &two});
  EXPECT_FALSE(log.On(3));
  log.set_verbosity(3);
  EXPECT_TRUE(log.On(3));
  log.Error("broken");
  EXPECT_THAT(one.Since(0).lines, ElementsAre(R"(E1115 21:12:42.007000 scheduler] "broken")"));
  EXPECT_THAT(two.Since(0).lines, ElementsAre(R"(E1115 21:12:42.007000 scheduler] "broken")"));
}

TEST(RecentLines, ForgetsTheOldestAndGoesOnWhereAReaderStopped) {
  RecentLines lines(10);
  lines.Write("aaaa");
  lines.Write("bbbb");
  const RecentLines::Read first = lines.Since(0);
  EXPECT_THAT(first.lines, ElementsAre("aaaa", "bbbb"));
  lines.Write("cccc");
  EXPECT_THAT(lines.Since(0).lines, ElementsAre("bbbb", "cccc"));
  EXPECT_THAT(lines.Since(first.next).lines, ElementsAre("cccc"));
  EXPECT_THAT(lines.Since(lines.Since(0).next).lines, IsEmpty());
  EXPECT_THAT(lines.Last(1).lines, ElementsAre("cccc"));
  EXPECT_THAT(lines.Last(9).lines, ElementsAre("bbbb", "cccc"));
}

TEST(RecentLines, KeepsOneLineHoweverLong) {
  RecentLines lines(3);
  lines.Write("abcdef");
  EXPECT_THAT(lines.Since(0).lines, ElementsAre("abcdef"));
}

TEST(RecentLines, TellsListenersUntilTheyGo) {
  RecentLines lines(100);
  int heard = 0;
  {
    const RecentLines::Token token = lines.Subscribe([&heard] { ++heard; });
    lines.Write("a");
  }
  lines.Write("b");
  EXPECT_EQ(heard, 1);
}

}  // namespace
}  // namespace strata::obs
