#include "tests/histories/judge.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/histories/paths.h"

namespace strata::histories {
namespace {

using nlohmann::json;

// One node with two CPUs, and a gang of two pods with two CPUs each.
class JudgeTest : public testing::Test {
 protected:
  JudgeTest() {
    judge_.AddNode("node", 2);
    judge_.AddGang({.name = "gang", .priority = "", .pods = 2, .minimum = 2, .cpus = 2});
    for (const char* name : {"gang-0", "gang-1"}) AddPod(name);
  }

  void AddPod(const char* name) {
    json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}};
    pod["metadata"] = {{"name", name}};
    pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] = "gang";
    json container = {{"name", "c"}, {"image", "busybox"}};
    container["resources"]["requests"]["cpu"] = "2";
    pod["spec"]["containers"].push_back(std::move(container));
    EXPECT_EQ(server_.Ask("POST", kPods, pod), 201);
  }

  // A Job whose PodGroup waits for its queue.
  void AddPendingJob(const std::string& name) {
    json job = {{"apiVersion", "batch.volcano.sh/v1alpha1"}, {"kind", "Job"}};
    job["metadata"]["name"] = name;
    job["spec"] = {{"minAvailable", 1}, {"queue", "default"}, {"schedulerName", "volcano"}};
    json task = {{"name", "w"}, {"replicas", 1}};
    task["template"]["spec"]["containers"] = json::array({{{"name", "c"}, {"image", "busybox"}}});
    job["spec"]["tasks"] = json::array({task});
    EXPECT_EQ(server_.Ask("POST", kJobs, job), 201);
    json group = {{"apiVersion", "scheduling.volcano.sh/v1beta1"}, {"kind", "PodGroup"}};
    const json made = server_.Get(fmt::format("{}/{}", kJobs, name));
    group["metadata"]["name"] = name + "-" + made["metadata"]["uid"].get<std::string>();
    group["spec"]["minMember"] = 1;
    group["status"]["phase"] = "Pending";
    EXPECT_EQ(server_.Ask("POST", kGroups, group), 201);
  }

  void Bind(const char* pod, const char* node) {
    json binding = {{"apiVersion", "v1"}, {"kind", "Binding"}};
    binding["metadata"]["name"] = pod;
    binding["target"] = {{"kind", "Node"}, {"name", node}};
    EXPECT_EQ(server_.Ask("POST", fmt::format("{}/{}/binding", kPods, pod), binding), 201);
  }

  Timeline timeline_;
  Trace trace_{timeline_};
  Server server_{timeline_, Random(1), 100};
  Judge judge_{server_, trace_};
};

TEST_F(JudgeTest, SeesANodeWithMorePodsThanItHolds) {
  Bind("gang-0", "node");
  EXPECT_EQ(judge_.broken().over_committed, 0);
  Bind("gang-1", "node");
  EXPECT_EQ(judge_.broken().over_committed, 1);
}

TEST_F(JudgeTest, SeesAPodThatNobodyAskedToDelete) {
  server_.Ask("DELETE", fmt::format("{}/gang-0", kPods), nullptr);
  EXPECT_EQ(judge_.broken().lost, 1);
  judge_.AllowDeletion("gang");
  server_.Ask("DELETE", fmt::format("{}/gang-1", kPods), nullptr);
  EXPECT_EQ(judge_.broken().lost, 1);
}

TEST_F(JudgeTest, SeesAHalfGangOnlyWhereItCanBeCompleted) {
  Bind("gang-0", "node");
  judge_.Conclude();
  EXPECT_EQ(judge_.broken().half_gangs, 0) << "there is no room for the other";
  judge_.AddNode("other", 2);
  judge_.Conclude();
  EXPECT_EQ(judge_.broken().half_gangs, 1);
}

TEST_F(JudgeTest, SeesAGangThatWaitsAlthoughItFits) {
  judge_.Conclude();
  EXPECT_EQ(judge_.broken().lost, 0) << "there is room for one of them only";
  judge_.AddNode("other", 2);
  judge_.Conclude();
  EXPECT_EQ(judge_.broken().lost, 1);
}

TEST_F(JudgeTest, SeesAJobWithoutPodsOnlyWhereNoOtherMayUseTheRoom) {
  judge_.AllowDeletion("gang");
  for (const char* name : {"j", "k"}) {
    judge_.AddGang(
        {.name = name, .priority = "", .pods = 1, .minimum = 1, .cpus = 2, .is_job = true});
    AddPendingJob(name);
  }
  judge_.Conclude();
  EXPECT_EQ(judge_.broken().lost, 0) << "each may wait for the other";
  judge_.AllowDeletion("k");
  judge_.Conclude();
  EXPECT_EQ(judge_.broken().lost, 1);
}

TEST_F(JudgeTest, SeesAPodOfAJobThatIsCreatedTwiceUnlessTheJobIsDeleted) {
  server_.Ask("DELETE", fmt::format("{}/gang-0", kPods), nullptr);
  AddPod("gang-0");
  EXPECT_EQ(judge_.broken().created_twice, 1);
  judge_.AllowDeletion("gang");
  server_.Ask("DELETE", fmt::format("{}/gang-1", kPods), nullptr);
  AddPod("gang-1");
  EXPECT_EQ(judge_.broken().created_twice, 1);
  AddPod("gang-2");
  EXPECT_EQ(judge_.broken().created_twice, 2) << "one more than was asked for";
}

TEST_F(JudgeTest, SeesAWriteOfAProcessThatDoesNotHoldTheLease) {
  json lease = {{"apiVersion", "coordination.k8s.io/v1"}, {"kind", "Lease"}};
  lease["metadata"]["name"] = "volcano";
  lease["spec"]["holderIdentity"] = "me";
  EXPECT_EQ(server_.Ask("POST", kLeases, lease), 201);
  judge_.SeeWrite("volcano", "me", {});
  EXPECT_EQ(judge_.broken().without_lease, 0);
  judge_.SeeWrite("volcano", "another", {});
  EXPECT_EQ(judge_.broken().without_lease, 1);
}

}  // namespace
}  // namespace strata::histories
