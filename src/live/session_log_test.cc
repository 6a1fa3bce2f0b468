#include "live/session_log.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/scheduler.h"
#include "whatif/cluster.h"
#include "whatif/test_support.h"

namespace strata::live {
namespace {

class StillClock final : public Clock {
 public:
  [[nodiscard]] Time Now() const override { return Time{}; }
};

class KeptLines final : public obs::LogSink {
 public:
  void Write(std::string_view line) override { text.append(line).append("\n"); }
  std::string text;
};

// What two cycles on eight nodes log at this verbosity: a gang of two is placed below one leaf, and
// a gang of three fits below none.
std::string LinesAt(int verbosity) {
  const std::string topology = "mode: hard, highestTierAllowed: 1";
  LoadedCluster cluster =
      BuildCluster(objects::MustLoad(EightNodes("cpu: 1") + GangOf("fits", 2, "cpu: 1", topology) +
                                     GangOf("large", 3, "cpu: 1", topology)))
          .value();
  const auto scheduler =
      std::move(Scheduler::Make(DefaultSchedulerConfig(), *cluster.state).value().scheduler);
  const StillClock clock;
  KeptLines lines;
  obs::Log log("scheduler", clock, {&lines});
  log.set_verbosity(verbosity);
  // The second cycle opens with the HyperNode that the first has given.
  for (int cycle = 0; cycle < 2; ++cycle) {
    std::optional<SessionLog> trace;
    if (log.On(SessionLog::kLeastVerbosity)) trace.emplace(log);
    scheduler->Open(Time{}, trace ? &*trace : nullptr);
    LogOpenSession(log, *cluster.state, /*first=*/cycle == 0);
    scheduler->RunActions();
    LogDecisions(log, *cluster.state, scheduler->Close());
  }
  return lines.text;
}

// The scheduler's lines of docs/stable-lines.md, and the lowest verbosity that logs them.
struct StableLine {
  const char* words;
  int verbosity;
};
constexpr StableLine kStableLines[] = {{"HyperNodesReadyToSchedule", 3},
                                       {"AllocatedHyperNode", 3},
                                       {"build hyperNode gradient fail", 3},
                                       {"AllocatedHyperNode in session", 4},
                                       {"networkTopologyAware hyperNode score", 4},
                                       {"networkTopologyAware node score", 4},
                                       {"hyperNode in session", 5},
                                       {"hyperNode binpacking score calculation", 5}};

TEST(SessionLog, LogsEachStableLineFromItsVerbosityOn) {
  for (int verbosity = 0; verbosity <= 5; ++verbosity) {
    const std::string lines = LinesAt(verbosity);
    for (const StableLine& line : kStableLines) {
      EXPECT_EQ(lines.find(line.words) != std::string::npos, verbosity >= line.verbosity)
          << line.words << " at -v " << verbosity;
    }
  }
}

TEST(SessionLog, NamesTheHyperNodeOfAJobAndWhyNoneTakesAnother) {
  const std::string lines = LinesAt(4);
  EXPECT_THAT(
      lines,
      testing::HasSubstr(
          R"("AllocatedHyperNode in session" job="default/fits-fits" AllocatedHyperNode="s0")"));
  EXPECT_THAT(
      lines,
      testing::HasSubstr(R"("build hyperNode gradient fail" job="default/large-large" err=")"));
}

}  // namespace
}  // namespace strata::live
