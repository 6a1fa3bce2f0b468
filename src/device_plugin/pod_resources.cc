#include "device_plugin/pod_resources.h"

#include <utility>

#include "device_plugin/local_channel.h"
#include "device_plugin/proto/kubelet_pod_resources.grpc.pb.h"

namespace strata::device_plugin {

Result<std::vector<agent::HeldDevices>> ListHeldDevices(const std::string& socket,
                                                        const std::string& resource,
                                                        Duration limit) {
  const auto stub = v1::PodResourcesLister::NewStub(LocalChannel(socket));
  grpc::ClientContext context;
  SetLimit(context, limit);
  v1::ListPodResourcesResponse answer;
  const grpc::Status status = stub->List(&context, {}, &answer);
  if (!status.ok()) return tl::unexpected(ErrorOf(status, "podresources of the kubelet"));
  std::vector<agent::HeldDevices> held;
  for (const v1::PodResources& pod : answer.pod_resources()) {
    for (const v1::ContainerResources& container : pod.containers()) {
      agent::HeldDevices devices{
          .ns = pod.namespace_(), .pod = pod.name(), .container = container.name(), .ids = {}};
      // There can be several entries of one resource, one for each NUMA node.
      for (const v1::ContainerDevices& part : container.devices()) {
        if (part.resource_name() != resource) continue;
        devices.ids.insert(devices.ids.end(), part.device_ids().begin(), part.device_ids().end());
      }
      if (!devices.ids.empty()) held.push_back(std::move(devices));
    }
  }
  return held;
}

}  // namespace strata::device_plugin
