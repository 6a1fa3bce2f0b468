#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "agent/known_pod.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "device_plugin/proto/kubelet_device_plugin.grpc.pb.h"
#include "device_plugin/proto/kubelet_pod_resources.grpc.pb.h"
#include "device_plugin/proto/kubelet_pods.grpc.pb.h"
#include "tests/histories/random.h"

// A kubelet as far as a device plugin sees it: registration, admission of pods, Pods API and
// podresources, in a folder of the test. One pod is admitted at a time, as a real one does.
namespace strata::testing {

inline constexpr const char* kGpuResource = "nvidia.com/gpu";

class FakeKubelet {
 public:
  // What a second registration of a resource does.
  enum class Kind : std::uint8_t {
    kUpTo136,  // it replaces the first; the end of the first one's stream then cuts the second
    kFrom137,  // sockets are kept apart; the same socket again is refused for good
  };
  struct Paths {
    std::string plugins;   // a folder
    std::string pods_api;  // "": it has no Pods API
    std::string pod_resources;
  };

  FakeKubelet(Paths paths, Kind kind, std::uint64_t seed);
  FakeKubelet(const FakeKubelet&) = delete;
  FakeKubelet& operator=(const FakeKubelet&) = delete;
  ~FakeKubelet();

  // Removes all sockets of the folder, as a real one does, and serves.
  void Start();
  // Forgets everything but its checkpoint and the pods.
  void Stop();
  void Restart() {
    Stop();
    Start();
  }
  // Ends the stream of the current plugin.
  void CutStream();

  // True once so many healthy devices are offered; false after half a minute.
  [[nodiscard]] bool WaitForHealthy(std::size_t count);

  // Moments during an admission at which a test can intervene.
  enum class Step : std::uint8_t { kBeforePreferred, kBeforeAllocate, kAnswered, kRecorded };
  enum class Intervention : std::uint8_t { kGoOn, kCrash };
  using Hook = std::function<Intervention(Step)>;

  struct Served {
    std::vector<std::string> ids;
    std::map<std::string, std::string> environment;
  };
  struct Outcome {
    enum class End : std::uint8_t { kAdmitted, kRefused, kCrashed };
    End end = End::kAdmitted;
    std::string error;
    std::map<std::string, Served> containers;
  };
  // Makes the pod known, and gives its containers devices, in order. The pod stays known as Failed
  // when it is refused. After a crash it is admitted again by another call.
  Outcome Admit(const agent::KnownPod& pod, const Hook& hook = nullptr);
  void Remove(const std::string& uid);
  // Its checkpoint is lost.
  void ForgetDevices() { checkpoint_.clear(); }
  // Exchanges the devices of two containers in its books: what an agent that took one pod for the
  // other finds.
  void Swap(const std::string& uid, const std::string& other, const std::string& container);

  // From now on ListPods does not answer; it does again after `false`.
  void HangPods(bool hang);

  // The answer to GET /pods of its HTTPS port.
  [[nodiscard]] std::string PodList() const;

  [[nodiscard]] std::int64_t registrations() const { return registrations_; }
  // How long each Allocate took.
  [[nodiscard]] const std::vector<Duration>& allocate_times() const { return allocate_times_; }
  [[nodiscard]] std::string last_refusal() const;

 private:
  class RegistrationService;
  class PodsService;
  class PodResourcesService;
  struct Plugin {  // one registered socket
    std::string socket;
    std::shared_ptr<v1beta1::DevicePlugin::Stub> stub;
    std::shared_ptr<grpc::ClientContext> context;
    std::thread reader;
    bool ended = false;
  };
  using Key = std::pair<std::string, std::string>;  // uid, container

  grpc::Status Register(const v1beta1::RegisterRequest& request);
  void ReadStream(const std::shared_ptr<Plugin>& plugin);
  void StreamEnded(const std::shared_ptr<Plugin>& plugin);
  grpc::Status ListPods(v1alpha1::ListPodsResponse& response);
  grpc::Status ListResources(v1::ListPodResourcesResponse& response);

  [[nodiscard]] std::shared_ptr<v1beta1::DevicePlugin::Stub> CurrentStub();
  [[nodiscard]] std::set<std::string> Available();
  [[nodiscard]] std::vector<std::string> TakeAtRandom(std::set<std::string> from,
                                                      std::size_t count);
  [[nodiscard]] std::string ChooseIds(std::size_t needed,
                                      const std::set<std::string>& reusable,
                                      const Hook& hook,
                                      std::vector<std::string>& ids);
  [[nodiscard]] std::string AskPreferred(std::size_t needed,
                                         std::vector<std::string>& ids,
                                         const std::set<std::string>& available);
  [[nodiscard]] std::string CallAllocate(const std::vector<std::string>& ids, Served& served);
  [[nodiscard]] std::string Serve(const Key& key,
                                  std::size_t gpus,
                                  const std::set<std::string>& reusable,
                                  const Hook& hook);
  void Show(const Key& key, const agent::KnownContainer& container);
  [[nodiscard]] Outcome AdmitContainers(const agent::KnownPod& pod, const Hook& hook);
  void SetPhase(const std::string& uid, objects::PodPhase phase);

  const Paths paths_;
  const Kind kind_;
  histories::Random random_;
  std::unique_ptr<RegistrationService> registration_;
  std::unique_ptr<PodsService> pods_service_;
  std::unique_ptr<PodResourcesService> resources_service_;
  std::unique_ptr<grpc::Server> server_;
  std::map<Key, Served> checkpoint_;  // of the thread that admits
  std::vector<Duration> allocate_times_;
  std::atomic<std::int64_t> registrations_ = 0;

  mutable Mutex mutex_;
  CondVar changed_;
  std::vector<std::shared_ptr<Plugin>> plugins_ GUARDED_BY(mutex_);
  std::shared_ptr<Plugin> current_ GUARDED_BY(mutex_);
  std::set<std::string> poisoned_ GUARDED_BY(mutex_);       // sockets that are refused for good
  std::map<std::string, bool> devices_ GUARDED_BY(mutex_);  // id, healthy
  std::map<std::string, agent::KnownPod> pods_ GUARDED_BY(mutex_);
  std::vector<std::pair<Key, std::vector<std::string>>> shown_ GUARDED_BY(mutex_);  // podresources
  bool hang_ GUARDED_BY(mutex_) = false;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::string last_refusal_ GUARDED_BY(mutex_);
};

}  // namespace strata::testing
