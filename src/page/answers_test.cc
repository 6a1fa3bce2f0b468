#include "page/answers.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "page/pictures.h"
#include "page/test_page_cluster.h"

namespace strata::page {
namespace {

using nlohmann::json;

class Answers : public ::testing::Test {
 protected:
  Answers() {
    for (const char* name : {"a1", "a2", "b1"}) cluster.Node(name, 8);
    cluster.Leaf("rack-a", {"a1", "a2"});
    cluster.Leaf("rack-b", {"b1"});
    cluster.Group("runs", 1);
    cluster.Pod("runs-0", "runs", 6, "a1");
    cluster.Group("waits", 2, "2/2 tasks in gang unschedulable: no room");
    cluster.Pod("waits-0", "waits", 8, "");
  }

  json Fit(const std::string& shape) {
    Pictures pictures(0);
    static_cast<void>(pictures.Follow(cluster.Settled(), Time{}));
    const auto answer =
        AnswerFit(cluster.Settled().state(), pictures.columns(), pictures.stamp(), shape);
    EXPECT_TRUE(answer) << answer.error().message;
    return json::parse(*answer);
  }

  PageCluster cluster;
};

TEST_F(Answers, FitCountsTheDefaultShape) {
  const json fit = Fit("");
  EXPECT_EQ(fit["pod"], json::parse(R"({"nvidia.com/gpu":"8"})"));
  EXPECT_EQ(fit["pods"], json::parse("[1,1]"));
  EXPECT_EQ(fit["tiers"].back()["pods"], 2);
  EXPECT_EQ(fit["wholeNodes"], 2);
  EXPECT_EQ(fit["stranded"], 2);
  EXPECT_EQ(fit["packed"], 2);
  EXPECT_EQ(fit["fragmentation"]["strandedGpus"], 2);
  EXPECT_EQ(fit["fragmentation"]["tiers"].back()["largestGang"], 2);
  EXPECT_EQ(fit["fragmentation"]["tiers"][0]["placeable"]["1"], 2);
  EXPECT_EQ(fit["fragmentation"]["tiers"][0]["placeable"]["2"], 0);
  EXPECT_EQ(fit["fragmentation"]["tiers"][0]["rackLoss"]["2"], 1);
}

TEST_F(Answers, FitCountsAnyShape) {
  const json fit = Fit("nvidia.com/gpu=2");
  EXPECT_EQ(fit["pods"], json::parse("[5,4]"));
  EXPECT_EQ(fit["packed"], 9);
  Pictures pictures(0);
  static_cast<void>(pictures.Follow(cluster.Settled(), Time{}));
  const auto bad = AnswerFit(cluster.Settled().state(), pictures.columns(), {}, "gpu");
  EXPECT_EQ(bad.error().message, "pod: \"gpu\": want NAME=AMOUNT, as in cpu=8,nvidia.com/gpu=8");
}

TEST_F(Answers, AJobHasItsPodsAndWhyItWaits) {
  const json runs = json::parse(*AnswerJob(cluster.Settled(), "default", "runs"));
  EXPECT_EQ(runs["pods"][0]["node"], "a1");
  EXPECT_EQ(runs["pods"][0]["leaf"], "rack-a");
  EXPECT_EQ(runs["hyperNode"], "rack-a");
  EXPECT_EQ(runs["gpus"], 6);
  EXPECT_EQ(runs["ready"], 1);
  const json waits = json::parse(*AnswerJob(cluster.Settled(), "default", "waits"));
  EXPECT_EQ(waits["reason"], "TopologyUnsatisfied");
  EXPECT_EQ(waits["conditions"][0]["type"], "Unschedulable");
  EXPECT_EQ(AnswerJob(cluster.Settled(), "default", "none").error().code, Code::kNotFound);
  EXPECT_EQ(AnswerJob(cluster.Settled(), "other", "runs").error().code, Code::kNotFound);
}

TEST_F(Answers, ANodeHasItsPods) {
  const json node = json::parse(*AnswerNode(cluster.Settled(), "a1", {}));
  EXPECT_EQ(node["name"], "a1");
  EXPECT_EQ(node["leaf"], "rack-a");
  EXPECT_EQ(node["free"]["nvidia.com/gpu"], "2");
  EXPECT_EQ(node["pods"][0]["name"], "runs-0");
  EXPECT_EQ(node["pods"][0]["job"], "default/runs");
  EXPECT_EQ(AnswerNode(cluster.Settled(), "zz", {}).error().message, "node \"zz\" not found");
}

TEST_F(Answers, QueuesHaveTheJobsThatWait) {
  const json queues = json::parse(AnswerQueues(cluster.Settled(), DefaultSchedulerConfig(), {}));
  EXPECT_EQ(queues["queues"]["default"]["jobs"], 2);
  EXPECT_EQ(queues["queues"]["default"]["waiting"]["default/waits"]["reason"],
            "TopologyUnsatisfied");
}

TEST_F(Answers, HelloNamesTheTiers) {
  const json hello = json::parse(AnswerHello({.version = "1", .cluster = "https://x"},
                                             DefaultSchedulerConfig(),
                                             cluster.Settled().state(),
                                             {}));
  EXPECT_EQ(hello["version"], 1);
  EXPECT_EQ(hello["tiers"].size(), 2U);
  EXPECT_EQ(hello["resources"], json::parse(R"(["cpu","memory","pods","nvidia.com/gpu"])"));
}

// ---- pictures

TEST_F(Answers, PicturesGoOnWithinAnEpoch) {
  using Kind = Pictures::Update::Kind;
  Pictures pictures(100);
  EXPECT_EQ(pictures.Follow(cluster.Settled(), Time{}).kind, Kind::kEpoch);
  EXPECT_EQ(pictures.stamp().epoch, 101);
  const auto text = pictures.Cluster();
  EXPECT_EQ(pictures.Cluster(), text) << "made once per revision";
  EXPECT_EQ(pictures.Follow(cluster.Settled(), Time{}).kind, Kind::kNothing);
  EXPECT_EQ(pictures.Cluster(), text);
  cluster.Pod("waits-0", "waits", 8, "b1");
  const auto update = pictures.Follow(cluster.Settled(), Time{});
  EXPECT_EQ(update.kind, Kind::kChange);
  EXPECT_EQ(json::parse(update.change)["gpus"]["state"]["16"], "uuuuuuuu");
  cluster.RemoveNode("a2");
  EXPECT_EQ(pictures.Follow(cluster.Settled(), Time{}).kind, Kind::kEpoch);
  EXPECT_EQ(pictures.stamp().epoch, 102);
  EXPECT_EQ(pictures.stamp().revision, 3);
}

}  // namespace
}  // namespace strata::page
