#include "agent/publish.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "convert/gpu_annotations.h"
#include "convert/node_lock.h"
#include "json/parse.h"

namespace strata::agent {
namespace {

using Json = nlohmann::json;
using std::chrono::minutes;

constexpr const char* kAgent = "strata.sh/agent";
constexpr const char* kRegister = "hami.io/node-nvidia-register";
constexpr const char* kScore = "hami.io/node-nvidia-score";
constexpr const char* kProduct = "nvidia.com/gpu.product";

const Time kNow{std::chrono::sys_days(std::chrono::year(2026) / 11 / 18)};

Machine MachineOfTwo(bool linked = true) {
  Machine machine;
  for (int i = 0; i < 2; ++i) {
    Gpu& gpu = machine.node.gpus.emplace_back();
    gpu.uuid = "GPU-" + std::to_string(i);
    gpu.index = i;
    gpu.slots = 10;
    gpu.memory_mib = 81'920;
    gpu.cores = 100;
    gpu.type = "NVIDIA-A100 80GB";
    gpu.mode = "hami-core";
    gpu.healthy = true;
  }
  LinkGraph links(2);
  if (linked) {
    links.Set(0, 1, {.pcie = PcieLevel::kNode, .nvlinks = 12});
    links.Set(1, 0, {.pcie = PcieLevel::kNode, .nvlinks = 12});
  }
  machine.node.scores = links.Scores();
  return machine;
}

const AgentFacts kFacts = {.version = "0.1", .identity = "pods-api", .shares = 10, .boot = "b"};

// The Node after the patch, as an API server would merge it.
void Merge(NodeNotes& node, const std::string& patch) {
  const Json json = ParseJsonOrNull(patch);
  const auto merge = [&](const char* part, Labels& into) {
    if (!json["metadata"].contains(part)) return;
    for (const auto& [key, value] : json["metadata"][part].items()) {
      if (value.is_null()) {
        into.erase(key);
      } else {
        into[key] = value.get<std::string>();
      }
    }
  };
  merge("annotations", node.annotations);
  merge("labels", node.labels);
}

NodeNotes Published(const Machine& machine, NodeNotes node = {}, Time now = kNow) {
  Merge(node, PatchToPublish(machine, kFacts, node, now));
  return node;
}

TEST(Publish, SaysWhatTheSchedulerReads) {
  const NodeNotes node = Published(MachineOfTwo());
  const auto read = ReadNodeGpus(node.annotations);
  ASSERT_TRUE(read.has_value());
  EXPECT_TRUE(read->warnings.empty());
  EXPECT_EQ(read->node, MachineOfTwo().node);
  EXPECT_FALSE(NeedsNodeLock(node.annotations, GpuDialect::kHami))
      << "it learns from the kubelet which pod it serves";
  EXPECT_EQ(node.labels.at(kProduct), "NVIDIA-A100-80GB");
  EXPECT_EQ(node.labels.at("nvidia.com/gpu.count"), "2");
  EXPECT_EQ(node.labels.at("nvidia.com/gpu.memory"), "81920");
  EXPECT_FALSE(node.labels.contains("nvidia.com/gpu.clique"));
}

TEST(Publish, WritesNothingTwiceButThatItIsAlive) {
  const NodeNotes node = Published(MachineOfTwo());
  EXPECT_EQ(PatchToPublish(MachineOfTwo(), kFacts, node, kNow + minutes(4)), "");
  const Json patch =
      ParseJsonOrNull(PatchToPublish(MachineOfTwo(), kFacts, node, kNow + minutes(5)));
  EXPECT_EQ(patch["metadata"].size(), 1U);
  ASSERT_EQ(patch["metadata"]["annotations"].size(), 1U);
  const Json says = ParseJsonOrNull(patch["metadata"]["annotations"][kAgent].get<std::string>());
  EXPECT_EQ(says["seen"], "2026-11-18T00:05:00Z");
}

TEST(Publish, AnHourWritesTwelveSignsOfLife) {
  NodeNotes node = Published(MachineOfTwo());
  int writes = 0;
  for (int second = 1; second <= 3600; ++second) {
    const Time now = kNow + std::chrono::seconds(second);
    const std::string patch = PatchToPublish(MachineOfTwo(), kFacts, node, now);
    if (patch.empty()) continue;
    ++writes;
    Merge(node, patch);
  }
  EXPECT_EQ(writes, 12);
}

TEST(Publish, WritesWhatChangedAlone) {
  NodeNotes node = Published(MachineOfTwo());
  Machine machine = MachineOfTwo();
  machine.node.gpus[1].healthy = false;
  const Json patch = ParseJsonOrNull(PatchToPublish(machine, kFacts, node, kNow));
  ASSERT_EQ(patch["metadata"]["annotations"].size(), 1U);
  EXPECT_TRUE(patch["metadata"]["annotations"].contains(kRegister));
}

TEST(Publish, PutsBackWhatSomebodyRemoved) {
  NodeNotes node = Published(MachineOfTwo());
  node.annotations.erase(kRegister);
  EXPECT_THAT(PatchToPublish(MachineOfTwo(), kFacts, node, kNow), ::testing::HasSubstr(kRegister));
}

TEST(Publish, RemovesLinksThatAreNotKnownAndGpusThatAreNotThere) {
  NodeNotes node = Published(MachineOfTwo());
  ASSERT_TRUE(node.annotations.contains(kScore));
  node = Published(MachineOfTwo(false), node);
  EXPECT_FALSE(node.annotations.contains(kScore));
  node = Published({}, node);
  EXPECT_FALSE(node.annotations.contains(kRegister));
  EXPECT_FALSE(node.labels.contains(kProduct));
}

TEST(Publish, LeavesLabelsThatSomebodyElseSet) {
  NodeNotes node;
  node.labels[kProduct] = "by-GFD";
  node = Published(MachineOfTwo(), node);
  EXPECT_EQ(node.labels.at(kProduct), "by-GFD");
  EXPECT_EQ(node.labels.at("nvidia.com/gpu.count"), "2");
  node.labels["nvidia.com/gpu.count"] = "two";  // now it is theirs
  node = Published({}, node);
  EXPECT_EQ(node.labels.at("nvidia.com/gpu.count"), "two");
}

TEST(Publish, TakesBackWhatItWroteAndNothingElse) {
  NodeNotes node;
  node.labels[kProduct] = "by-GFD";
  node.annotations["kept"] = "yes";
  node = Published(MachineOfTwo(), node);
  Merge(node, PatchToWithdraw(node));
  EXPECT_EQ(node.annotations, (Labels{{"kept", "yes"}}));
  EXPECT_EQ(node.labels, (Labels{{kProduct, "by-GFD"}}));
  EXPECT_EQ(PatchToWithdraw(node), "");
}

TEST(Publish, KnowsANodeWhoseGpusSomebodyElseRegisters) {
  NodeNotes node;
  EXPECT_FALSE(HasOtherAgent(node));
  node.annotations[kRegister] = "[]";
  EXPECT_TRUE(HasOtherAgent(node));
  EXPECT_FALSE(HasOtherAgent(Published(MachineOfTwo(), node)));
}

TEST(Publish, ReadsAnyNode) {
  EXPECT_TRUE(ReadNodeNotes("{").annotations.empty());
  EXPECT_TRUE(ReadNodeNotes(R"({"metadata":{"annotations":[1],"labels":null}})").labels.empty());
  const NodeNotes node = ReadNodeNotes(R"({"metadata":{"annotations":{"a":"b","c":1}}})");
  EXPECT_EQ(node.annotations, (Labels{{"a", "b"}}));
}

TEST(Publish, AClockThatWentBackOrATextOfSomebodyElseIsWrittenAnew) {
  NodeNotes node = Published(MachineOfTwo());
  EXPECT_NE(PatchToPublish(MachineOfTwo(), kFacts, node, kNow - minutes(1)), "");
  node.annotations[kAgent] = "mine";
  EXPECT_NE(PatchToPublish(MachineOfTwo(), kFacts, node, kNow), "");
}

}  // namespace
}  // namespace strata::agent
