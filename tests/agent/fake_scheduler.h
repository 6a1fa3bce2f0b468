#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "agent/known_pod.h"
#include "model/gpu.h"
#include "tests/agent/plugin_setup.h"
#include "tests/histories/random.h"

namespace strata::testing {

// A pod with the GPUs that were chosen for its containers.
struct BoundPod {
  agent::KnownPod pod;
  std::map<std::string, std::vector<std::string>> uuids;  // by container, sorted
};

// Makes pods of random shape with random GPUs, and writes records as a scheduler does. It never
// gives a GPU to more containers than it has ids.
class FakeScheduler {
 public:
  FakeScheduler(const NodeGpus& node, std::uint64_t seed) : node_(node), random_(seed) {}

  BoundPod Bind() {
    BoundPod bound;
    agent::KnownPod& pod = bound.pod;
    pod.uid = "uid-" + std::to_string(next_);
    pod.ns = "ns";
    pod.name = "pod-" + std::to_string(next_);
    pod.created = Time(std::chrono::seconds(next_++));
    const std::vector<std::size_t> main = Choose(random_.From(1, 4));
    std::string record;
    switch (random_.Below(4)) {
      case 0:  // an init container that ends: the kubelet uses its ids again for the main one
        record += Add(bound, "init", agent::KnownContainer::Kind::kInit, Part(main), Holds::kNo);
        break;
      case 1:
        record +=
            Add(bound, "sidecar", agent::KnownContainer::Kind::kSidecar, Choose(1), Holds::kYes);
        record += Add(bound, "plain", agent::KnownContainer::Kind::kApp, {}, Holds::kNo);
        break;
      default:
        break;
    }
    record += Add(bound, "main", agent::KnownContainer::Kind::kApp, main, Holds::kYes);
    pod.annotations = {{"hami.io/vgpu-node", kNode},
                       {"hami.io/vgpu-devices-allocated", record},
                       {"hami.io/vgpu-devices-to-allocate", record},
                       {"hami.io/bind-phase", "allocating"}};
    return bound;
  }

  void Release(const BoundPod& bound) {
    for (const auto& [container, uuids] : bound.uuids) {
      if (container == "init") continue;
      for (const std::string& uuid : uuids) --used_[*node_.Find(uuid)];
    }
  }

 private:
  enum class Holds : std::uint8_t { kNo, kYes };  // ids of its own while the pod runs

  // GPUs with ids left, at random.
  std::vector<std::size_t> Choose(std::int64_t count) {
    std::vector<std::size_t> candidates;
    for (std::size_t i = 0; i < node_.gpus.size(); ++i) {
      if (used_[i] < node_.gpus[i].slots) candidates.push_back(i);
    }
    for (std::size_t i = candidates.size(); i > 1; --i) {
      const auto other = static_cast<std::size_t>(random_.Below(static_cast<std::int64_t>(i)));
      std::swap(candidates[i - 1], candidates[other]);
    }
    candidates.resize(std::min(candidates.size(), static_cast<std::size_t>(count)));
    return candidates;
  }
  std::vector<std::size_t> Part(std::vector<std::size_t> gpus) {
    gpus.resize(static_cast<std::size_t>(random_.From(1, static_cast<std::int64_t>(gpus.size()))));
    return gpus;
  }
  std::string Add(BoundPod& bound,
                  const std::string& name,
                  agent::KnownContainer::Kind kind,
                  const std::vector<std::size_t>& gpus,
                  Holds holds) {
    bound.pod.containers.push_back(
        {.name = name, .kind = kind, .gpus = static_cast<std::int64_t>(gpus.size())});
    std::string slot;
    for (const std::size_t gpu : gpus) {
      slot += node_.gpus[gpu].uuid + ",NVIDIA,1000,10:";
      bound.uuids[name].push_back(node_.gpus[gpu].uuid);
      if (holds == Holds::kYes) ++used_[gpu];
    }
    if (!gpus.empty()) std::sort(bound.uuids[name].begin(), bound.uuids[name].end());
    return slot + ";";
  }

  const NodeGpus& node_;
  histories::Random random_;
  std::map<std::size_t, std::int32_t> used_;
  int next_ = 1;
};

}  // namespace strata::testing
