#include "tests/agent/fake_kubelet.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/timestamp.h"
#include "device_plugin/local_channel.h"
#include "device_plugin/proto/core_pod.pb.h"
#include "json/dump.h"

namespace strata::testing {
namespace {

constexpr std::chrono::seconds kPatience{30};

std::string ToBytes(const agent::KnownPod& pod) {
  kubelet::Pod message;
  kubelet::ObjectMeta& meta = *message.mutable_metadata();
  meta.set_name(pod.name);
  meta.set_namespace_(pod.ns);
  meta.set_uid(pod.uid);
  meta.mutable_creation_timestamp()->set_seconds(
      std::chrono::duration_cast<std::chrono::seconds>(pod.created.time_since_epoch()).count());
  meta.mutable_annotations()->insert(pod.annotations.begin(), pod.annotations.end());
  for (const agent::KnownContainer& container : pod.containers) {
    const bool app = container.kind == agent::KnownContainer::Kind::kApp;
    kubelet::Container& out = app ? *message.mutable_spec()->add_containers()
                                  : *message.mutable_spec()->add_init_containers();
    out.set_name(container.name);
    if (container.kind == agent::KnownContainer::Kind::kSidecar) out.set_restart_policy("Always");
    if (container.gpus > 0) {
      (*out.mutable_resources()->mutable_limits())[kGpuResource].set_string(
          std::to_string(container.gpus));
    }
  }
  const bool failed = pod.phase == objects::PodPhase::kFailed;
  message.mutable_status()->set_phase(failed ? "Failed" : "Pending");
  return message.SerializeAsString();
}

nlohmann::json ToJson(const agent::KnownPod& pod) {
  using Json = nlohmann::json;
  Json spec = Json::object();
  for (const agent::KnownContainer& container : pod.containers) {
    const bool app = container.kind == agent::KnownContainer::Kind::kApp;
    Json& out = spec[app ? "containers" : "initContainers"].emplace_back();
    out["name"] = container.name;
    if (container.kind == agent::KnownContainer::Kind::kSidecar) out["restartPolicy"] = "Always";
    if (container.gpus > 0) {
      out["resources"]["limits"][kGpuResource] = std::to_string(container.gpus);
    }
  }
  return {{"metadata",
           {{"name", pod.name},
            {"namespace", pod.ns},
            {"uid", pod.uid},
            {"creationTimestamp", FormatTimestamp(pod.created)},
            {"annotations", pod.annotations}}},
          {"spec", std::move(spec)},
          {"status", {{"phase", pod.Ended() ? "Failed" : "Pending"}}}};
}

}  // namespace

class FakeKubelet::RegistrationService final : public v1beta1::Registration::Service {
 public:
  explicit RegistrationService(FakeKubelet& kubelet) : kubelet_(kubelet) {}
  grpc::Status Register(grpc::ServerContext* /*context*/,
                        const v1beta1::RegisterRequest* request,
                        v1beta1::Empty* /*response*/) override {
    return kubelet_.Register(*request);
  }

 private:
  FakeKubelet& kubelet_;
};

class FakeKubelet::PodsService final : public v1alpha1::Pods::Service {
 public:
  explicit PodsService(FakeKubelet& kubelet) : kubelet_(kubelet) {}
  grpc::Status ListPods(grpc::ServerContext* /*context*/,
                        const v1alpha1::ListPodsRequest* /*request*/,
                        v1alpha1::ListPodsResponse* response) override {
    return kubelet_.ListPods(*response);
  }

 private:
  FakeKubelet& kubelet_;
};

class FakeKubelet::PodResourcesService final : public v1::PodResourcesLister::Service {
 public:
  explicit PodResourcesService(FakeKubelet& kubelet) : kubelet_(kubelet) {}
  grpc::Status List(grpc::ServerContext* /*context*/,
                    const v1::ListPodResourcesRequest* /*request*/,
                    v1::ListPodResourcesResponse* response) override {
    return kubelet_.ListResources(*response);
  }

 private:
  FakeKubelet& kubelet_;
};

FakeKubelet::FakeKubelet(Paths paths, Kind kind, std::uint64_t seed)
    : paths_(std::move(paths)),
      kind_(kind),
      random_(seed),
      registration_(std::make_unique<RegistrationService>(*this)),
      pods_service_(std::make_unique<PodsService>(*this)),
      resources_service_(std::make_unique<PodResourcesService>(*this)) {}

FakeKubelet::~FakeKubelet() {
  Stop();
}

void FakeKubelet::Start() {
  std::vector<std::filesystem::path> sockets;
  for (const auto& entry : std::filesystem::directory_iterator(paths_.plugins)) {
    if (entry.is_socket()) sockets.push_back(entry.path());
  }
  std::error_code ignored;
  for (const auto& socket : sockets) std::filesystem::remove(socket, ignored);
  {
    const MutexLock lock(mutex_);
    stopping_ = false;
    devices_.clear();
    poisoned_.clear();
  }
  grpc::ServerBuilder builder;
  for (const std::string& socket :
       {paths_.pods_api, paths_.pod_resources, paths_.plugins + "/kubelet.sock"}) {
    if (socket.empty()) continue;
    builder.AddListeningPort("unix:" + socket, grpc::InsecureServerCredentials());
  }
  builder.RegisterService(registration_.get());
  builder.RegisterService(pods_service_.get());
  builder.RegisterService(resources_service_.get());
  builder.SetSyncServerOption(grpc::ServerBuilder::NUM_CQS, 1);
  server_ = builder.BuildAndStart();
}

void FakeKubelet::Stop() {
  if (server_ == nullptr) return;
  std::vector<std::shared_ptr<Plugin>> plugins;
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    hang_ = false;
    plugins.swap(plugins_);
    current_.reset();
  }
  changed_.NotifyAll();
  for (const auto& plugin : plugins) plugin->context->TryCancel();
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
  server_.reset();
  for (const auto& plugin : plugins) plugin->reader.join();
  const MutexLock lock(mutex_);
  devices_.clear();
}

