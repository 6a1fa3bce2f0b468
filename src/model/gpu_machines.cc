#include "model/gpu_machines.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace strata {
namespace {

using Fabric = GpuMachine::Fabric;
using LinkRule = std::function<GpuLink(std::size_t, std::size_t)>;

constexpr std::int32_t kSlots = 10;

struct Chip {
  const char* model;
  std::int64_t memory_mib;
  Fabric fabric;
};

GpuLink Link(std::int32_t nvlinks, PcieLevel level) {
  return {.pcie = level, .nvlinks = nvlinks};
}

GpuMachine Make(std::string name,
                const Chip& chip,
                std::vector<std::int32_t> numa,
                const LinkRule& link) {
  GpuMachine machine{.name = std::move(name),
                     .model = chip.model,
                     .memory_mib = chip.memory_mib,
                     .fabric = chip.fabric,
                     .numa = std::move(numa),
                     .links = LinkGraph(0)};
  const std::size_t size = machine.numa.size();
  machine.links = LinkGraph(size);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      if (i != j) machine.links.Set(i, j, link(std::min(i, j), std::max(i, j)));
    }
  }
  return machine;
}

// GPUs in two equal halves, one per socket.
std::vector<std::int32_t> TwoSockets(std::size_t size) {
  std::vector<std::int32_t> numa(size, 0);
  std::fill(numa.begin() + static_cast<std::ptrdiff_t>(size / 2), numa.end(), 1);
  return numa;
}

// The same number of NVLinks between all; PCIe as within a socket and across.
LinkRule AllToAll(std::int32_t nvlinks, std::size_t size, PcieLevel within) {
  return [=](std::size_t i, std::size_t j) {
    const bool same = i / (size / 2) == j / (size / 2);
    return Link(nvlinks, same ? within : PcieLevel::kSystem);
  };
}

// NVLinks of the hybrid cube mesh, row by row above the diagonal.
constexpr std::array<std::array<int, 8>, 8> kCubeMesh = {{
    {0, 1, 1, 2, 2, 0, 0, 0},
    {0, 0, 2, 1, 0, 2, 0, 0},
    {0, 0, 0, 2, 0, 0, 1, 0},
    {0, 0, 0, 0, 0, 0, 0, 1},
    {0, 0, 0, 0, 0, 1, 1, 2},
    {0, 0, 0, 0, 0, 0, 2, 1},
    {0, 0, 0, 0, 0, 0, 0, 2},
    {0, 0, 0, 0, 0, 0, 0, 0},
}};

GpuLink Dgx1V(std::size_t i, std::size_t j) {
  const PcieLevel near = i / 2 == j / 2 ? PcieLevel::kSingleSwitch : PcieLevel::kHostBridge;
  return Link(kCubeMesh.at(i).at(j), i / 4 == j / 4 ? near : PcieLevel::kSystem);
}

GpuLink Dgx1P(std::size_t i, std::size_t j) {
  const PcieLevel near =
      j - i == 2 && i % 4 < 2 ? PcieLevel::kSingleSwitch : PcieLevel::kHostBridge;
  return Link(std::min(kCubeMesh.at(i).at(j), 1), i / 4 == j / 4 ? near : PcieLevel::kSystem);
}

// Two switches per socket.
LinkRule PcieBox(PcieLevel pair, PcieLevel socket) {
  return [=](std::size_t i, std::size_t j) {
    if (i / 2 == j / 2) return Link(0, pair);
    return Link(0, i / 4 == j / 4 ? socket : PcieLevel::kSystem);
  };
}

// NVLink bridges between the pairs named; PCIe is `level` within a pair and SYS elsewhere.
LinkRule Bridges(std::int32_t nvlinks,
                 const std::vector<std::pair<std::size_t, std::size_t>>& pairs,
                 PcieLevel level) {
  return [nvlinks, pairs, level](std::size_t i, std::size_t j) {
    const bool bridged = std::find(pairs.begin(), pairs.end(), std::pair(i, j)) != pairs.end();
    return Link(bridged ? nvlinks : 0, bridged ? level : PcieLevel::kSystem);
  };
}

GpuLink DegradedBridges(std::size_t i, std::size_t j) {
  return Link(j == 1 ? 12 : 0, i / 2 == j / 2 ? PcieLevel::kNode : PcieLevel::kSystem);
}

GpuLink Rtx8000(std::size_t i, std::size_t j) {
  const bool bridged = i + j == 3;
  return Link(bridged ? 2 : 0, i / 2 == j / 2 ? PcieLevel::kNode : PcieLevel::kSystem);
}

GpuLink DegradedB200(std::size_t i, std::size_t j) {
  const PcieLevel level = i / 4 == j / 4 ? PcieLevel::kNode : PcieLevel::kSystem;
  return Link(i == 2 || j == 2 ? 0 : 18, level);
}

