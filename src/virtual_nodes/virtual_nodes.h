#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>

#include "base/clock.h"
#include "base/result.h"
#include "kube/client.h"
#include "obs/log.h"

namespace strata::virtual_nodes {

// Which Nodes are ours.
enum class Reach : std::uint8_t {
  kEvery,     // under `strata up`: every Node, and no Lease is renewed
  kLabelled,  // beside real nodes: those labelled strata.sh/virtual: "true"
};

struct Options {
  Reach reach = Reach::kLabelled;
  std::function<void()> ready;  // once, when it has seen the cluster; any thread
};

// Does what kubelets do, without machines: Nodes become Ready, pods that are bound to them run, end
// by their annotations, and go when they are deleted. An idle node writes nothing; a status that
// somebody else has written is never put back.
class VirtualNodes {
 public:
  // All that it is given must outlive it.
  VirtualNodes(kube::Client& client, Options options, obs::Log& log, const Clock& clock);
  VirtualNodes(const VirtualNodes&) = delete;
  VirtualNodes& operator=(const VirtualNodes&) = delete;
  ~VirtualNodes();

  // Works until it is asked to stop.
  [[nodiscard]] Status Run(const std::stop_token& stop);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace strata::virtual_nodes
