#include "device_plugin/pods_api.h"

#include <chrono>

#include "device_plugin/local_channel.h"
#include "device_plugin/proto/core_pod.pb.h"
#include "device_plugin/proto/kubelet_pods.grpc.pb.h"

namespace strata::device_plugin {
namespace {

using Kind = agent::KnownContainer::Kind;
using Containers = google::protobuf::RepeatedPtrField<kubelet::Container>;

bool HasSwitchedControlOff(const kubelet::Container& container) {
  for (const kubelet::EnvVar& variable : container.env()) {
    if (variable.name() == "CUDA_DISABLE_CONTROL") return variable.value() == "true";
  }
  return false;
}

void AddContainers(const Containers& containers,
                   Kind kind,
                   std::string_view resource,
                   agent::KnownPod& pod) {
  for (const kubelet::Container& container : containers) {
    const bool stays = container.restart_policy() == "Always";
    const auto limit = container.resources().limits().find(std::string(resource));
    const bool limited = limit != container.resources().limits().end();
    pod.containers.push_back({.name = container.name(),
                              .kind = kind == Kind::kInit && stays ? Kind::kSidecar : kind,
                              .gpus = limited ? agent::GpusOfLimit(limit->second.string()) : 0,
                              .disables_control = HasSwitchedControlOff(container)});
  }
}

}  // namespace

Result<agent::KnownPod> ReadPodBytes(const std::string& bytes, std::string_view resource) {
  kubelet::Pod message;
  if (!message.ParseFromString(bytes)) return Fail(Code::kInvalidArgument, "not a pod");
  const kubelet::ObjectMeta& meta = message.metadata();
  agent::KnownPod pod;
  pod.uid = meta.uid();
  pod.ns = meta.namespace_();
  pod.name = meta.name();
  if (pod.uid.empty() || pod.ns.empty() || pod.name.empty()) {
    return Fail(Code::kInvalidArgument, "a pod without uid, namespace or name");
  }
  pod.created = Time(std::chrono::seconds(meta.creation_timestamp().seconds()));
  pod.phase = agent::PhaseOf(message.status().phase());
  pod.annotations.insert(meta.annotations().begin(), meta.annotations().end());
  AddContainers(message.spec().init_containers(), Kind::kInit, resource, pod);
  AddContainers(message.spec().containers(), Kind::kApp, resource, pod);
  return pod;
}

bool PodsApi::Available() const {
  return IdentityOf(socket_).has_value();
}

std::shared_ptr<grpc::Channel> PodsApi::Channel() {
  const auto identity = IdentityOf(socket_);
  const MutexLock lock(mutex_);
  const bool usable =
      channel_ != nullptr && channel_->GetState(false) != GRPC_CHANNEL_TRANSIENT_FAILURE;
  if (!usable || identity != connected_to_) {
    channel_ = LocalChannel(socket_);
    connected_to_ = identity;
  }
  return channel_;
}

Result<KnownPods> PodsApi::List(Duration limit) {
  const auto stub = v1alpha1::Pods::NewStub(Channel());
  grpc::ClientContext context;
  SetLimit(context, limit);
  v1alpha1::ListPodsResponse answer;
  const grpc::Status status = stub->ListPods(&context, {}, &answer);
  if (!status.ok()) return tl::unexpected(ErrorOf(status, "Pods API of the kubelet"));
  KnownPods known;
  for (const std::string& bytes : answer.pods()) {
    TRY_ASSIGN(agent::KnownPod pod, ReadPodBytes(bytes, resource_));
    known.pods.push_back(std::move(pod));
  }
  return known;
}

}  // namespace strata::device_plugin
