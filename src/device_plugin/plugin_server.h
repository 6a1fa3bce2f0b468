#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include <grpcpp/grpcpp.h>

#include "base/mutex.h"
#include "base/result.h"
#include "device_plugin/allocations.h"
#include "device_plugin/device_stream.h"
#include "device_plugin/proto/kubelet_device_plugin.grpc.pb.h"

namespace strata::device_plugin {

// What the kubelet calls. Allocate and GetPreferredAllocation block a thread of gRPC while they
// look for the pod; ListAndWatch has none, and hears at once when the kubelet ends it.
class PluginService final : public v1beta1::DevicePlugin::WithCallbackMethod_ListAndWatch<
                                v1beta1::DevicePlugin::Service> {
 public:
  enum class StreamEvent : std::uint8_t { kOpened, kEnded };
  using OnStream = std::function<void(StreamEvent)>;  // on a thread of gRPC; must not block

  PluginService(Allocations& allocations, OnStream on_stream)
      : allocations_(allocations), on_stream_(std::move(on_stream)) {}

  // Sends the list to the kubelet if it is another one than before.
  void SetDevices(DeviceList devices);
  void EndStreams();

  grpc::Status GetDevicePluginOptions(grpc::ServerContext* context,
                                      const v1beta1::Empty* request,
                                      v1beta1::DevicePluginOptions* response) override;
  grpc::ServerWriteReactor<v1beta1::ListAndWatchResponse>* ListAndWatch(
      grpc::CallbackServerContext* context, const v1beta1::Empty* request) override;
  grpc::Status GetPreferredAllocation(grpc::ServerContext* context,
                                      const v1beta1::PreferredAllocationRequest* request,
                                      v1beta1::PreferredAllocationResponse* response) override;
  grpc::Status Allocate(grpc::ServerContext* context,
                        const v1beta1::AllocateRequest* request,
                        v1beta1::AllocateResponse* response) override;
  grpc::Status PreStartContainer(grpc::ServerContext* context,
                                 const v1beta1::PreStartContainerRequest* request,
                                 v1beta1::PreStartContainerResponse* response) override;

 private:
  Allocations& allocations_;
  const OnStream on_stream_;
  Mutex mutex_;
  DeviceList devices_ GUARDED_BY(mutex_);
  std::set<DeviceStream*> streams_ GUARDED_BY(mutex_);
  bool ended_ GUARDED_BY(mutex_) = false;
};

// The service behind one socket. A kubelet must never be given the same name twice, so each
// registration has a server of its own.
class PluginServer {
 public:
  // Serves when it returns. Only the owner can use the socket. kUnavailable when it cannot listen.
  [[nodiscard]] static Result<std::unique_ptr<PluginServer>> Listen(
      const std::string& socket,
      DeviceList devices,
      Allocations& allocations,
      PluginService::OnStream on_stream);
  PluginServer(const PluginServer&) = delete;
  PluginServer& operator=(const PluginServer&) = delete;
  // Ends the stream, answers what is under way, removes the socket.
  ~PluginServer();

  void SetDevices(DeviceList devices) { service_.SetDevices(std::move(devices)); }
  [[nodiscard]] const std::string& socket() const { return socket_; }

 private:
  PluginServer(std::string socket, Allocations& allocations, PluginService::OnStream on_stream)
      : socket_(std::move(socket)), service_(allocations, std::move(on_stream)) {}

  const std::string socket_;
  PluginService service_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace strata::device_plugin
