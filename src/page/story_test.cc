#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "page/story_json.h"
#include "page/test_page_cluster.h"
#include "sched/config.h"
#include "whatif/run.h"

namespace strata::page {
namespace {

using json = nlohmann::json;

class StoryOfCluster : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* node : {"a1", "a2", "b1", "b2"}) cluster_.Node(node, 8);
    cluster_.Leaf("rack-a", {"a1", "a2"});
    cluster_.Leaf("rack-b", {"b1", "b2"});
    cluster_.Above("spine", {"rack-a", "rack-b"});
  }
  StoryCase Now() {
    const ClusterFeed& feed = cluster_.Settled();
    return StoryCase(
        feed.Objects(), feed.takes(), DefaultSchedulerConfig(), Time(std::chrono::seconds(1000)));
  }
  json TryShape(const std::string& body) {
    const auto request = ReadWhatIf(body);
    if (!request) return request.error().message;
    const auto answer = TellWhatIf(Now(), *request);
    return answer ? json::parse(*answer) : json(answer.error().message);
  }

  PageCluster cluster_;
};

TEST_F(StoryOfCluster, SaysWhereAGangWouldGo) {
  const json answer = TryShape(
      R"({"pods":2,"pod":"nvidia.com/gpu=8","mode":"hard","highestTierAllowed":1,"namespace":"default"})");
  ASSERT_TRUE(answer.is_object()) << answer;
  EXPECT_EQ(answer["binds"].size(), 2U);
  const json& job = answer["jobs"][answer["job"].get<std::string>()];
  EXPECT_EQ(job["reason"], "");
  EXPECT_EQ(job["tier"], 1);
}

TEST_F(StoryOfCluster, SaysWhyAGangWouldWait) {
  const json answer =
      TryShape(R"({"pods":3,"pod":"nvidia.com/gpu=8","mode":"hard","highestTierAllowed":1})");
  ASSERT_TRUE(answer.is_object()) << answer;
  EXPECT_TRUE(answer["binds"].empty());
  EXPECT_NE(answer["story"]["sentence"].get<std::string>().find("tier 1"), std::string::npos);
  EXPECT_EQ(answer["story"]["nearestMisses"][0]["fits"], 2);
}

TEST_F(StoryOfCluster, TakesManifests) {
  const json body = {{"yaml", R"(
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: mine}
spec:
  schedulerName: volcano
  minAvailable: 1
  tasks:
  - name: w
    replicas: 1
    template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 4}}}]}}
)"}};
  const json answer = TryShape(body.dump());
  ASSERT_TRUE(answer.is_object()) << answer;
  EXPECT_EQ(answer["binds"].size(), 1U);
}

TEST_F(StoryOfCluster, RefusesWhatItCannotTryInOneSentence) {
  EXPECT_EQ(TryShape("[]"), "want a JSON object");
  EXPECT_EQ(TryShape(R"({"pods":0,"pod":"cpu=1"})"), "pods: want a whole number from 1 to 10000");
  EXPECT_EQ(
      TryShape(
          R"({"yaml":"{kind: Queue, apiVersion: scheduling.volcano.sh/v1beta1, metadata: {name: q}}"})"),
      "yaml: want Jobs, PodGroups and Pods, not Queue");
  EXPECT_TRUE(TryShape(R"({"yaml":"a: ["})").is_string());
}

// The same objects, through the function behind `strata simulate`.
TEST_F(StoryOfCluster, SaysWhatSimulateSays) {
  for (int busy = 0; busy < 4; ++busy) {
    if (busy > 0) {
      const std::string name = "busy-" + std::to_string(busy);
      cluster_.Group(name, 1);
      cluster_.Pod(name + "-0", name, 2 * busy, busy % 2 == 1 ? "a1" : "b2");
    }
    for (int pods = 1; pods <= 7; ++pods) {
      for (int gpus = 1; gpus <= 8; gpus += 2) {
        const json body = {{"pods", pods},
                           {"pod", "nvidia.com/gpu=" + std::to_string(gpus)},
                           {"mode", "hard"},
                           {"highestTierAllowed", 1 + pods % 2}};
        const json answer = TryShape(body.dump());
        ASSERT_TRUE(answer.is_object()) << answer;
        objects::ObjectSet objects = Now().raw();
        auto added = ReadWhatIf(body.dump())->added;
        objects.jobs = added.jobs;
        auto cluster = BuildCluster(std::move(objects));
        ASSERT_TRUE(cluster);
        RunOptions options;
        options.now = Time(std::chrono::seconds(1000));
        const auto result = RunCycles(*cluster, DefaultSchedulerConfig(), options);
        ASSERT_TRUE(result);
        EXPECT_EQ(answer["binds"], json(result->binds));
        const auto& job = result->jobs.at(answer["job"].get<std::string>());
        const json& told = answer["jobs"].begin().value();
        EXPECT_EQ(told["reason"], job.reason);
        EXPECT_EQ(told["message"], job.message);
      }
    }
  }
}

TEST_F(StoryOfCluster, AJobThatWaitsHasAStoryBeforeItsRelaxations) {
  cluster_.Group("small", 1);
  for (const char* node : {"a1", "a2", "b1"}) {
    cluster_.Pod(std::string("p-") + node, "small", 8, node);
  }
  cluster_.Group("large", 2);
  cluster_.Pod("l0", "large", 8, "");
  cluster_.Pod("l1", "large", 8, "");
  std::string early;
  const StoryCase now = Now();
  const auto story =
      TellStory(now, "default/large", [&](std::string told) { early = std::move(told); }, {});
  ASSERT_TRUE(story) << story.error().message;
  ASSERT_FALSE(early.empty());
  EXPECT_EQ(json::parse(early)["state"], "computing");
  EXPECT_EQ(json::parse(early)["relaxations"].size(), 0U);
  const json whole = json::parse(*story);
  EXPECT_EQ(whole["state"], "done");
  ASSERT_FALSE(whole["relaxations"].empty());
  for (const json& one : whole["relaxations"]) EXPECT_FALSE(one["binds"].empty()) << one;
}

TEST_F(StoryOfCluster, AJobThatRunsIsDecidedAgain) {
  cluster_.Group("runs", 2);
  cluster_.Pod("r0", "runs", 8, "a1");
  cluster_.Pod("r1", "runs", 8, "a2");
  const auto story = TellStory(Now(), "default/runs", {}, {});
  ASSERT_TRUE(story) << story.error().message;
  const json whole = json::parse(*story);
  EXPECT_EQ(whole["source"], "replay") << whole;
  EXPECT_TRUE(whole["agrees"].is_boolean());
  EXPECT_EQ(whole["replay"]["pods"].size(), 2U);
}

TEST_F(StoryOfCluster, AStoryNobodyWaitsForIsGivenUp) {
  cluster_.Group("large", 9);
  for (int i = 0; i < 9; ++i) cluster_.Pod("l" + std::to_string(i), "large", 8, "");
  std::stop_source stop;
  stop.request_stop();
  const auto story = TellStory(Now(), "default/large", {}, stop.get_token());
  ASSERT_FALSE(story);
  EXPECT_EQ(story.error().code, Code::kUnavailable);
}

}  // namespace
}  // namespace strata::page
