// Random histories of objects: a state that followed them is the state that is loaded from what is
// left.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "convert/cluster_feed.h"
#include "convert/load_cluster.h"
#include "objects/load.h"
#include "tests/support/property.h"
#include "tests/support/recount.h"
#include "tests/support/state_dump.h"

namespace strata::testing {
namespace {

bool TakesVolcano(const objects::Pod& pod) {
  return pod.spec.scheduler_name == "volcano";
}

struct Object {
  std::string kind;
  std::string ns;  // "" for the cluster
  std::string name;
  std::string text;
};

Object Cluster(const std::string& api,
               const std::string& kind,
               std::string name,
               const std::string& rest,
               const std::string& meta = "") {
  std::string text =
      fmt::format(R"({{"apiVersion":"{}","kind":"{}","metadata":{{"name":"{}","uid":"{}"{}}}{}}})",
                  api,
                  kind,
                  name,
                  name,
                  meta,
                  rest);
  return {kind, "", std::move(name), std::move(text)};
}

// The annotations of a node that registers two GPUs, of one size or another, in one dialect or
// both; or nothing.
std::string RandomGpus() {
  const int dialects = *Below(4);
  if (dialects == 0) return "";
  const int memory = *Below(2) == 0 ? 80 : 30;
  const std::string hami = fmt::format(
      R"json("hami.io/node-nvidia-register":"[{{\"id\":\"GPU-0\",\"count\":10,\"devmem\":{},\"devcore\":100,\"health\":true}},{{\"id\":\"GPU-1\",\"count\":10,\"devmem\":{},\"devcore\":100,\"health\":{}}}]")json",
      memory,
      memory,
      *Below(2) == 0);
  const std::string volcano = fmt::format(
      R"("volcano.sh/node-vgpu-register":"GPU-1,10,{},NVIDIA-T4,true,hami-core:GPU-2,5,80,NVIDIA-T4,true,hami-core:")",
      memory);
  return fmt::format(R"(,"annotations":{{{}{}{}}})",
                     dialects == 2 ? "" : hami,
                     dialects == 3 ? "," : "",
                     dialects == 1 ? "" : volcano);
}

Object RandomNode() {
  const char* taints[] = {"", R"("taints":[{"key":"k","effect":"NoSchedule"}])"};
  return Cluster(
      "v1",
      "Node",
      fmt::format("n{}", *Below(4)),
      fmt::format(
          R"(,"spec":{{{}}},"status":{{"allocatable":{{"cpu":"{}","memory":"8Gi","pods":"9"{}{}{}}}}})",
          taints[*Below(2)],
          4 + *Below(3),
          *Below(2) == 0 ? "" : R"(,"vendor.com/x":"2")",
          *Below(3) == 0 ? "" : R"(,"nvidia.com/gpu":"20")",
          *Below(3) == 0
              ? ""
              : R"(,"volcano.sh/vgpu-number":"15","volcano.sh/vgpu-memory":"160","volcano.sh/vgpu-cores":"200")"),
      RandomGpus());
}

Object RandomHyperNode() {
  const int tier = 1 + *Below(2);
  return Cluster(
      "topology.volcano.sh/v1alpha1",
      "HyperNode",
      fmt::format("h{}{}", tier, *Below(2)),
      fmt::format(
          R"(,"spec":{{"tier":{},"members":[{{"type":"{}","selector":{{"exactMatch":{{"name":"{}"}}}}}}]}})",
          tier,
          tier == 1 ? "Node" : "HyperNode",
          tier == 1 ? fmt::format("n{}", *Below(4)) : fmt::format("h1{}", *Below(2))));
}

Object RandomQueue() {
  const char* names[] = {"default", "q", "root"};
  const char* name = names[*Below(3)];
  return Cluster("scheduling.volcano.sh/v1beta1",
                 "Queue",
                 name,
                 fmt::format(R"(,"spec":{{"weight":{}{}}})",
                             1 + *Below(3),
                             *Below(2) == 0 ? "" : R"(,"capability":{"cpu":"5"})"));
}

Object RandomPriorityClass() {
  return Cluster("scheduling.k8s.io/v1",
                 "PriorityClass",
                 fmt::format("p{}", *Below(2)),
                 fmt::format(R"(,"value":{})", *Below(3)));
}

Object RandomGroup() {
  const std::string name = fmt::format("g{}", *Below(3));
  const char* sub_groups[] = {
      "",
      R"(,"subGroupPolicy":[{"name":"s","subGroupSize":1,"matchLabelKeys":["part"]}])",
      R"(,"subGroupPolicy":[{"name":"t","subGroupSize":2,"matchLabelKeys":["part"]}])"};
  const char* phases[] = {"Pending", "Inqueue", "Running"};
  return {
      "PodGroup",
      "ns",
      name,
      fmt::format(
          R"({{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{{"name":"{}","namespace":"ns"}},)"
          R"("spec":{{"minMember":{},"queue":"{}","priorityClassName":"p{}"{}}},"status":{{"phase":"{}"}}}})",
          name,
          1 + *Below(3),
          *Below(2) == 0 ? "default" : "q",
          *Below(2),
          sub_groups[*Below(3)],
          phases[*Below(3)])};
}

Object RandomPod() {
  const std::string name = fmt::format("pod{}", *Below(6));
  const char* phases[] = {"Pending", "Running", "Succeeded"};
  const bool has_node = *Below(2) == 0;
  const char* rules[] = {
      "",
      R"(,"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"kubernetes.io/hostname","labelSelector":{"matchLabels":{"part":"1"}}}]}})"};
  const char* shares[] = {
      "",
      R"(,"limits":{"nvidia.com/gpu":"1","nvidia.com/gpumem":"10"})",
      R"(,"limits":{"nvidia.com/gpumem-percentage":"40","nvidia.com/gpucores":"50"})",
      R"(,"limits":{"volcano.sh/vgpu-number":"1","volcano.sh/vgpu-memory":"10"})",
      R"(,"limits":{"volcano.sh/vgpu-number":"2"})"};
  const char* claims[] = {"",
                          R"(,"hami.io/vgpu-devices-allocated":"GPU-1,NVIDIA,10,5:;")",
                          R"(,"hami.io/vgpu-devices-allocated":"GPU-9,NVIDIA,10,5:;")",
                          R"(,"volcano.sh/vgpu-ids-new":"GPU-2,NVIDIA,10,5:")"};
  return {
      "Pod",
      "ns",
      name,
      fmt::format(
          R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}","namespace":"ns","uid":"u{}","labels":{{"part":"{}"}},)"
          R"("annotations":{{"scheduling.k8s.io/group-name":"g{}","volcano.sh/task-spec":"r{}"{}}}{}}},)"
          R"("spec":{{"schedulerName":"{}"{}{},"containers":[{{"name":"c","resources":{{"requests":{{"cpu":"{}"}}{}}}}}]}},)"
          R"("status":{{"phase":"{}"}}}})",
          name,
          *Below(2),
          *Below(2),
          *Below(3),
          *Below(2),
          claims[*Below(4)],
          *Below(5) == 0 ? R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")" : "",
          *Below(4) == 0 ? "other" : "volcano",
          has_node ? fmt::format(R"(,"nodeName":"n{}")", *Below(4)) : "",
          rules[*Below(6) == 0 ? 1 : 0],
          *Below(3),
          shares[*Below(5)],
          has_node ? phases[*Below(3)] : "Pending")};
}

