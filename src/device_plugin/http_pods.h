#pragma once

#include <string>

#include "device_plugin/pod_source.h"
#include "kube/client.h"

// The pods of this node over HTTPS, for kubelets before 1.37: functions for JsonPodSource. The
// client must outlive them. Not to be called on a thread of the client.
namespace strata::device_plugin {

// What the kubelet itself knows: GET /pods of its own port (right: get nodes/pods, from 1.33 on).
// Shows the pod that is being admitted, but phases as the API server has them: a pod that the
// kubelet has just refused may still look as if it waited. Source "pods".
[[nodiscard]] JsonPodSource::Fetch FetchFromKubelet(kube::Client& kubelet);

// All pods of the node that the API server knows, and the owner of the Node's lock, without which
// the pod cannot be known. Source "lock".
[[nodiscard]] JsonPodSource::Fetch FetchFromApiServer(kube::Client& client, std::string node);

}  // namespace strata::device_plugin
