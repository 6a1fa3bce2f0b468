#include "tests/histories/judge.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace strata::histories {
namespace {

using nlohmann::json;

// One node with two CPUs, and a gang of two pods with two CPUs each.
class JudgeTest : public testing::Test {
 protected:
  JudgeTest() {
    judge_.AddNode("node", 2);
    judge_.AddGang({.name = "gang", .priority = "", .pods = 2, .minimum = 2, .cpus = 2});
    for (const char* name : {"gang-0", "gang-1"}) {
      json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}};
      pod["metadata"] = {{"name", name}};
      pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] = "gang";
      json container = {{"name", "c"}, {"image", "busybox"}};
      container["resources"]["requests"]["cpu"] = "2";
      pod["spec"]["containers"].push_back(std::move(container));
      EXPECT_EQ(server_.Ask("POST", kPods, pod), 201);
    }
  }

  void Bind(const char* pod, const char* node) {
    json binding = {{"apiVersion", "v1"}, {"kind", "Binding"}};
    binding["metadata"]["name"] = pod;
    binding["target"] = {{"kind", "Node"}, {"name", node}};
    EXPECT_EQ(server_.Ask("POST", fmt::format("{}/{}/binding", kPods, pod), binding), 201);
  }

  static constexpr const char* kPods = "/api/v1/namespaces/default/pods";
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

}  // namespace
}  // namespace strata::histories
