#include "explain/advice_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "explain/explain.h"
#include "explain/pod_patch.h"
#include "os/process.h"
#include "whatif/test_support.h"

namespace strata {
namespace {

using testing::IsEmpty;

TEST(ShellWord, IsReadByAShellAsItWasWritten) {
  for (const std::string text : {"train",
                                 "",
                                 "a b",
                                 "it's",
                                 "'",
                                 "$(reboot)",
                                 "`reboot`",
                                 "a;b|c&d>e<f",
                                 "\"\\",
                                 "*?[a]~!#",
                                 "new\nline",
                                 "{\"spec\":{\"a\":'b'}}",
                                 "nvidia.com/gpu=A100"}) {
    const auto output =
        os::RunProcess({.words = {"sh", "-c", "printf %s " + ShellWord(text)}, .environment = {}},
                       {.time = std::chrono::seconds(60), .bytes = 1000});
    ASSERT_TRUE(output.has_value());
    EXPECT_EQ(output->out, text);
  }
  EXPECT_EQ(ShellWord("train"), "train") << "what needs no quotes has none";
}

// The command of the change with that text; "" when it is not advised.
std::string CommandOf(const std::string& manifests,
                      const std::string& job,
                      const std::string& text) {
  const CompletedObjects completed = CompleteObjects(objects::MustLoad(manifests)).value();
  const SchedulerConfig config = DefaultSchedulerConfig();
  const auto story = ExplainJob(
      {.objects = &completed, .config = &config, .options = {}, .job = job, .progress = nullptr});
  EXPECT_TRUE(story && story->relaxations) << "the job does not wait";
  if (!story || !story->relaxations) return "";
  for (const Relaxation& relaxation : story->relaxations->found) {
    if (relaxation.text == text) return relaxation.command.line;
  }
  return "";
}

constexpr const char* kReplace = " --dry-run=client -o yaml | kubectl replace --force -f -";

TEST(AdviceCommands, AFieldOfAJobThatCannotChangeIsChangedByReplacingTheJob) {
  EXPECT_EQ(CommandOf(EightNodes("cpu: 1") + GangOf("gang", 3, "cpu: 1", "highestTierAllowed: 1"),
                      "default/gang-gang",
                      "allow tier 2: spec.networkTopology.highestTierAllowed 2 instead of 1"),
            std::string("kubectl patch vcjob gang -n default --type=json -p "
                        R"('[{"op":"add","path":"/spec/networkTopology",)"
                        R"("value":{"mode":"hard","highestTierAllowed":2}}]')") +
                kReplace);
}

TEST(AdviceCommands, TheMinimumOfAJobIsPatchedInPlace) {
  EXPECT_EQ(CommandOf(EightNodes("cpu: 1") + GangOf("gang", 9, "cpu: 1", ""),
                      "default/gang-gang",
                      "start with 8 pods instead of 9: spec.minAvailable 8"),
            R"(kubectl patch vcjob gang -n default --type=merge -p '{"spec":{"minAvailable":8}}')");
}

TEST(AdviceCommands, APodGroupThatSomebodyWroteIsPatchedItself) {
  std::string manifests =
      EightNodes("cpu: 1") +
      "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: g, "
      "namespace: default}\nspec: {minMember: 9, minResources: {cpu: 9}}\n---\n";
  for (int i = 0; i < 9; ++i) {
    manifests +=
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p" + std::to_string(i) +
        ", namespace: default, annotations: {scheduling.k8s.io/group-name: g}}\n"
        "spec: {schedulerName: volcano, containers: [{name: c, image: i, resources: {requests: "
        "{cpu: 1}}}]}\n---\n";
  }
  EXPECT_EQ(CommandOf(manifests, "default/g", "start with 8 pods instead of 9: spec.minMember 8"),
            "kubectl patch podgroup g -n default --type=json -p "
            R"('[{"op":"add","path":"/spec/minMember","value":8},)"
            R"({"op":"add","path":"/spec/minResources","value":{"cpu":"8"}}]')");
}

std::string LonePod(const std::string& spec) {
  return "apiVersion: v1\nkind: Node\nmetadata: {name: n0}\nspec: {taints: [{key: team, value: "
         "red, effect: NoSchedule}]}\nstatus: {allocatable: {cpu: 4, pods: 10}}\n---\n"
         "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: default}\nspec: {" +
         spec +
         "schedulerName: volcano, containers: [{name: c, image: i, resources: {requests: {cpu: "
         "1}}}]}\n---\n";
}

TEST(AdviceCommands, APodIsPatchedWhereKubernetesAllowsItAndElseReplaced) {
  EXPECT_EQ(CommandOf(LonePod(""), "default/podgroup-p", "tolerate the taint team=red:NoSchedule"),
            "kubectl patch pod p -n default --type=json -p "
            R"('[{"op":"add","path":"/spec/tolerations","value":[{"key":"team",)"
            R"("operator":"Equal","value":"red","effect":"NoSchedule"}]}]')");
  EXPECT_EQ(CommandOf(LonePod("tolerations: [{operator: Exists}], nodeSelector: {a.b/zone: x}, "),
                      "default/podgroup-p",
                      "drop nodeSelector a.b/zone=x"),
            std::string("kubectl patch pod p -n default --type=json -p "
                        R"('[{"op":"remove","path":"/spec/nodeSelector/a.b~1zone"}]')") +
                kReplace);
}

Requirement Having(const std::string& key) {
  return {.key = key, .op = SelectorOp::kExists, .values = {}};
}

std::vector<std::string> PathsOf(const std::vector<PatchStep>& steps) {
  std::vector<std::string> paths;
  for (const PatchStep& step : steps) paths.push_back(step.path);
  return paths;
}

TEST(PodPatch, WritesWhatIsLeftOfATerm) {
  objects::PodSpec spec;
  const std::string required =
      "/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution";
  spec.node_affinity.required = {{.labels = {Having("a"), Having("b"), Having("a")}, .fields = {}}};
  const std::vector<PatchStep> steps = WithoutRequirementSteps(Having("a"), spec);
  EXPECT_THAT(PathsOf(steps),
              testing::ElementsAre(required + "/nodeSelectorTerms/0/matchExpressions"));
  EXPECT_EQ(steps.front().value, R"([{"key":"b","operator":"Exists"}])");
  EXPECT_THAT(WithoutRequirementSteps(Having("c"), spec), IsEmpty());
  spec.node_affinity.required = {{.labels = {Having("a")}, .fields = {}},
                                 {.labels = {Having("b")}, .fields = {}}};
  EXPECT_THAT(PathsOf(WithoutRequirementSteps(Having("a"), spec)), testing::ElementsAre(required))
      << "an empty term would match nothing";
}

TEST(PodPatch, TakesEntriesAwayFromTheLastToTheFirst) {
  EXPECT_THAT(PathsOf(WithoutEntrySteps("/list", 1, std::vector{1, 2, 1})),
              testing::ElementsAre("/list/2", "/list/0"));
}

TEST(AdviceCommands, WhatHoldsTheRoomIsEndedSoThatItCanStartAgain) {
  const auto owned = [](const std::string& name, const std::string& kind) {
    return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
           ", namespace: ml, annotations: {scheduling.k8s.io/group-name: g}" +
           (kind.empty() ? ""
                         : ", ownerReferences: [{apiVersion: apps/v1, kind: " + kind +
                               ", name: owner, uid: u, controller: true}]") +
           "}\nspec: {schedulerName: volcano, nodeName: n0, containers: [{name: c, image: "
           "i}]}\nstatus: {phase: Running}\n---\n";
  };
  const auto end = [](const std::string& manifests) {
    const CompletedObjects objects = CompleteObjects(objects::MustLoad(manifests)).value();
    return EndCommand(objects, {.kind = Holder::Kind::kJob, .name = "ml/g"}).line;
  };
  EXPECT_EQ(end(owned("a", "StatefulSet") + owned("b", "StatefulSet")),
            "kubectl scale statefulset owner -n ml --replicas=0");
  EXPECT_EQ(end(owned("a", "") + owned("b", "")), "kubectl delete pod a b -n ml");
  EXPECT_EQ(
      end(owned("a", "Job")),
      R"(kubectl patch jobs.v1.batch owner -n ml --type=merge -p '{"spec":{"suspend":true}}')");
  EXPECT_EQ(end(owned("a", "DaemonSet")), "") << "its controller would make the pod anew";
}

}  // namespace
}  // namespace strata
