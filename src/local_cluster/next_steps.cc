#include "local_cluster/next_steps.h"

#include <fmt/format.h>

namespace strata {
namespace {

constexpr const char* kWithNodes = R"(
The cluster is up. In another terminal:

  export KUBECONFIG={}
  kubectl get nodes,hypernodes
  kubectl apply -f examples/training/job.yaml
  kubectl get vcjob,podgroups,pods -o wide
  kubectl logs -n volcano-system -l app=volcano-scheduler

Press Ctrl-C to stop it.
)";

constexpr const char* kWithoutNodes = R"(
The cluster is up and has no nodes, so every pod waits. In another terminal, give it eight nodes with
their HyperNodes, and a job:

  export KUBECONFIG={}
  kubectl apply -f examples/training
  kubectl get nodes,hypernodes
  kubectl get vcjob,podgroups,pods -o wide
  strata explain default/pytorch-distributed-training

Or press Ctrl-C, and start it with nodes of your own number and kind:

  strata up --generate spines=2,racks=2,nodes=4,gpus=8:hgxh100
)";

}  // namespace

std::string NextSteps(const std::string& kubeconfig, ClusterNodes nodes) {
  return nodes == ClusterNodes::kNone ? fmt::format(kWithoutNodes, kubeconfig)
                                      : fmt::format(kWithNodes, kubeconfig);
}

}  // namespace strata
