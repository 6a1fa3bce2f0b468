// deploy/chart/rbac/agent.yaml: the policy lets the agent write all that it writes, and no more.
// Its expressions are evaluated by src/cel; tests/kubernetes has them evaluated by a real API
// server.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "agent/publish.h"
#include "agent/reconcile.h"
#include "agent/settlement.h"
#include "agent/test_pods.h"
#include "cel/expression.h"
#include "json/dump.h"
#include "json/parse.h"
#include "objects/yaml_to_json.h"
#include "patch/patch.h"

namespace strata::agent {
namespace {

using Json = nlohmann::json;

constexpr const char* kUser = "system:serviceaccount:volcano-system:strata-agent";

Json ReadPolicy() {
  std::ifstream file(std::filesystem::path(SOURCE_DIR) / "deploy/chart/rbac/agent.yaml");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto documents = objects::YamlToJson(text);
  EXPECT_TRUE(documents.has_value());
  for (const std::string& document : *documents) {
    Json object = ParseJsonOrNull(document);
    if (object["kind"] == "ValidatingAdmissionPolicy") return object["spec"];
  }
  ADD_FAILURE() << "no policy";
  return {};
}

// A policy sees `object`, `oldObject`, `request` and its own variables; src/cel has one `self`.
std::string InWordsOfSelf(std::string expression, const Json& policy) {
  for (const Json& variable : policy["variables"]) {
    const std::regex name("\\bvariables\\." + variable["name"].get<std::string>() + "\\b");
    expression =
        std::regex_replace(expression, name, "(" + variable["expression"].get<std::string>() + ")");
  }
  return std::regex_replace(
      expression, std::regex(R"(\b(object|oldObject|request)\.)"), "self.$1.");
}

class AgentPolicy : public ::testing::Test {
 protected:
  // The messages of the rules that refuse it; the whole policy is passed over for other users.
  [[nodiscard]] std::vector<std::string> Refusals(const Json& before, const Json& after) const {
    const Json self = {{"object", after},
                       {"oldObject", before},
                       {"request",
                        {{"resource", {{"resource", before["kind"] == "Node" ? "nodes" : "pods"}}},
                         {"userInfo", user_}}}};
    for (const Json& condition : policy_["matchConditions"]) {
      if (!Holds(condition["expression"], self)) return {};
    }
    std::vector<std::string> messages;
    for (const Json& rule : policy_["validations"]) {
      if (!Holds(rule["expression"], self)) messages.push_back(rule["message"]);
    }
    return messages;
  }
  [[nodiscard]] bool Holds(const std::string& expression, const Json& self) const {
    const auto parsed = cel::Expression::Parse(InWordsOfSelf(expression, policy_));
    EXPECT_TRUE(parsed.has_value()) << parsed.error().message;
    cel::Budget budget;
    const auto holds = parsed->Evaluate(self, nullptr, budget);
    EXPECT_TRUE(holds.has_value()) << expression << ": " << holds.error().message;
    return holds.value_or(false);
  }
  [[nodiscard]] std::vector<std::string> RefusalsOfPatch(const Json& before,
                                                         const Json& patch) const {
    const auto after = patch::MergePatch(before, patch);
    EXPECT_TRUE(after.has_value());
    return Refusals(before, *after);
  }
  void ExpectAllowed(const Json& before, const std::string& patch) {
    ASSERT_NE(patch, "");
    EXPECT_EQ(RefusalsOfPatch(before, ParseJsonOrNull(patch)), std::vector<std::string>()) << patch;
  }
  void ExpectRefused(const Json& before, const Json& patch, const std::string& part) {
    const std::vector<std::string> messages = RefusalsOfPatch(before, patch);
    ASSERT_EQ(messages.size(), 1U) << patch;
    EXPECT_NE(messages.front().find(part), std::string::npos) << messages.front();
  }
  [[nodiscard]] static Json Annotations(const Json& annotations) {
    return {{"metadata", {{"annotations", annotations}}}};
  }
  [[nodiscard]] static Json LabelsOf(const Json& labels) {
    return {{"metadata", {{"labels", labels}}}};
  }

