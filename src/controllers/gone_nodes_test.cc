#include "controllers/gone_nodes.h"

#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/test_prompt_transport.h"
#include "json/dump.h"

namespace strata::controllers {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Nodes and pods as the watches have told of them, and nodes as the server has them.
class GoneNodesTest : public ::testing::Test {
 protected:
  using Type = kube::Delta::Type;

  GoneNodesTest() {
    transport_.answer = [this](const net::HttpRequest& request) {
      if (silent_) return 500;
      return on_server_.contains(request.path.substr(request.path.rfind('/') + 1)) ? 200 : 404;
    };
    transport_.body = [](const net::HttpRequest&) { return std::string("{}"); };
  }

  std::string See(Type type, int source, const json& object) {
    kube::Delta delta;
    delta.type = type;
    delta.source = source;
    const json& meta = object["metadata"];
    delta.key = {meta.value("namespace", ""), meta["name"].get<std::string>()};
    delta.uid = meta["uid"].get<std::string>();
    delta.text = DumpJson(object);
    return gone_.Concerns(cache_.Take(delta));
  }
  std::string SeeNode(Type type, const std::string& name) {
    return See(type, 0, {{"metadata", {{"name", name}, {"uid", "u-" + name}}}});
  }
  std::string SeePodOn(const std::string& name, const std::string& node) {
    return See(Type::kAdded,
               1,
               {{"metadata", {{"name", name}, {"namespace", "ns"}, {"uid", "u-" + name}}},
                {"spec", {{"nodeName", node}}}});
  }
  [[nodiscard]] std::vector<std::string> Deleted(const std::string& node) const {
    std::vector<std::string> names;
    for (const auto& step : gone_.Decide(node).steps) {
      for (const Write& write : step) {
        EXPECT_EQ(write.verb, Write::Verb::kDelete);
        EXPECT_EQ(write.uid, "u-" + write.name);
        names.push_back(write.name);
      }
    }
    return names;
  }

  std::set<std::string> on_server_;
  bool silent_ = false;

 private:
  static std::vector<Cache::Watched> Watches() {
    std::vector<Cache::Watched> watches(2);
    watches[0].spec.resource = kube::kNodes;
    watches[0].keep = Cache::Keep::kNode;
    watches[1].spec.resource = kube::kPods;
    watches[1].keep = Cache::Keep::kPod;
    return watches;
  }

  PromptTransport transport_;
  kube::Client client_{transport_, transport_, {}};
  Cache cache_{Watches()};

 protected:
  GoneNodes gone_{client_, cache_};
};

TEST_F(GoneNodesTest, PodsGoAfterTheirNode) {
  EXPECT_EQ(SeeNode(Type::kAdded, "n1"), "");
  EXPECT_EQ(SeePodOn("a", "n1"), "");
  EXPECT_EQ(SeePodOn("b", ""), "");
  EXPECT_EQ(SeePodOn("c", "n2"), "n2") << "this node has never been seen";
  EXPECT_THAT(Deleted("n1"), IsEmpty());
  EXPECT_EQ(SeeNode(Type::kDeleted, "n1"), "n1");
  EXPECT_THAT(Deleted("n1"), ElementsAre("a"));
  EXPECT_THAT(Deleted("n2"), ElementsAre("c"));
}

TEST_F(GoneNodesTest, ANodeThatIsBackKeepsItsPods) {
  SeePodOn("a", "n1");
  SeeNode(Type::kDeleted, "n1");
  on_server_ = {"n1"};
  const Plan plan = gone_.Decide("n1");
  EXPECT_TRUE(plan.steps.empty());
  EXPECT_TRUE(plan.again) << "the watch has not told of it yet";
}

TEST_F(GoneNodesTest, NothingGoesWhileTheServerDoesNotSay) {
  SeePodOn("a", "n1");
  silent_ = true;
  EXPECT_THAT(Deleted("n1"), IsEmpty());
  EXPECT_TRUE(gone_.Decide("n1").again);
}

}  // namespace
}  // namespace strata::controllers