Object RandomQuota() {
  return {
      "ResourceQuota",
      "ns",
      "quota",
      fmt::format(
          R"({{"apiVersion":"v1","kind":"ResourceQuota","metadata":{{"name":"quota","namespace":"ns"}},"spec":{{"hard":{{"cpu":"{}"}}}}}})",
          1 + *Below(5))};
}

Object RandomObject() {
  const int choice = *Below(16);
  if (choice < 3) return RandomNode();
  if (choice < 5) return RandomHyperNode();
  if (choice < 6) return RandomQueue();
  if (choice < 7) return RandomPriorityClass();
  if (choice < 8) return RandomQuota();
  if (choice < 11) return RandomGroup();
  return RandomPod();
}

objects::ObjectSet Parse(const std::vector<objects::Source>& sources) {
  if (sources.empty()) return {};
  auto read = objects::ParseObjects(sources);
  if (!read) RC_FAIL(read.error().message);
  return *std::move(read);
}

// Nodes come and go; a name that one of them had stays known.
ClusterState& WithVgpus(ClusterState& state) {
  state.resource_names().Intern("volcano.sh/vgpu-number");
  return state;
}

struct World {
  ClusterState state;
  ClusterFeed feed{WithVgpus(state), TakesVolcano};
  std::map<std::string, objects::Source> left;
  std::optional<std::pair<std::uint64_t, std::string>>
      compared;  // version and state, when it last was

  World() { state.resource_names().Intern("nvidia.com/gpu"); }  // as the plugins of a scheduler do

  void Step() {
    const Object object = RandomObject();
    const std::string key = object.kind + " " + object.ns + "/" + object.name;
    if (*Below(3) == 0) {
      left.erase(key);
      feed.Remove(object.kind, object.ns, object.name);
      return;
    }
    left.insert_or_assign(key, objects::Source{key, object.text});
    const Status applied = feed.Apply(Parse({{key, object.text}}));
    RC_ASSERT(applied.has_value());
  }

  void Compare() {
    std::vector<std::string> problems;
    feed.Settle(problems);
    RC_ASSERT(problems.empty());
    std::vector<objects::Source> sources;
    for (const auto& [key, source] : left) sources.push_back(source);
    ClusterState loaded;
    const auto report = LoadCluster(Parse(sources), TakesVolcano, WithVgpus(loaded));
    RC_ASSERT(report.has_value());
    const auto dump = DumpState(feed.state());
    RC_ASSERT(dump == DumpState(loaded));
    // A reader that waits for the version to move misses nothing.
    if (compared && feed.version() == compared->first) RC_ASSERT(dump == compared->second);
    compared = {feed.version(), dump};
    RC_ASSERT(RecountMistakes(feed.state()).empty());
    std::map<std::string, std::size_t> seen;
    std::map<std::string, std::size_t> expected;
    for (const MissingGroup& group : feed.MissingGroups()) seen[group.name] = group.pods;
    for (const MissingGroup& group : report->missing_groups) expected[group.name] = group.pods;
    RC_ASSERT(seen == expected);
  }
};

TEST(ClusterFeed, IsTheStateThatIsLoadedFromWhatIsLeft) {
  CheckProperty(300, [] {
    World world;
    const int steps = *Below(60);
    for (int i = 0; i < steps; ++i) {
      world.Step();
      if (*Below(8) == 0) world.Compare();
    }
    world.Compare();
  });
}

}  // namespace
}  // namespace strata::testing
