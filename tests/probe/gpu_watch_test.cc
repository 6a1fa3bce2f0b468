// GpuWatch on a driver of our own that loses GPUs, links and itself. Time is the test's.
#include "agent/gpu_watch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::agent {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

MATCHER_P2(Became, uuid, health, "") {
  return testing::Matches(uuid)(arg.uuid) && arg.after == health;
}

class GpuWatchTest : public testing::Test {
 protected:
  GpuWatchTest() {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_ / "proc/sys/kernel/random");
    std::filesystem::create_directories(root_ / "sys/module/nvidia");
    std::ofstream(root_ / "proc/sys/kernel/random/boot_id") << "boot-1\n";
    const std::string fifo = root_ / "events";
    EXPECT_EQ(mkfifo(fifo.c_str(), 0600), 0);
    events_ = open(fifo.c_str(), O_RDWR | O_CLOEXEC);  // so that no writer waits for a reader
    Set("STRATA_FAKE_NVML_EVENTS", fifo);
    Set("STRATA_FAKE_NVML_FILE", root_ / "machine");
    Describe("dgx1v");
  }
  ~GpuWatchTest() override {
    close(events_);
    unsetenv("STRATA_FAKE_NVML_EVENTS");  // NOLINT(concurrency-mt-unsafe)
    unsetenv("STRATA_FAKE_NVML_FILE");    // NOLINT(concurrency-mt-unsafe)
    std::filesystem::remove_all(root_);
  }
  static void Set(const char* name, const std::string& value) {
    setenv(name, value.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  }
  // What the driver says from now on.
  void Describe(const std::string& machine) { std::ofstream(root_ / "machine") << machine; }
  void Report(const std::string& event) {
    const std::string line = event + "\n";
    ASSERT_EQ(write(events_, line.data(), line.size()), static_cast<ssize_t>(line.size()));
  }

  GpuWatch Watch(const std::string& health = "") {
    return {{.nvml = FAKE_NVML,
             .sysfs = root_ / "sys",
             .proc = root_ / "proc",
             .shares = 10,
             .health = {}},
            health};
  }
  // Everything that is due until `time` has passed.
  GpuWatch::Turned Pass(GpuWatch& watch, Duration time) {
    GpuWatch::Turned all;
    const net::SteadyTime end = now_ + time;
    for (; now_ <= end; now_ += seconds(1)) {
      const GpuWatch::Turned one = watch.Turn(now_, Duration(1));
      all.changed = all.changed || one.changed;
      all.changes.insert(all.changes.end(), one.changes.begin(), one.changes.end());
      all.xids.insert(all.xids.end(), one.xids.begin(), one.xids.end());
      all.problems.insert(all.problems.end(), one.problems.begin(), one.problems.end());
    }
    return all;
  }
  static const Gpu& GpuOf(const GpuWatch& watch, int index) {
    return watch.machine()->node.gpus.at(static_cast<std::size_t>(index));
  }

  const std::filesystem::path root_ =
      std::filesystem::path(testing::TempDir()) / ("gpu_watch" + std::to_string(getpid()));
  int events_ = -1;
  net::SteadyTime now_{seconds(5000)};
};

TEST_F(GpuWatchTest, SeesTheMachineAndThenNothingNew) {
  GpuWatch watch = Watch();
  EXPECT_THAT(watch.machine()->node.gpus, IsEmpty());
  EXPECT_TRUE(Pass(watch, seconds(0)).changed);
  ASSERT_EQ(watch.machine()->node.gpus.size(), 8U);
  EXPECT_TRUE(GpuOf(watch, 7).healthy);
  EXPECT_EQ(GpuOf(watch, 7).slots, 10);
  EXPECT_EQ(watch.machine()->minors.back(), 7);
  EXPECT_EQ(watch.away(), "");
  const MachineView before = watch.machine();
  EXPECT_FALSE(Pass(watch, minutes(60)).changed);
  EXPECT_EQ(watch.machine(), before);
}

TEST_F(GpuWatchTest, AGpuThatIsLostIsUnhealthyWithinTenSecondsAndTheOthersAreNot) {
  GpuWatch watch = Watch();
  Pass(watch, seconds(1));
  Describe("dgx1v lost=5");
  const GpuWatch::Turned turned = Pass(watch, seconds(10));
  EXPECT_THAT(turned.changes,
              ElementsAre(Became("GPU-fake-5", Health::kSuspect),
                          Became("GPU-fake-5", Health::kUnhealthy)));
  ASSERT_EQ(watch.machine()->node.gpus.size(), 8U);
  EXPECT_FALSE(GpuOf(watch, 5).healthy);
  EXPECT_TRUE(GpuOf(watch, 4).healthy);
  Describe("dgx1v");
  Pass(watch, seconds(10));
  EXPECT_TRUE(GpuOf(watch, 5).healthy);
}

TEST_F(GpuWatchTest, ALinkThatGoesDownIsSeenWithinAMinute) {
  GpuWatch watch = Watch();
  Pass(watch, seconds(1));
  const std::int32_t before = watch.machine()->node.scores.Get(0, 3);
  Describe("dgx1v down=0/3");
  const GpuWatch::Turned turned = Pass(watch, seconds(60));
  EXPECT_TRUE(turned.changed);
  EXPECT_LT(watch.machine()->node.scores.Get(0, 3), before);
  EXPECT_THAT(turned.problems, testing::Contains("GPU 0: NVLinks down: 3"));
  EXPECT_THAT(Pass(watch, minutes(5)).problems, IsEmpty()) << "told once";
}

