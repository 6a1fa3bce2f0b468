#include "device_plugin/plugin_server.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include <google/protobuf/util/message_differencer.h>

namespace strata::device_plugin {
namespace {

using v1beta1::ContainerAllocateResponse;

constexpr std::chrono::seconds kShutdownLimit{1};
constexpr int kMaxThreads = 4;

bool SameList(const DeviceList& a, const DeviceList& b) {
  if (a == nullptr || b == nullptr) return a == b;
  return google::protobuf::util::MessageDifferencer::Equals(*a, *b);
}

template <typename Texts>
std::vector<std::string> ToVector(const Texts& texts) {
  return {texts.begin(), texts.end()};
}

void Fill(const agent::AllocateAnswer& answer, ContainerAllocateResponse& response) {
  response.mutable_envs()->insert(answer.environment.begin(), answer.environment.end());
  for (const agent::Mount& mount : answer.mounts) {
    v1beta1::Mount& out = *response.add_mounts();
    out.set_container_path(mount.container_path);
    out.set_host_path(mount.host_path);
    out.set_read_only(mount.read_only);
  }
  for (const std::string& node : answer.device_nodes) {
    v1beta1::DeviceSpec& out = *response.add_devices();
    out.set_container_path(node);
    out.set_host_path(node);
    out.set_permissions("rw");
  }
  for (const std::string& name : answer.cdi_devices) response.add_cdi_devices()->set_name(name);
}

}  // namespace

void PluginService::SetDevices(DeviceList devices) {
  const MutexLock lock(mutex_);
  if (SameList(devices, devices_)) return;
  devices_ = std::move(devices);
  for (DeviceStream* stream : streams_) stream->Send(devices_);
}

void PluginService::EndStreams() {
  const MutexLock lock(mutex_);
  ended_ = true;
  for (DeviceStream* stream : streams_) stream->End();
}

grpc::Status PluginService::GetDevicePluginOptions(grpc::ServerContext* /*context*/,
                                                   const v1beta1::Empty* /*request*/,
                                                   v1beta1::DevicePluginOptions* response) {
  response->set_get_preferred_allocation_available(true);
  return grpc::Status::OK;
}

grpc::ServerWriteReactor<v1beta1::ListAndWatchResponse>* PluginService::ListAndWatch(
    grpc::CallbackServerContext* /*context*/, const v1beta1::Empty* /*request*/) {
  auto* stream = new DeviceStream([this](DeviceStream* done) {
    {
      const MutexLock lock(mutex_);
      streams_.erase(done);
    }
    on_stream_(StreamEvent::kEnded);
  });
  on_stream_(StreamEvent::kOpened);
  const MutexLock lock(mutex_);
  streams_.insert(stream);
  if (devices_ != nullptr) stream->Send(devices_);
  if (ended_) stream->End();
  return stream;
}

grpc::Status PluginService::GetPreferredAllocation(
    grpc::ServerContext* /*context*/,
    const v1beta1::PreferredAllocationRequest* request,
    v1beta1::PreferredAllocationResponse* response) {
  for (const auto& container : request->container_requests()) {
    const agent::PreferredRequest wanted{
        .available = ToVector(container.available_deviceids()),
        .must_include = ToVector(container.must_include_deviceids()),
        .size = static_cast<std::size_t>(std::max(0, container.allocation_size()))};
    auto& answer = *response->add_container_responses();
    for (const std::string& id : allocations_.Prefer(wanted)) answer.add_deviceids(id);
  }
  return grpc::Status::OK;
}

grpc::Status PluginService::Allocate(grpc::ServerContext* /*context*/,
                                     const v1beta1::AllocateRequest* request,
                                     v1beta1::AllocateResponse* response) {
  for (const auto& container : request->container_requests()) {
    const auto answer = allocations_.Allocate(ToVector(container.devices_ids()));
    if (!answer) {
      const bool ours = answer.error().code == Code::kInvalidArgument;
      return {ours ? grpc::StatusCode::FAILED_PRECONDITION : grpc::StatusCode::UNAVAILABLE,
              answer.error().message};
    }
    Fill(*answer, *response->add_container_responses());
  }
  return grpc::Status::OK;
}

grpc::Status PluginService::PreStartContainer(grpc::ServerContext* /*context*/,
                                              const v1beta1::PreStartContainerRequest* /*request*/,
                                              v1beta1::PreStartContainerResponse* /*response*/) {
  return grpc::Status::OK;
}

Result<std::unique_ptr<PluginServer>> PluginServer::Listen(const std::string& socket,
                                                           DeviceList devices,
                                                           Allocations& allocations,
                                                           PluginService::OnStream on_stream) {
  std::unique_ptr<PluginServer> server(new PluginServer(socket, allocations, std::move(on_stream)));
  server->SetDevices(std::move(devices));
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("unix:" + socket, grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&server->service_);
  builder.SetSyncServerOption(grpc::ServerBuilder::NUM_CQS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::MAX_POLLERS, kMaxThreads);
  // The socket is made with the mode that the mask leaves. Another thread that makes a file at this
  // moment makes it for its owner alone, too.
  const mode_t mask = ::umask(077);
  server->server_ = builder.BuildAndStart();
  ::umask(mask);
  if (server->server_ == nullptr || port == 0) {
    return Fail(Code::kUnavailable, "cannot listen on " + socket);
  }
  return server;
}

PluginServer::~PluginServer() {
  if (server_ == nullptr) return;
  service_.EndStreams();
  server_->Shutdown(std::chrono::system_clock::now() + kShutdownLimit);
  server_->Wait();
  ::unlink(socket_.c_str());
}

}  // namespace strata::device_plugin
