#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "agent/known_pod.h"
#include "model/gpu.h"
#include "model/gpu_machines.h"

// Pods and GPUs for the tests of the device plugin's decisions.
namespace strata::agent::testing {

inline constexpr const char* kHere = "n1";

// An eight-GPU machine, UUIDs "GPU-<n>" as "g0" to "g7" below.
inline NodeGpus EightGpus(std::int32_t slots = 1) {
  NodeGpus node = MakeNodeGpus(*FindGpuMachine("dgx1v"), "x");
  for (Gpu& gpu : node.gpus) gpu.slots = slots;
  return node;
}
inline std::string G(int index) {
  return "GPU-x-" + std::to_string(index);
}
inline std::string Id(int index, int share = 0) {
  return G(index) + "-" + std::to_string(share);
}
inline std::vector<std::string> Ids(const std::vector<int>& indexes) {
  std::vector<std::string> ids;
  for (const int index : indexes) ids.push_back(Id(index));
  return ids;
}

// A slot of a record: "GPU-x-1,NVIDIA,1000,100:GPU-x-2,NVIDIA,1000,100:;".
inline std::string Slot(const std::vector<int>& indexes) {
  std::string text;
  for (const int index : indexes) text += G(index) + ",NVIDIA,1000,100:";
  return text + ";";
}

// A pod of one container "main" with `gpus` GPUs; `created` in seconds.
inline KnownPod Pod(const std::string& name, std::int64_t gpus, int created = 0) {
  KnownPod pod{.uid = "uid-" + name, .ns = "ns", .name = name};
  pod.created = Time(std::chrono::seconds(created));
  pod.containers = {{.name = "main", .gpus = gpus}};
  return pod;
}
inline KnownPod WithRecord(KnownPod pod,
                           const std::string& record,
                           const std::string& node = kHere) {
  pod.annotations["hami.io/vgpu-node"] = node;
  pod.annotations["hami.io/vgpu-devices-allocated"] = record;
  pod.annotations["hami.io/vgpu-devices-to-allocate"] = record;
  pod.annotations["hami.io/bind-phase"] = "allocating";
  return pod;
}
inline KnownPod PodWith(const std::string& name, const std::vector<int>& gpus, int created = 0) {
  return WithRecord(Pod(name, static_cast<std::int64_t>(gpus.size()), created), Slot(gpus));
}

}  // namespace strata::agent::testing