  const Json policy_ = ReadPolicy();
  Json user_ = {{"username", kUser},
                {"extra", {{"authentication.kubernetes.io/node-name", {testing::kHere}}}}};
  const Json node_ = {{"kind", "Node"},
                      {"metadata",
                       {{"name", testing::kHere},
                        {"resourceVersion", "7"},
                        {"labels", {{"kubernetes.io/hostname", testing::kHere}}},
                        {"annotations", {{"hami.io/mutex.lock", "2026-01-01T00:00:00Z,ns,a"}}}}},
                      {"spec", {{"podCIDR", "10.0.0.0/24"}}}};
  const Json bare_node_ = {
      {"kind", "Node"}, {"metadata", {{"name", testing::kHere}}}, {"spec", Json::object()}};
};

Json ObjectOf(const KnownPod& pod) {
  return {{"kind", "Pod"},
          {"metadata",
           {{"name", pod.name},
            {"namespace", pod.ns},
            {"uid", pod.uid},
            {"annotations", pod.annotations}}},
          {"spec", {{"nodeName", testing::kHere}}}};
}

TEST_F(AgentPolicy, AllowsWhatTheAgentPublishesAndWithdraws) {
  Machine machine;
  machine.node = testing::EightGpus();
  machine.clique = "c.1";
  AgentFacts facts = {.version = "1", .identity = "lock", .shares = 1, .boot = "b"};
  facts.fabric = "{}";
  for (const Json& node : {node_, bare_node_}) {
    const std::string patch = PatchToPublish(machine, facts, ReadNodeNotes(DumpJson(node)), Time{});
    ExpectAllowed(node, patch);
    const Json published = patch::MergePatch(node, ParseJsonOrNull(patch)).value();
    ASSERT_EQ(published["metadata"]["labels"].contains("nvidia.com/gpu.clique"), true);
    ExpectAllowed(published, PatchToWithdraw(ReadNodeNotes(DumpJson(published))));
  }
}

TEST_F(AgentPolicy, AllowsWhatTheAgentSettlesAndCorrects) {
  const KnownPod a = testing::PodWith("a", {1});
  const KnownPod b = testing::PodWith("b", {2});
  Journal journal;
  std::vector<HeldDevices> held;
  for (const KnownPod& pod : {a, b}) {
    const bool first = pod.name == "a";
    journal.Put({.uid = pod.uid,
                 .ns = pod.ns,
                 .pod = pod.name,
                 .container = "main",
                 .uuids = {testing::G(first ? 1 : 2)},
                 .ids = testing::Ids({first ? 1 : 2}),
                 .served = Time{}});
    held.push_back(
        {.ns = pod.ns, .pod = pod.name, .container = "main", .ids = testing::Ids({first ? 2 : 1})});
  }
  ExpectAllowed(ObjectOf(a), PatchOf(SettleServed(a, journal), NodeLocked::kYes));
  ExpectAllowed(ObjectOf(a), PatchOf(SettleRefused(a), NodeLocked::kNo));
  ExpectAllowed(node_, PatchToReleaseLock("7"));

  const std::vector<KnownPod> pods = {a, b};
  const NodeGpus gpus = testing::EightGpus();
  const Reconciliation result = Reconcile({.node = testing::kHere,
                                           .journal = journal,
                                           .held = held,
                                           .pods = pods,
                                           .gpus = gpus,
                                           .now = Time(std::chrono::hours(1))});
  ASSERT_EQ(result.corrections.size(), 2U);
  ExpectAllowed(ObjectOf(a), DumpJson(Annotations(result.corrections[0].annotations)));
  ExpectAllowed(ObjectOf(b), DumpJson(Annotations(result.corrections[1].annotations)));
}

TEST_F(AgentPolicy, RefusesOtherNodesAndTheirPods) {
  const Json word = Annotations({{"strata.sh/agent", "{}"}});
  Json other = node_;
  other["metadata"]["name"] = "n2";
  ExpectRefused(other, word, "the Node that it runs on");
  const Json phase = Annotations({{"hami.io/bind-phase", "success"}});
  Json pod = ObjectOf(testing::PodWith("a", {1}));
  pod["spec"]["nodeName"] = "n2";
  ExpectRefused(pod, phase, "the Node that it runs on");
  pod["spec"] = Json::object();
  ExpectRefused(pod, phase, "the Node that it runs on");
  user_["extra"] = {{"authentication.kubernetes.io/node-name", {"n2"}}};
  ExpectRefused(node_, word, "the Node that it runs on");
  // A token that belongs to no pod.
  user_.erase("extra");
  ExpectRefused(node_, word, "the Node that it runs on");
  ExpectRefused(ObjectOf(testing::PodWith("a", {1})), phase, "the Node that it runs on");
}

TEST_F(AgentPolicy, RefusesSpecTaintsFinalizersAndOwners) {
  const Json taints = {{"spec", {{"taints", {{{"key", "k"}, {"effect", "NoExecute"}}}}}}};
  ExpectRefused(node_, taints, "nothing else");
  ExpectRefused(bare_node_, {{"spec", {{"unschedulable", true}}}}, "nothing else");
  ExpectRefused(node_, {{"metadata", {{"finalizers", {"x/y"}}}}}, "nothing else");
  ExpectRefused(node_, {{"metadata", {{"ownerReferences", {{{"name", "o"}}}}}}}, "nothing else");
  const Json pod = ObjectOf(testing::PodWith("a", {1}));
  ExpectRefused(pod, {{"spec", {{"activeDeadlineSeconds", 1}}}}, "nothing else");
}

TEST_F(AgentPolicy, RefusesKeysOfOthers) {
  ExpectRefused(node_, Annotations({{"hami.io/device-cordon", "GPU-1"}}), "annotations of a Node");
  ExpectRefused(node_,
                Annotations({{"hami.io/mutex.lock", "2026-01-01T00:00:00Z,ns,b"}}),
                "annotations of a Node");
  ExpectRefused(bare_node_,
                Annotations({{"hami.io/mutex.lock", "2026-01-01T00:00:00Z,ns,b"}}),
                "annotations of a Node");
  Json node = node_;
  node["metadata"]["annotations"]["volumes.kubernetes.io/x"] = "y";
  ExpectRefused(node, Annotations({{"volumes.kubernetes.io/x", nullptr}}), "annotations of a Node");
  ExpectRefused(node_, LabelsOf({{"strata.sh/gpu-agent", "true"}}), "labels of a Node");
  ExpectRefused(node_, LabelsOf({{"kubernetes.io/hostname", "n2"}}), "labels of a Node");
  ExpectRefused(node_, LabelsOf({{"kubernetes.io/hostname", nullptr}}), "labels of a Node");
  const Json pod = ObjectOf(testing::PodWith("a", {1}));
  ExpectRefused(pod, Annotations({{"hami.io/vgpu-node", "n2"}}), "annotations of a pod");
  ExpectRefused(pod, Annotations({{"hami.io/bind-phase", nullptr}}), "annotations of a pod");
  ExpectRefused(pod, LabelsOf({{"app", "x"}}), "no label of a pod");
}

TEST_F(AgentPolicy, IsAboutTheAgentAlone) {
  user_["username"] = "system:serviceaccount:volcano-system:strata-scheduler";
  EXPECT_TRUE(RefusalsOfPatch(node_, {{"spec", {{"unschedulable", true}}}}).empty());
}

}  // namespace
}  // namespace strata::agent
