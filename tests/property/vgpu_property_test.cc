// Random nodes and pods of Volcano's vGPU dialect, from manifests to records. The oracle is a model
// of Volcano's rules (order of the GPUs, why one is skipped, the record) with two additions of
// ours: a GPU that is not healthy is skipped first, and one whose cores are all in use serves
// nobody.
#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "convert/gpu_annotations.h"
#include "convert/load_cluster.h"
#include "objects/load.h"
#include "tests/support/cycle.h"
#include "tests/support/property.h"
#include "tests/support/recount.h"

namespace strata::testing {
namespace {

struct Card {
  std::string uuid, type, mode;
  int shares = 1;
  int memory = 0;
  bool healthy = true;
  int used_shares = 0, used_memory = 0, used_cores = 0;
  std::set<std::string> groups;  // PodGroups with a share of it
};

struct Box {
  std::string name;
  int number = 0, cores = 0, percent = 0;
  std::optional<int> memory;
};

struct VgpuWorld {
  std::vector<Card> cards;
  std::string policy;       // deviceshare.SchedulePolicy
  std::string no_resource;  // the kubelet hands out nothing of this
  std::string running;      // manifests of pods that run
  std::vector<Box> boxes;   // the containers of the pod that waits
  std::string use, avoid;   // UUIDs
  std::string use_type, avoid_type;
  std::string mode;     // that the pod wants
  bool spread = false;  // no GPU of its PodGroup
};

const std::vector<std::string> kTypes = {"NVIDIA-T4", "NVIDIA-A100"};

// ---- the model ----

// A percentage beats an amount; without both it is all of it.
int MemoryOf(const Box& box, const Card& card) {
  if (box.percent > 0) return card.memory * box.percent / 100;
  return box.memory.value_or(card.memory);
}

// Why the card is skipped; "": it is not.
std::string Skipped(const VgpuWorld& world, const Card& card, const Box& box) {
  const int memory = MemoryOf(box, card);
  const auto is = [&](const std::string& type) {
    return card.type.find(type) != std::string::npos;
  };
  if (!card.healthy) return "CardNotHealth";
  if (!world.mode.empty() && world.mode != card.mode) return "CardTypeMismatch";
  if (!world.use.empty() && world.use != card.uuid) return "CardUuidMismatch";
  if (!world.avoid.empty() && world.avoid == card.uuid) return "CardUuidMismatch";
  if (card.used_shares >= card.shares) {
    return card.shares == 1 ? "CardInUse" : "CardTimeSlicingExhausted";
  }
  if (world.spread && card.groups.contains("g")) return "CardUsedByPodGroup";
  if (card.memory - card.used_memory < memory) {
    return memory == card.memory ? "CardInUse" : "CardInsufficientMemory";
  }
  if (card.used_cores + box.cores > 100) return "CardInsufficientCore";
  if (box.cores == 100 && card.used_shares > 0) return "ExclusiveDeviceAllocateConflict";
  if (box.cores == 0 && card.used_cores == 100) return "CardComputeUnitsExhausted";
  if (!world.use_type.empty() && !is(world.use_type)) return "CardTypeMismatch";
  if (!world.avoid_type.empty() && is(world.avoid_type)) return "CardTypeMismatch";
  return "";
}

std::vector<std::size_t> OrderOf(const VgpuWorld& world) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < world.cards.size(); ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const Card& one = world.cards[a];
    const Card& other = world.cards[b];
    if (world.policy == "binpack") return one.used_memory > other.used_memory;
    if (world.policy == "spread") return one.used_shares < other.used_shares;
    return a > b;
  });
  return order;
}

struct Outcome {
  std::string record;
  std::string refusal;  // "1/2 CardInsufficientMemory"
};

