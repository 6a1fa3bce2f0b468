#include "virtual_nodes/agents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "agent/test_pods.h"
#include "nvml/node_annotations.h"

namespace strata::virtual_nodes {
namespace {

using agent::KnownPod;
using agent::testing::EightGpus;
using agent::testing::kHere;
using agent::testing::Pod;
using agent::testing::PodWith;
using agent::testing::Slot;
using agent::testing::WithRecord;
using Kind = Agents::Answer::Kind;
using Json = nlohmann::json;
using ::testing::HasSubstr;

// A machine of eight GPUs, each for one container.
SeenNode Machine() {
  SeenNode node;
  node.name = kHere;
  node.agent = SeenNode::Agent::kWorks;
  node.gpus[nvml::kRegisterKey] = nvml::RegisterText(EightGpus());
  node.gpus[nvml::kScoreKey] = nvml::ScoreText(EightGpus());
  return node;
}

class AgentsTest : public ::testing::Test {
 protected:
  // Asks until nothing is to be written, as the kubelet does.
  Agents::Answer Start(KnownPod pod) {
    Agents::Answer answer = agents.Admit(node, pod, Time());
    if (answer.kind != Kind::kWrite) return answer;
    const Json written = Json::parse(answer.text);
    EXPECT_EQ(written["metadata"]["uid"], pod.uid);
    for (const auto& [key, value] : written["metadata"]["annotations"].items()) {
      pod.annotations[key] = value.get<std::string>();
    }
    phase = pod.annotations["hami.io/bind-phase"];
    return agents.Admit(node, pod, Time());
  }

  Agents agents;
  SeenNode node = Machine();
  std::string phase;  // that the last pod got
};

TEST_F(AgentsTest, APodWithARecordStartsOnceItIsWrittenThatItWasServed) {
  EXPECT_EQ(Start(PodWith("a", {2, 5})).kind, Kind::kStart);
  EXPECT_EQ(phase, "success");
  EXPECT_EQ(agents.served(), 1U);
}

TEST_F(AgentsTest, ARecordThatCannotBeUsedFailsThePodAndSaysWhy) {
  const auto answer = Start(WithRecord(Pod("a", 1), Slot({1}), "elsewhere"));
  EXPECT_EQ(answer.kind, Kind::kRefused);
  EXPECT_THAT(answer.text, HasSubstr("its record is for node \"elsewhere\""));
  EXPECT_EQ(phase, "failed");
  EXPECT_EQ(agents.served(), 0U);
}

TEST_F(AgentsTest, ARefusalFromBeforeARestartFailsThePod) {
  KnownPod pod = PodWith("a", {1});
  pod.annotations["hami.io/bind-phase"] = "failed";
  const auto answer = agents.Admit(node, pod, Time());
  EXPECT_EQ(answer.kind, Kind::kRefused);
  EXPECT_THAT(answer.text, HasSubstr("the agent has refused it"));
}

TEST_F(AgentsTest, APodWithoutARecordGetsFreeGpusUntilThereAreNone) {
  EXPECT_EQ(Start(Pod("a", 5)).kind, Kind::kStart);
  const auto answer = Start(Pod("b", 4));
  EXPECT_EQ(answer.kind, Kind::kRefused);
  EXPECT_THAT(answer.text, HasSubstr("Requested: 4, Available: 3"));
  agents.Release("ns/a");
  EXPECT_EQ(agents.served(), 0U);
  EXPECT_EQ(Start(Pod("b", 4)).kind, Kind::kStart);
  EXPECT_EQ(phase, "") << "nobody reads it of a pod without a record";
}

TEST_F(AgentsTest, ContainersGetTheIdsOfInitContainersAgain) {
  KnownPod pod = Pod("a", 8);
  pod.containers.insert(pod.containers.begin(),
                        {.name = "init", .kind = agent::KnownContainer::Kind::kInit, .gpus = 8});
  EXPECT_EQ(Start(pod).kind, Kind::kStart);
  EXPECT_EQ(agents.served(), 2U);
  EXPECT_EQ(Start(Pod("b", 1)).kind, Kind::kRefused);
}

TEST_F(AgentsTest, AnUnhealthyGpuIsNotGiven) {
  NodeGpus gpus = EightGpus();
  gpus.gpus[3].healthy = false;
  node.gpus[nvml::kRegisterKey] = nvml::RegisterText(gpus);
  const auto answer = Start(PodWith("a", {3}));
  EXPECT_EQ(answer.kind, Kind::kRefused);
  EXPECT_THAT(answer.text, HasSubstr("is not healthy"));
  EXPECT_EQ(Start(Pod("b", 8)).kind, Kind::kRefused);
  EXPECT_EQ(Start(Pod("c", 7)).kind, Kind::kStart);
}

TEST_F(AgentsTest, APodOfTheSameNameThatComesLaterIsAnotherOne) {
  EXPECT_EQ(Start(Pod("a", 8)).kind, Kind::kStart);
  KnownPod later = Pod("a", 8);
  later.uid = "later";
  EXPECT_EQ(Start(later).kind, Kind::kStart);
  EXPECT_EQ(agents.served(), 1U);
}

}  // namespace
}  // namespace strata::virtual_nodes
