#include "page/history.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "page/test_page_cluster.h"

namespace strata::page {
namespace {

using json = nlohmann::json;

class PastOfCluster : public ::testing::Test {
 protected:
  void SetUp() override {
    cluster_.Node("n1", 8);
    cluster_.Leaf("rack", {"n1"});
    cluster_.Group("train", 1, "no room");
  }
  // A picture of the cluster as it is, `seconds` after the beginning.
  void Note(int seconds) {
    const Time now = Time(std::chrono::seconds(1000 + seconds));
    history_.Note(maker_.Make(cluster_.Settled()),
                  {.epoch = epoch_, .revision = ++revision_, .time = now},
                  {.gpus = 8, .used = 0, .free = 8, .whole_nodes = 1, .stranded = 0},
                  now);
  }
  json At(int seconds) {
    return json::parse(history_.At(Time(std::chrono::seconds(1000 + seconds))));
  }

  PageCluster cluster_;
  ColumnsMaker maker_;
  History history_;
  std::int64_t epoch_ = 1;
  std::int64_t revision_ = 0;
};

TEST_F(PastOfCluster, GivesThePictureBeforeAndTheChangesUpToAMoment) {
  Note(0);
  cluster_.Pod("train-0", "train", 8, "n1");
  Note(10);
  cluster_.RemovePod("train-0");
  Note(20);
  EXPECT_EQ(At(5)["cluster"]["revision"], 1);
  EXPECT_EQ(At(5)["changes"].size(), 0U);
  EXPECT_EQ(At(10)["changes"].size(), 1U);
  EXPECT_EQ(At(10)["changes"][0]["gpus"]["state"]["0"], "uuuuuuuu");
  EXPECT_EQ(At(99)["changes"].size(), 2U);
}

TEST_F(PastOfCluster, SaysWhatWasDecidedAndHowMuchWasUsed) {
  Note(0);
  cluster_.Pod("train-0", "train", 8, "n1");
  Note(10);
  cluster_.RemovePod("train-0");
  cluster_.RemoveGroup("train");
  Note(20);
  const json overview = json::parse(history_.Overview());
  EXPECT_EQ(overview["samples"].size(), 3U);
  EXPECT_EQ(overview["samples"][0][0], 1000000);
  ASSERT_FALSE(overview["decisions"].empty());
  EXPECT_EQ(overview["decisions"].back()["job"], "default/train");
  EXPECT_EQ(overview["decisions"].back()["outcome"], "gone");
}

TEST_F(PastOfCluster, JoinsWhatComesWithinASecond) {
  Note(0);
  cluster_.Pod("train-0", "train", 8, "n1");
  const Time soon = Time(std::chrono::milliseconds(1000100));
  history_.Note(
      maker_.Make(cluster_.Settled()), {.epoch = 1, .revision = 2, .time = soon}, {}, soon);
  EXPECT_FALSE(history_.IsDue(soon));
  EXPECT_TRUE(history_.IsDue(soon + History::kBetween));
  EXPECT_EQ(At(0)["changes"].size(), 0U);
}

TEST_F(PastOfCluster, BeginsAWholePictureEveryFiveMinutesAndForgetsAfterAnHour) {
  for (int minute = 0; minute <= 80; ++minute) Note(60 * minute);
  EXPECT_EQ(At(7 * 60)["cluster"]["time"], At(0)["cluster"]["time"]) << "older than an hour";
  const json first = json::parse(history_.Overview())["samples"][0];
  EXPECT_GE(first[0], (1000 + 10 * 60) * 1000);
}

TEST_F(PastOfCluster, KeepsAtMostTheBytesItMay) {
  History small(4096);
  for (int i = 0; i < 50; ++i) {
    const Time now = Time(std::chrono::minutes(5 * i));
    small.Note(maker_.Make(cluster_.Settled()), {.epoch = i, .revision = i, .time = now}, {}, now);
  }
  EXPECT_LE(small.bytes(), 4096U + 2048U);
}

}  // namespace
}  // namespace strata::page
