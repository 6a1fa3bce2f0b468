#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "agent/journal.h"
#include "agent/known_pod.h"
#include "base/clock.h"
#include "virtual_nodes/seen.h"

namespace strata::virtual_nodes {

// The agents of virtual nodes, and the part of their kubelets that asks them: before a pod with
// GPUs starts, the kubelet chooses device ids for each of its containers, and the agent says
// whether the container gets its GPUs. What the agent decides and writes is what strata-agent
// decides and writes (module agent); only the GPUs are made up.
//
// A value: no effect but what the answer asks for. It knows the pods that were served since it was
// made; what others hold by their records is not lost, because a record says which GPUs they are.
class Agents {
 public:
  struct Answer {
    enum class Kind : std::uint8_t {
      kStart,    // every container has its GPUs
      kWrite,    // first `text` is to be written: a merge patch of the pod
      kRefused,  // the pod fails, because of `text`
    } kind = Kind::kStart;
    std::string text;
  };
  // What becomes of a pod that is to start on the node. `node` has an agent that works.
  [[nodiscard]] Answer Admit(const SeenNode& node, const agent::KnownPod& pod, Time now);

  // The pod has ended, or is gone.
  void Release(const std::string& pod_name);

  // How many containers have GPUs.
  [[nodiscard]] std::size_t served() const;

 private:
  struct Place {
    std::string node;
    std::string uid;
  };

  std::map<std::string, agent::Journal> journals_;  // by node
  std::map<std::string, Place> places_;             // of pods, by "namespace/name"
  std::map<std::string, std::string> refusals_;     // why, by uid of the pod
};

}  // namespace strata::virtual_nodes
