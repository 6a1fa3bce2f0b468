#include "admission/manifest_judge.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "objects/load.h"
#include "schema/catalog.h"

namespace strata::admission {
namespace {

using objects::OnFault;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kMisspeltGroup = R"(
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: g, namespace: default%s}
spec:
  minMembr: 4
  networkTopology: {mode: hard, highestTierAlowed: 1}
)";

std::string With(std::string text, const std::string& more) {
  const std::size_t at = text.find("%s");
  return at == std::string::npos ? text : text.replace(at, 2, more);
}

Result<objects::ObjectSet> Read(std::string text, OnFault on_fault = OnFault::kFail) {
  const std::vector<objects::Source> sources = {{"in.yaml", std::move(text)}};
  return objects::ParseManifests(sources, JudgeManifest, on_fault);
}

std::string ErrorOf(std::string text) {
  const auto read = Read(std::move(text));
  return read ? "no error" : read.error().message;
}

TEST(JudgeManifest, RejectsFieldsThatTheSchemaDoesNotKnow) {
  EXPECT_EQ(ErrorOf(With(kMisspeltGroup, "")),
            "in.yaml: PodGroup default/g: unknown field \"spec.minMembr\"; unknown field "
            "\"spec.networkTopology.highestTierAlowed\"");
  EXPECT_EQ(ErrorOf("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
                    "spec: {nodeSelectr: {rack: a}, containers: [{name: c, image: i}]}\n"),
            "in.yaml: Pod default/p: unknown field \"spec.nodeSelectr\"");
}

TEST(JudgeManifest, NamesTheUnknownFieldBeforeWhatFollowsFromIt) {
  EXPECT_THAT(ErrorOf("apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: j}\n"
                      "spec:\n  minAvailable: 1\n  tasks:\n  - name: w\n    replicaz: 1\n"
                      "    template: {spec: {containers: [{name: c, image: i}]}}\n"),
              HasSubstr("in.yaml: Job default/j: unknown field \"spec.tasks[0].replicaz\"; "));
}

TEST(JudgeManifest, RejectsAModeInAnotherCase) {
  EXPECT_EQ(ErrorOf("apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\n"
                    "metadata: {name: g}\n"
                    "spec: {minMember: 1, networkTopology: {mode: Hard, highestTierAllowed: 1}}\n"),
            "in.yaml: PodGroup default/g: spec.networkTopology.mode: Unsupported value: \"Hard\": "
            "supported values: \"hard\", \"soft\"");
}

TEST(JudgeManifest, LooksIntoTheTemplatesOfAJob) {
  EXPECT_EQ(
      ErrorOf("apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: j}\n"
              "spec:\n  minAvailable: 1\n  tasks:\n  - name: w\n    replicas: 1\n    template:\n"
              "      metadata: {annotations: {hami.io/gpu-scheduler-policy: topologyaware}}\n"
              "      spec: {tolerationz: [], containers: [{name: c, image: i}]}\n"),
      "in.yaml: Job default/j: unknown field \"spec.tasks[0].template.spec.tolerationz\"; "
      "spec.tasks[0].template.metadata.annotations[hami.io/gpu-scheduler-policy]: "
      "\"topologyaware\" is not a policy (want binpack, spread, numa, mutex or topology-aware)");
}

TEST(JudgeManifest, OnlyWarnsOfWhatAServerHasAccepted) {
  const auto read = Read(With(kMisspeltGroup, ", resourceVersion: \"7\""));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->pod_groups.size(), 1);
  EXPECT_THAT(read->faults,
              ElementsAre("in.yaml: PodGroup default/g: unknown field \"spec.minMembr\"",
                          "in.yaml: PodGroup default/g: unknown field "
                          "\"spec.networkTopology.highestTierAlowed\""));
}

TEST(JudgeManifest, OnlyWarnsOfPodsOnANode) {
  const auto read = Read(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
      "spec: {nodeName: n0, newField: 1, containers: [{name: c, image: i}]}\n");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(read->faults, ElementsAre("in.yaml: Pod default/p: unknown field \"spec.newField\""));
}

TEST(JudgeManifest, OnlyWarnsWhenAskedTo) {
  const auto read = Read(With(kMisspeltGroup, ""), OnFault::kWarn);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->faults.size(), 2);
}

TEST(JudgeManifest, SaysTheSameOfManyObjectsOnce) {
  std::string text;
  for (const char* name : {"a", "b", "c"}) {
    text += std::string("---\napiVersion: v1\nkind: Node\nmetadata: {name: ") + name +
            ", resourceVersion: \"1\"}\nstatus: {features: {}, newField: 1}\n";
  }
  const auto read = Read(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(read->faults,
              ElementsAre("in.yaml: Node a: unknown field \"status.newField\" (and 2 more Nodes)"));
}

TEST(JudgeManifest, LeavesOutAnAcceptedObjectThatCannotBeRead) {
  const auto read = Read(
      "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\n"
      "metadata: {name: g, resourceVersion: \"7\"}\n"
      "spec: {minMember: 1, networkTopology: {mode: medium}}\n"
      "---\napiVersion: v1\nkind: Node\nmetadata: {name: n0}\n");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(read->pod_groups, IsEmpty());
  EXPECT_EQ(read->nodes.size(), 1);
  EXPECT_THAT(read->faults, ElementsAre(HasSubstr("skipped: in.yaml: PodGroup default/g: ")));
}

TEST(StrictFaults, LeavesOutWhatWasThereBefore) {
  const auto schema = schema::BuiltIn("", "v1", "Pod");
  const nlohmann::json before = {{"metadata", {{"annotations", {{"strata.sh/evict", "x"}}}}},
                                 {"old", 1}};
  nlohmann::json after = before;
  EXPECT_THAT(StrictFaults(*schema, after, before), IsEmpty());
  after["new"] = 1;
  after["metadata"]["labels"]["volcano.sh/preemptable"] = "y";
  EXPECT_THAT(StrictFaults(*schema, after, before),
              ElementsAre("unknown field \"new\"",
                          "metadata.labels[volcano.sh/preemptable]: found \"y\", want true or "
                          "false"));
}

}  // namespace
}  // namespace strata::admission