std::string Refusal(const VgpuWorld& world, const std::map<std::string, int>& skipped) {
  std::vector<std::string> parts;
  for (const auto& [why, cards] : skipped) {
    parts.push_back(fmt::format("{}/{} {}", cards, world.cards.size(), why));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// The message without the types that a mismatch names: " (want t4, found NVIDIA-A100)".
std::string WithoutTypes(std::string message) {
  for (std::size_t at = message.find(" (want "); at != std::string::npos;
       at = message.find(" (want ", at)) {
    message.erase(at, message.find(')', at) + 1 - at);
  }
  return message;
}

Outcome Decide(VgpuWorld world) {
  std::vector<std::string> slots;
  for (const Box& box : world.boxes) {
    std::string& slot = slots.emplace_back();
    if (box.number == 0) continue;
    const auto number = static_cast<std::size_t>(box.number);
    if (number > world.cards.size()) return {"", "NodeInsufficientDevice"};
    std::map<std::string, int> skipped;
    std::vector<std::size_t> serve;
    for (const std::size_t at : OrderOf(world)) {
      const std::string why = Skipped(world, world.cards[at], box);
      if (why.empty()) serve.push_back(at);
      if (!why.empty()) ++skipped[why];
    }
    if (serve.size() < number) {
      if (!serve.empty()) {
        skipped["AllocatedCardsInsufficientRequest"] = static_cast<int>(serve.size());
      }
      return {"", Refusal(world, skipped)};
    }
    serve.resize(number);
    for (const std::size_t at : serve) {
      Card& card = world.cards[at];
      const int memory = MemoryOf(box, card);
      slot += fmt::format("{},NVIDIA,{},{}:", card.uuid, memory, box.cores);
      ++card.used_shares;
      card.used_memory += memory;
      card.used_cores += box.cores;
    }
  }
  return {fmt::format("{}", fmt::join(slots, ";")), ""};
}

// ---- random worlds ----

void AddRunning(VgpuWorld& world, int index) {
  Card& card = world.cards[static_cast<std::size_t>(*Below(static_cast<int>(world.cards.size())))];
  const int memory = 1000 * *Below(1 + std::max(0, card.memory - card.used_memory) / 1000);
  const int cores = 10 * *Below(1 + (100 - card.used_cores) / 10);
  if (card.used_shares == card.shares) return;
  const std::string group = *Below(2) == 0 ? "g" : "h";
  world.running += fmt::format(
      "apiVersion: v1\nkind: Pod\nmetadata: {{name: r{}, namespace: ns, annotations: "
      "{{scheduling.k8s.io/group-name: {}, volcano.sh/vgpu-node: n0, volcano.sh/vgpu-ids-new: "
      "'{},NVIDIA,{},{}:'}}}}\nspec: {{nodeName: n0, schedulerName: volcano, containers: [{{name: "
      "c, "
      "image: i, resources: {{limits: {{volcano.sh/vgpu-number: 1}}}}}}]}}\nstatus: {{phase: "
      "Running}}\n---\n",
      index,
      group,
      card.uuid,
      memory,
      cores);
  ++card.used_shares;
  card.used_memory += memory;
  card.used_cores += cores;
  card.groups.insert(group);
}

Box RandomBox(int index) {
  Box box{.name = fmt::format("c{}", index), .memory = std::nullopt};
  if (index > 0 && *Below(3) == 0) return box;  // asks for no GPU
  box.number = 1 + *Below(*Below(2) + 2);
  if (*Below(4) > 0) box.memory = 500 * (1 + *Below(*Below(2) == 0 ? 40 : 8));
  if (*Below(6) == 0) box.percent = 1 + *Below(100);
  if (*Below(2) == 0) box.cores = 10 * *Below(11);
  return box;
}

VgpuWorld RandomVgpuWorld() {
  VgpuWorld world;
  const std::string mode = *Below(8) == 0 ? "mps" : "hami-core";
  const int cards = 1 + *Below(5);
  for (int i = 0; i < cards; ++i) {
    Card& card = world.cards.emplace_back();
    card.uuid = fmt::format("GPU-{}", (i * 7 + 3) % 10);
    card.type = kTypes[static_cast<std::size_t>(*Below(2))];
    card.mode = mode;
    card.shares = 1 + *Below(4);
    card.memory = *Below(2) == 0 ? 16'384 : 40'960;
    card.healthy = *Below(8) != 0;
  }
  const char* policies[] = {"", "binpack", "spread"};
  world.policy = policies[*Below(3)];
  if (*Below(12) == 0) world.no_resource = "vgpu-memory";
  const int running = *Below(6);
  for (int i = 0; i < running; ++i) AddRunning(world, i);
  const int boxes = 1 + *Below(2);
  for (int i = 0; i < boxes; ++i) world.boxes.push_back(RandomBox(i));
  const std::string& some = world.cards[static_cast<std::size_t>(*Below(cards))].uuid;
  if (*Below(8) == 0) world.use = some;
  if (*Below(8) == 0) world.avoid = some;
  if (*Below(8) == 0) world.use_type = "A100";
  if (world.use_type.empty() && *Below(8) == 0) world.avoid_type = "T4";
  if (*Below(8) == 0) world.mode = "hami-core";
  world.spread = *Below(4) == 0;
  return world;
}

std::string NodeText(const VgpuWorld& world) {
  std::string registered;
  int shares = 0;
  int memory = 0;
  for (const Card& card : world.cards) {
    registered += fmt::format("{},{},{},{},{},{}:",
                              card.uuid,
                              card.shares,
                              card.memory,
                              card.type,
                              card.healthy,
                              card.mode);
    shares += card.shares;
    memory += card.memory;
  }
  return fmt::format(
      "apiVersion: v1\nkind: Node\nmetadata: {{name: n0, annotations: "
      "{{volcano.sh/node-vgpu-register: "
      "'{}'}}}}\nstatus: {{allocatable: {{cpu: 64, pods: 100, volcano.sh/vgpu-number: {}, "
      "volcano.sh/vgpu-memory: {}, volcano.sh/vgpu-cores: {}}}}}\n---\n",
      registered,
      10 * shares,  // so that the GPUs decide
      world.no_resource.empty() ? memory : 0,
      100 * world.cards.size());
}

std::string PodText(const VgpuWorld& world) {
  std::string containers;
  for (const Box& box : world.boxes) {
    std::vector<std::string> limits = {"cpu: 1"};
    const auto add = [&](const char* name, int amount) {
      if (amount > 0) limits.push_back(fmt::format("volcano.sh/vgpu-{}: {}", name, amount));
    };
    add("number", box.number);
    add("memory", box.memory.value_or(0));
    add("memory-percentage", box.percent);
    add("cores", box.cores);
    containers += fmt::format("{}{{name: {}, image: i, resources: {{limits: {{{}}}}}}}",
                              containers.empty() ? "" : ", ",
                              box.name,
                              fmt::join(limits, ", "));
  }
  std::string annotations = "scheduling.k8s.io/group-name: g";
  const auto wish = [&](const char* key, const std::string& value) {
    if (!value.empty()) annotations += fmt::format(", {}: {}", key, value);
  };
  wish("volcano.sh/vgpu-use-gpuuuid", world.use);
  wish("volcano.sh/vgpu-nouse-gpuuuid", world.avoid);
  wish("nvidia.com/use-gputype", world.use_type);
  wish("nvidia.com/nouse-gputype", world.avoid_type);
  wish("volcano.sh/vgpu-mode", world.mode);
  wish("volcano.sh/vgpu-podgroup-policy", world.spread ? "spread" : "");
  return fmt::format(
      "apiVersion: v1\nkind: Pod\nmetadata: {{name: p, namespace: ns, annotations: {{{}}}}}\nspec: "
      "{{schedulerName: volcano, containers: [{}]}}\nstatus: {{phase: Pending}}\n---\n",
      annotations,
      containers);
}

constexpr const char* kGroups =
    "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: g, namespace: "
    "ns}\n"
    "spec: {minMember: 1}\n---\n"
    "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: h, namespace: "
    "ns}\n"
    "spec: {minMember: 1}\n---\n";

TEST(VgpuProperty, RecordsOrderAndRefusalsAreVolcanos) {
  int bound = 0;
  CheckProperty(500, [&] {
    const VgpuWorld world = RandomVgpuWorld();
    const std::string text = NodeText(world) + kGroups + world.running + PodText(world);
    const objects::Source source{"world.yaml", text};
    const auto objects = objects::ParseObjects(std::span(&source, 1));
    if (!objects) RC_FAIL(objects.error().message);
    ClusterState state;
    const auto takes = [](const objects::Pod& pod) { return pod.spec.scheduler_name == "volcano"; };
    RC_ASSERT(LoadCluster(*objects, takes, state).has_value());
    const SchedulerConfig config =
        ConfigWith("deviceshare", "deviceshare.SchedulePolicy", world.policy);
    const Decisions decided = RunCycle(state, config);
    const Outcome expected = Decide(world);
    const std::string message = WithoutTypes(decided.Message("ns/g"));
    RC_ASSERT(RecountMistakes(state) == "");
    if (!world.no_resource.empty()) {
      RC_ASSERT(message.find("status.allocatable has no volcano.sh/vgpu-memory") !=
                std::string::npos);
      return;
    }
    std::string record;
    if (decided.binds.contains("ns/p")) {
      ++bound;
      for (const TaskId id : state.workload().AllTasks()) {
        if (state.workload().task(id).name != "ns/p") continue;
        record = WriteGpuClaim(state.workload().GpusOf(id), "n0").at("volcano.sh/vgpu-ids-new");
      }
    }
    RC_ASSERT(record == expected.record);
    if (expected.refusal.empty()) return;
    RC_ASSERT(message.find("node(s) without suitable GPUs: " + expected.refusal) !=
              std::string::npos);
  });
  EXPECT_GT(bound, 100) << "too few cases say anything about records";
}

}  // namespace
}  // namespace strata::testing
