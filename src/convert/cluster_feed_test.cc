#include "convert/cluster_feed.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "objects/test_support.h"

namespace strata {
namespace {

constexpr const char* kPodOnNode = R"(
apiVersion: v1
kind: Node
metadata: {name: node0}
status: {allocatable: {cpu: 8}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: g, namespace: ns}
spec: {minMember: 1}
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: ns, uid: u, annotations: {scheduling.k8s.io/group-name: g}}
spec: {schedulerName: volcano, containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}
)";

bool TakesAll(const objects::Pod& /*pod*/) {
  return true;
}

// A feed with the objects above.
struct Fed {
  explicit Fed(std::string default_queue = kDefaultQueue)
      : feed(TakesAll, std::move(default_queue)) {
    EXPECT_TRUE(feed.Apply(objects::MustLoad(kPodOnNode)));
    std::vector<std::string> problems;
    feed.Settle(problems);
    EXPECT_THAT(problems, testing::IsEmpty());
  }
  ClusterFeed feed;
};

TEST(ClusterFeed, AGroupThatNamesNoQueueIsInTheDefaultOne) {
  Fed usual;
  EXPECT_EQ(usual.feed.state().job(*usual.feed.state().FindJob("ns/g")).spec.queue, "default");
  Fed fed("team");
  EXPECT_EQ(fed.feed.state().job(*fed.feed.state().FindJob("ns/g")).spec.queue, "team");
  EXPECT_EQ(fed.feed.Objects().pod_groups[0].queue, "team");
}

TEST(ClusterFeed, APodThatIsBeingBoundIsOnItsNodeInACopyOfTheObjects) {
  Fed fed;
  EXPECT_EQ(fed.feed.Objects().pods[0].spec.node_name, "");
  ClusterState& state = fed.feed.state();
  const TaskId task = state.job(*state.FindJob("ns/g")).sub_jobs[0].tasks[0];
  state.Allocate(task, *state.FindNode("node0"));
  state.Commit();
  fed.feed.Assume(task);
  EXPECT_EQ(fed.feed.Objects().pods[0].spec.node_name, "node0");
  fed.feed.Forget("ns/p", "u");
  EXPECT_EQ(fed.feed.Objects().pods[0].spec.node_name, "");
}

TEST(ClusterFeed, APodOnANodeIsThereWhateverRulesItBreaks) {
  Fed fed;
  const Status applied = fed.feed.Apply(objects::MustLoad(
      "{apiVersion: v1, kind: Pod, metadata: {name: q, namespace: ns, labels: {a: -b}}, spec: "
      "{nodeName: node0, tolerations: [{key: a, operator: Foo}], containers: [{name: c, resources: "
      "{requests: {cpu: 2, memory: 7Ei}}}, {name: c, resources: {requests: {cpu: 1, memory: "
      "7Ei}}}]}, status: {phase: Running}}"));
  ASSERT_TRUE(applied.has_value()) << applied.error().message;
  const ClusterState& state = fed.feed.state();
  EXPECT_EQ(state.Idle(*state.FindNode("node0"))[kCpu.index()], 5000);
}

TEST(ClusterFeed, ALabelThatAPolicyAsksForBindsAPodAsSoonAsItIsThere) {
  Fed fed;
  const auto group = [](const std::string& key) {
    return "{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: g, "
           "namespace: ns}, spec: {minMember: 1, subGroupPolicy: [{name: s, matchLabelKeys: [" +
           key + "], networkTopology: {mode: hard, highestTierAllowed: 1}}]}}";
  };
  std::vector<std::string> problems;
  ASSERT_TRUE(fed.feed.Apply(objects::MustLoad(group("part"))));
  fed.feed.Settle(problems);
  const ClusterState& state = fed.feed.state();
  const auto missed = [&] {
    const Job& job = state.job(*state.FindJob("ns/g"));
    return job.sub_jobs[0].tasks.empty() ? std::nullopt
                                         : state.task(job.sub_jobs[0].tasks[0]).missed_policy;
  };
  EXPECT_EQ(missed(), 0U);
  ASSERT_TRUE(fed.feed.Apply(objects::MustLoad(
      "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ns, uid: u, labels: {part: x}, "
      "annotations: {scheduling.k8s.io/group-name: g}}, spec: {schedulerName: volcano, containers: "
      "[{name: c, image: i, resources: {requests: {cpu: 1}}}]}}")));
  fed.feed.Settle(problems);
  EXPECT_EQ(missed(), std::nullopt);
}

}  // namespace
}  // namespace strata