TEST_F(GpuWatchTest, AnErrorThatCountsIsSeenAtOnce) {
  GpuWatch watch = Watch();
  Pass(watch, seconds(1));
  Report("3 94");
  Report("4 31");
  const GpuWatch::Turned turned = Pass(watch, seconds(1));
  EXPECT_THAT(turned.xids, ElementsAre(94, 31));
  EXPECT_THAT(turned.changes, ElementsAre(Became("GPU-fake-3", Health::kUnhealthy)));
  EXPECT_TRUE(GpuOf(watch, 4).healthy);
  Pass(watch, minutes(9));
  EXPECT_FALSE(GpuOf(watch, 3).healthy);
  Pass(watch, minutes(2));
  EXPECT_TRUE(GpuOf(watch, 3).healthy);
}

TEST_F(GpuWatchTest, AWaitThatFailsMarksNobodyAndIsBegunAgain) {
  GpuWatch watch = Watch();
  Pass(watch, seconds(1));
  Report("fail");
  EXPECT_THAT(Pass(watch, seconds(5)).changes, IsEmpty());
  Report("2 79");
  Pass(watch, seconds(1));
  EXPECT_FALSE(GpuOf(watch, 2).healthy);
}

TEST_F(GpuWatchTest, WhereNoGpuAnswersTheDriverIsOpenedLessAndLessOften) {
  GpuWatch watch = Watch();
  Pass(watch, seconds(1));
  Describe("dgx1v lost=0 lost=1 lost=2 lost=3 lost=4 lost=5 lost=6 lost=7");
  const GpuWatch::Turned first = Pass(watch, seconds(4));
  EXPECT_THAT(first.changes, testing::Each(Became(testing::_, Health::kSuspect)))
      << "once is not twice";
  Pass(watch, seconds(60));
  EXPECT_EQ(watch.away(), "no GPU answers");
  EXPECT_FALSE(GpuOf(watch, 0).healthy);
  Describe("dgx1v");
  Pass(watch, GpuWatch::kMaxAway + seconds(5));
  EXPECT_TRUE(GpuOf(watch, 0).healthy);
}

TEST_F(GpuWatchTest, ADriverThatGoesAwayComesBack) {
  GpuWatch watch = Watch();
  Pass(watch, seconds(1));
  Describe("dgx1v gone=1");
  Pass(watch, seconds(20));
  EXPECT_THAT(watch.away(), HasSubstr("Driver Not Loaded"));
  EXPECT_FALSE(GpuOf(watch, 0).healthy);
  ASSERT_EQ(watch.machine()->node.gpus.size(), 8U);
  Describe("dgx1v");
  Pass(watch, seconds(40));
  EXPECT_EQ(watch.away(), "");
  EXPECT_TRUE(GpuOf(watch, 0).healthy);
}

TEST_F(GpuWatchTest, ALastingErrorEndsWhenTheDriverIsLoadedAgain) {
  GpuWatch watch = Watch();
  Pass(watch, seconds(1));
  Report("6 79");
  Pass(watch, minutes(30));
  EXPECT_FALSE(GpuOf(watch, 6).healthy);
  Describe("dgx1v gone=1");
  Pass(watch, seconds(20));
  std::filesystem::create_directories(root_ / "sys/module/new");
  std::filesystem::rename(root_ / "sys/module/nvidia", root_ / "sys/module/old");
  std::filesystem::rename(root_ / "sys/module/new", root_ / "sys/module/nvidia");
  Describe("dgx1v");
  Pass(watch, seconds(40));
  EXPECT_TRUE(GpuOf(watch, 6).healthy);
}

TEST_F(GpuWatchTest, TheNextProcessDoesNotTakeABrokenGpuForAGoodOne) {
  std::string health;
  {
    GpuWatch watch = Watch();
    Pass(watch, seconds(1));
    Report("6 79");
    EXPECT_TRUE(Pass(watch, seconds(1)).changed);
    health = watch.health_text();
  }
  GpuWatch next = Watch(health);
  Pass(next, minutes(30));
  EXPECT_FALSE(GpuOf(next, 6).healthy);
  std::ofstream(root_ / "proc/sys/kernel/random/boot_id") << "boot-2\n";
  GpuWatch rebooted = Watch(health);
  Pass(rebooted, seconds(1));
  EXPECT_TRUE(GpuOf(rebooted, 6).healthy);
}

TEST_F(GpuWatchTest, WithoutEventsTheCallerWaits) {
  Describe("dgx1v noevents=1");
  GpuWatch watch = Watch();
  Pass(watch, seconds(0));
  const GpuWatch::Turned turned = watch.Turn(now_, seconds(1));
  EXPECT_EQ(turned.to_wait, seconds(1));
  EXPECT_TRUE(GpuOf(watch, 0).healthy);
}

TEST_F(GpuWatchTest, WithoutADriverItTriesLessAndLessOften) {
  Describe("no-such-machine");
  GpuWatch watch = Watch();
  Pass(watch, minutes(2));
  EXPECT_THAT(watch.away(), HasSubstr("NVML does not start"));
  EXPECT_THAT(watch.machine()->node.gpus, IsEmpty());
  Describe("dgx1v");
  Pass(watch, GpuWatch::kMaxAway + seconds(1));
  EXPECT_EQ(watch.machine()->node.gpus.size(), 8U);
}

}  // namespace
}  // namespace strata::agent
