#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <grpcpp/grpcpp.h>

#include "base/mutex.h"
#include "device_plugin/pod_source.h"
#include "device_plugin/socket_folder.h"

namespace strata::device_plugin {

// The pods that the kubelet itself knows: its Pods API, beta and on from 1.37. Shows the pod that
// is being admitted, and no pod that the kubelet has not seen yet.
class PodsApi final : public PodSource {
 public:
  PodsApi(std::string socket, std::string resource)
      : socket_(std::move(socket)), resource_(std::move(resource)) {}

  [[nodiscard]] std::string name() const override { return "pods-api"; }
  // Whether the socket exists: a kubelet before 1.37 does not make it.
  [[nodiscard]] bool Available() const override;
  [[nodiscard]] Result<KnownPods> List(Duration limit) override;

 private:
  // The channel to the kubelet that is there now; a new one after a restart of the kubelet.
  [[nodiscard]] std::shared_ptr<grpc::Channel> Channel();

  const std::string socket_;
  const std::string resource_;
  Mutex mutex_;
  std::shared_ptr<grpc::Channel> channel_ GUARDED_BY(mutex_);
  std::optional<SocketIdentity> connected_to_ GUARDED_BY(mutex_);
};

// A core/v1 Pod in protobuf; kInvalidArgument when the bytes are not one, or have no uid, namespace
// or name.
[[nodiscard]] Result<agent::KnownPod> ReadPodBytes(const std::string& bytes,
                                                   std::string_view resource);

}  // namespace strata::device_plugin