void AddSwitched(std::vector<GpuMachine>& machines) {
  constexpr auto kNode = PcieLevel::kNode;
  const Chip a100{"NVIDIA A100-SXM4-80GB", 81920, Fabric::kSwitch};
  const Chip b200{"NVIDIA B200", 183359, Fabric::kSwitch};
  const Chip v100{"Tesla V100-SXM3-32GB", 32768, Fabric::kSwitch};
  machines.push_back(Make("dgxa100", a100, {3, 3, 1, 1, 7, 7, 5, 5}, [](auto i, auto j) {
    return Link(12, i / 2 == j / 2 ? PcieLevel::kMultiSwitch : PcieLevel::kSystem);
  }));
  machines.push_back(Make("hgxh100",
                          {"NVIDIA H100 80GB HBM3", 81559, Fabric::kSwitch},
                          TwoSockets(8),
                          AllToAll(18, 8, kNode)));
  machines.push_back(Make(
      "h200", {"NVIDIA H200", 143771, Fabric::kSwitch}, TwoSockets(8), AllToAll(18, 8, kNode)));
  machines.push_back(Make("b200", b200, TwoSockets(8), AllToAll(18, 8, kNode)));
  machines.push_back(Make("b200-degraded", b200, TwoSockets(8), DegradedB200));
  machines.push_back(
      Make("h800", {"NVIDIA H800", 81559, Fabric::kSwitch}, TwoSockets(8), AllToAll(8, 8, kNode)));
  machines.push_back(Make("dgx2", v100, TwoSockets(16), AllToAll(6, 16, kNode)));
  const Chip gb200{"NVIDIA GB200", 189471, Fabric::kSwitch};
  const auto tray = [](std::size_t, std::size_t) { return Link(18, PcieLevel::kSystem); };
  machines.push_back(Make("gb200tray", gb200, {0, 0, 1, 1}, tray));
  machines.push_back(Make("nvl72", gb200, {0, 0, 1, 1}, tray));
  machines.back().has_clique = true;
}

void AddDirect(std::vector<GpuMachine>& machines) {
  machines.push_back(
      Make("dgx1v", {"Tesla V100-SXM2-16GB", 16384, Fabric::kDirect}, TwoSockets(8), Dgx1V));
  machines.push_back(
      Make("dgx1p", {"Tesla P100-SXM2-16GB", 16280, Fabric::kDirect}, TwoSockets(8), Dgx1P));
  machines.push_back(Make(
      "h100x4-direct", {"NVIDIA H100 64GB", 65247, Fabric::kDirect}, {3, 1, 7, 5}, [](auto, auto) {
        return Link(6, PcieLevel::kSystem);
      }));
  const Chip a100{"NVIDIA A100 80GB PCIe", 81920, Fabric::kDirect};
  machines.push_back(
      Make("a100br4", a100, {0, 0, 1, 1}, Bridges(12, {{0, 1}, {2, 3}}, PcieLevel::kNode)));
  machines.push_back(Make("a100br4-degraded", a100, {0, 0, 1, 1}, DegradedBridges));
  machines.push_back(Make("a100br8",
                          a100,
                          TwoSockets(8),
                          Bridges(12, {{0, 2}, {1, 3}, {4, 5}, {6, 7}}, PcieLevel::kSystem)));
  machines.push_back(Make("nv4pairs",
                          {"NVIDIA A30", 24576, Fabric::kDirect},
                          {3, 2, 1, 0, 7, 6, 5, 4},
                          Bridges(4, {{0, 1}, {2, 3}, {4, 5}, {6, 7}}, PcieLevel::kSystem)));
  machines.push_back(
      Make("rtx8000x4", {"Quadro RTX 8000", 49152, Fabric::kDirect}, {0, 0, 1, 1}, Rtx8000));
}

void AddPcie(std::vector<GpuMachine>& machines) {
  const Chip l40s{"NVIDIA L40S", 46068, Fabric::kNone};
  machines.push_back(
      Make("pcie8", l40s, TwoSockets(8), PcieBox(PcieLevel::kSingleSwitch, PcieLevel::kNode)));
  machines.push_back(Make(
      "pcie8-phb", l40s, TwoSockets(8), PcieBox(PcieLevel::kSingleSwitch, PcieLevel::kHostBridge)));
  machines.push_back(
      Make("pcie8-root", l40s, TwoSockets(8), PcieBox(PcieLevel::kMultiSwitch, PcieLevel::kNode)));
  machines.push_back(Make("t4x4",
                          {"Tesla T4", 15360, Fabric::kNone},
                          {0, 0, 1, 1},
                          PcieBox(PcieLevel::kNode, PcieLevel::kSystem)));
}

std::vector<GpuMachine> MakeAll() {
  std::vector<GpuMachine> machines;
  AddSwitched(machines);
  AddDirect(machines);
  AddPcie(machines);
  std::sort(machines.begin(), machines.end(), [](const GpuMachine& a, const GpuMachine& b) {
    return a.name < b.name;
  });
  return machines;
}

}  // namespace

const std::vector<GpuMachine>& GpuMachines() {
  static const std::vector<GpuMachine> machines = MakeAll();
  return machines;
}

const GpuMachine* FindGpuMachine(std::string_view name) {
  const auto& machines = GpuMachines();
  const auto it = std::find_if(machines.begin(), machines.end(), [&](const GpuMachine& machine) {
    return machine.name == name;
  });
  return it == machines.end() ? nullptr : &*it;
}

NodeGpus MakeNodeGpus(const GpuMachine& machine, std::string_view prefix) {
  NodeGpus node;
  for (std::size_t i = 0; i < machine.numa.size(); ++i) {
    Gpu gpu;
    gpu.uuid = "GPU-" + std::string(prefix) + "-" + std::to_string(i);
    gpu.index = static_cast<std::int32_t>(i);
    gpu.slots = kSlots;
    gpu.memory_mib = machine.memory_mib;
    gpu.cores = 100;
    gpu.type = machine.model.starts_with("NVIDIA") ? machine.model : "NVIDIA-" + machine.model;
    gpu.numa = machine.numa[i];
    gpu.mode = "hami-core";
    gpu.healthy = true;
    node.gpus.push_back(std::move(gpu));
  }
  node.scores = machine.links.Scores();
  return node;
}

}  // namespace strata