void FakeKubelet::CutStream() {
  const MutexLock lock(mutex_);
  if (current_ != nullptr) current_->context->TryCancel();
}

bool FakeKubelet::WaitForHealthy(std::size_t count) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  MutexLock lock(mutex_);
  for (;;) {
    std::size_t healthy = 0;
    for (const auto& [id, good] : devices_) healthy += good ? 1 : 0;
    if (healthy == count) return true;
    if (!changed_.WaitUntil(mutex_, end)) return false;
  }
}

void FakeKubelet::HangPods(bool hang) {
  {
    const MutexLock lock(mutex_);
    hang_ = hang;
  }
  changed_.NotifyAll();
}

std::string FakeKubelet::PodList() const {
  nlohmann::json items = nlohmann::json::array();
  const MutexLock lock(mutex_);
  for (const auto& [uid, pod] : pods_) items.push_back(ToJson(pod));
  return DumpJson({{"kind", "PodList"}, {"apiVersion", "v1"}, {"items", std::move(items)}});
}

std::string FakeKubelet::last_refusal() const {
  const MutexLock lock(mutex_);
  return last_refusal_;
}

// ---- registration ----

grpc::Status FakeKubelet::Register(const v1beta1::RegisterRequest& request) {
  const std::string socket = paths_.plugins + "/" + request.endpoint();
  if (request.version() != "v1beta1" || request.resource_name() != kGpuResource) {
    return {grpc::StatusCode::INVALID_ARGUMENT, "unsupported version or resource"};
  }
  const auto plugin = std::make_shared<Plugin>();
  plugin->socket = socket;
  plugin->context = std::make_shared<grpc::ClientContext>();
  plugin->stub = v1beta1::DevicePlugin::NewStub(device_plugin::LocalChannel(socket));
  grpc::ClientContext context;
  device_plugin::SetLimit(context, kPatience);
  v1beta1::DevicePluginOptions options;
  const grpc::Status dialled = plugin->stub->GetDevicePluginOptions(&context, {}, &options);
  if (!dialled.ok()) return dialled;
  const MutexLock lock(mutex_);
  if (stopping_) return {grpc::StatusCode::UNAVAILABLE, "stopping"};
  const bool again = std::any_of(plugins_.begin(), plugins_.end(), [&](const auto& other) {
    return other->socket == socket && !other->ended;
  });
  if (kind_ == Kind::kFrom137 && (again || poisoned_.contains(socket))) {
    poisoned_.insert(socket);
    last_refusal_ = "device plugin already connected: " + socket;
    return {grpc::StatusCode::ALREADY_EXISTS, last_refusal_};
  }
  ++registrations_;
  plugins_.push_back(plugin);
  current_ = plugin;
  plugin->reader = std::thread([this, plugin] { ReadStream(plugin); });
  return grpc::Status::OK;
}

void FakeKubelet::ReadStream(const std::shared_ptr<Plugin>& plugin) {
  const auto stream = plugin->stub->ListAndWatch(plugin->context.get(), {});
  v1beta1::ListAndWatchResponse list;
  while (stream->Read(&list)) {
    const MutexLock lock(mutex_);
    devices_.clear();
    for (const v1beta1::Device& device : list.devices()) {
      devices_[device.id()] = device.health() == "Healthy";
    }
    changed_.NotifyAll();
  }
  stream->Finish();
  StreamEnded(plugin);
}

void FakeKubelet::StreamEnded(const std::shared_ptr<Plugin>& plugin) {
  const MutexLock lock(mutex_);
  plugin->ended = true;
  if (kind_ == Kind::kUpTo136 && current_ != nullptr && current_ != plugin) {
    current_->context
        ->TryCancel();  // it looks the client up by the resource, and finds the new one
    return;
  }
  if (current_ != plugin) return;
  for (auto& [id, healthy] : devices_) healthy = false;
  current_.reset();
  changed_.NotifyAll();
}

// ---- what it shows ----

grpc::Status FakeKubelet::ListPods(v1alpha1::ListPodsResponse& response) {
  MutexLock lock(mutex_);
  while (hang_) changed_.Wait(mutex_);
  for (const auto& [uid, pod] : pods_) response.add_pods(ToBytes(pod));
  return grpc::Status::OK;
}

grpc::Status FakeKubelet::ListResources(v1::ListPodResourcesResponse& response) {
  const MutexLock lock(mutex_);
  for (const auto& [key, ids] : shown_) {
    const auto pod = pods_.find(key.first);
    if (pod == pods_.end()) continue;
    v1::PodResources& out = *response.add_pod_resources();
    out.set_name(pod->second.name);
    out.set_namespace_(pod->second.ns);
    v1::ContainerResources& container = *out.add_containers();
    container.set_name(key.second);
    v1::ContainerDevices& devices = *container.add_devices();
    devices.set_resource_name(kGpuResource);
    for (const std::string& id : ids) devices.add_device_ids(id);
  }
  return grpc::Status::OK;
}

}  // namespace strata::testing
