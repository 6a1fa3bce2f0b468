// The admission engine of the fake kubelet: which ids a container gets, and what it asks the
// plugin.
#include <algorithm>
#include <chrono>
#include <utility>

#include "device_plugin/local_channel.h"
#include "tests/agent/fake_kubelet.h"

namespace strata::testing {
namespace {

constexpr std::chrono::seconds kCallLimit{30};

bool Crashes(const FakeKubelet::Hook& hook, FakeKubelet::Step step) {
  return hook && hook(step) == FakeKubelet::Intervention::kCrash;
}

constexpr const char* kCrashed = "crashed";

}  // namespace

FakeKubelet::Outcome FakeKubelet::Admit(const agent::KnownPod& pod, const Hook& hook) {
  {
    const MutexLock lock(mutex_);
    pods_[pod.uid] = pod;
  }
  Outcome outcome = AdmitContainers(pod, hook);
  if (outcome.end == Outcome::End::kRefused) {
    SetPhase(pod.uid, objects::PodPhase::kFailed);
    for (const agent::KnownContainer& container : pod.containers) {
      checkpoint_.erase(Key(pod.uid, container.name));
    }
  }
  return outcome;
}

// Gives a container that has no devices yet some, and writes them down. "" or what went wrong.
std::string FakeKubelet::Serve(const Key& key,
                               std::size_t gpus,
                               const std::set<std::string>& reusable,
                               const Hook& hook) {
  Served served;
  std::string error = ChooseIds(gpus, reusable, hook, served.ids);
  if (error.empty() && Crashes(hook, Step::kBeforeAllocate)) error = kCrashed;
  if (error.empty()) error = CallAllocate(served.ids, served);
  if (error.empty() && Crashes(hook, Step::kAnswered)) error = kCrashed;
  if (error.empty()) checkpoint_[key] = std::move(served);
  return error;
}

void FakeKubelet::Show(const Key& key, const agent::KnownContainer& container) {
  const MutexLock lock(mutex_);
  std::erase_if(shown_, [&](const auto& item) { return item.first == key; });
  if (container.kind == agent::KnownContainer::Kind::kInit) return;
  shown_.emplace_back(key, checkpoint_[key].ids);
}

FakeKubelet::Outcome FakeKubelet::AdmitContainers(const agent::KnownPod& pod, const Hook& hook) {
  Outcome outcome;
  std::set<std::string> reusable;  // ids of init containers, which end before the next one starts
  for (const agent::KnownContainer& container : pod.containers) {
    if (container.gpus == 0) continue;
    const Key key(pod.uid, container.name);
    if (!checkpoint_.contains(key)) {
      outcome.error = Serve(key, static_cast<std::size_t>(container.gpus), reusable, hook);
    }
    if (!outcome.error.empty()) {
      const bool crashed = outcome.error == kCrashed;
      outcome.end = crashed ? Outcome::End::kCrashed : Outcome::End::kRefused;
      return outcome;
    }
    const Served& served = checkpoint_[key];
    outcome.containers[container.name] = served;
    for (const std::string& id : served.ids) {
      if (container.kind == agent::KnownContainer::Kind::kInit) {
        reusable.insert(id);
      } else {
        reusable.erase(id);
      }
    }
    Show(key, container);
    if (Crashes(hook, Step::kRecorded)) return {.end = Outcome::End::kCrashed, .error = kCrashed};
  }
  return outcome;
}

std::string FakeKubelet::ChooseIds(std::size_t needed,
                                   const std::set<std::string>& reusable,
                                   const Hook& hook,
                                   std::vector<std::string>& ids) {
  ids = TakeAtRandom(reusable, std::min(needed, reusable.size()));
  if (ids.size() == needed) return "";
  const std::set<std::string> available = Available();
  if (available.size() < needed - ids.size()) return "requested number of devices unavailable";
  if (Crashes(hook, Step::kBeforePreferred)) return kCrashed;
  const std::string error = AskPreferred(needed, ids, available);
  if (!error.empty()) return error;
  std::set<std::string> left = available;  // a short answer is filled up by chance
  for (const std::string& id : ids) left.erase(id);
  for (std::string& id : TakeAtRandom(left, needed - ids.size())) ids.push_back(std::move(id));
  return "";
}

std::string FakeKubelet::AskPreferred(std::size_t needed,
                                      std::vector<std::string>& ids,
                                      const std::set<std::string>& available) {
  v1beta1::PreferredAllocationRequest request;
  auto& container = *request.add_container_requests();
  for (const std::string& id : available) container.add_available_deviceids(id);
  for (const std::string& id : ids) {
    container.add_available_deviceids(id);
    container.add_must_include_deviceids(id);
  }
  container.set_allocation_size(static_cast<int>(needed));
  const auto stub = CurrentStub();
  if (stub == nullptr) return "no plugin";
  grpc::ClientContext context;
  device_plugin::SetLimit(context, kCallLimit);
  v1beta1::PreferredAllocationResponse answer;
  const grpc::Status status = stub->GetPreferredAllocation(&context, request, &answer);
  if (!status.ok()) return "GetPreferredAllocation: " + status.error_message();
  if (answer.container_responses().empty()) return "";
  for (const std::string& id : answer.container_responses(0).deviceids()) {
    const bool taken = std::find(ids.begin(), ids.end(), id) != ids.end();
    if (!taken && ids.size() < needed && available.contains(id)) ids.push_back(id);
  }
  return "";
}

std::string FakeKubelet::CallAllocate(const std::vector<std::string>& ids, Served& served) {
  v1beta1::AllocateRequest request;
  auto& container = *request.add_container_requests();
  for (const std::string& id : ids) container.add_devices_ids(id);
  const auto stub = CurrentStub();
  if (stub == nullptr) return "no plugin";
  grpc::ClientContext context;
  device_plugin::SetLimit(context, kCallLimit);
  v1beta1::AllocateResponse answer;
  const auto start = std::chrono::steady_clock::now();
  const grpc::Status status = stub->Allocate(&context, request, &answer);
  allocate_times_.push_back(std::chrono::ceil<Duration>(std::chrono::steady_clock::now() - start));
  if (!status.ok()) return status.error_message();
  if (answer.container_responses().empty()) return "no containers return in allocation response";
  const auto& envs = answer.container_responses(0).envs();
  served.environment = {envs.begin(), envs.end()};
  return "";
}

void FakeKubelet::Remove(const std::string& uid) {
  std::erase_if(checkpoint_, [&](const auto& item) { return item.first.first == uid; });
  const MutexLock lock(mutex_);
  pods_.erase(uid);
  std::erase_if(shown_, [&](const auto& item) { return item.first.first == uid; });
}

void FakeKubelet::Swap(const std::string& uid,
                       const std::string& other,
                       const std::string& container) {
  std::swap(checkpoint_.at({uid, container}), checkpoint_.at({other, container}));
  const MutexLock lock(mutex_);
  std::vector<std::string>* first = nullptr;
  std::vector<std::string>* second = nullptr;
  for (auto& [key, ids] : shown_) {
    if (key == Key(uid, container)) first = &ids;
    if (key == Key(other, container)) second = &ids;
  }
  if (first != nullptr && second != nullptr) std::swap(*first, *second);
}

std::shared_ptr<v1beta1::DevicePlugin::Stub> FakeKubelet::CurrentStub() {
  const MutexLock lock(mutex_);
  return current_ == nullptr ? nullptr : current_->stub;
}

std::set<std::string> FakeKubelet::Available() {
  std::set<std::string> available;
  {
    const MutexLock lock(mutex_);
    for (const auto& [id, healthy] : devices_) {
      if (healthy) available.insert(id);
    }
  }
  for (const auto& [key, served] : checkpoint_) {
    for (const std::string& id : served.ids) available.erase(id);
  }
  return available;
}

std::vector<std::string> FakeKubelet::TakeAtRandom(std::set<std::string> from, std::size_t count) {
  std::vector<std::string> taken;
  while (taken.size() < count && !from.empty()) {
    const auto at = std::next(from.begin(), random_.Below(static_cast<std::int64_t>(from.size())));
    taken.push_back(*at);
    from.erase(at);
  }
  return taken;
}

void FakeKubelet::SetPhase(const std::string& uid, objects::PodPhase phase) {
  const MutexLock lock(mutex_);
  pods_[uid].phase = phase;
}

}  // namespace strata::testing
