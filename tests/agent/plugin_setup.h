#pragma once

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "agent/machine.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "device_plugin/device_plugin.h"
#include "model/gpu_machines.h"
#include "obs/log.h"
#include "tests/agent/fake_kubelet.h"

namespace strata::testing {

inline constexpr const char* kNode = "n1";

// A clock that the test moves.
class ManualClock final : public Clock {
 public:
  [[nodiscard]] Time Now() const override { return Time(Duration(now_.load())); }
  void Advance(Duration by) { now_ += by.count(); }

 private:
  std::atomic<Duration::rep> now_ = 1'000'000;
};

// What the plugin wanted to have changed.
class RecordedEffects final : public device_plugin::Effects {
 public:
  void Settle(const agent::Settlement& settlement) override {
    const MutexLock lock(mutex_);
    settlements_.push_back(settlement);
  }
  void Correct(const agent::RecordCorrection& correction) override {
    const MutexLock lock(mutex_);
    corrections_.push_back(correction);
  }
  void Report(const device_plugin::PluginEvent& event) override {
    const MutexLock lock(mutex_);
    events_.push_back(event);
  }

  [[nodiscard]] std::vector<agent::Settlement> settlements() const {
    const MutexLock lock(mutex_);
    return settlements_;
  }
  [[nodiscard]] std::vector<agent::RecordCorrection> corrections() const {
    const MutexLock lock(mutex_);
    return corrections_;
  }
  [[nodiscard]] std::vector<device_plugin::PluginEvent> events() const {
    const MutexLock lock(mutex_);
    return events_;
  }

 private:
  mutable Mutex mutex_;
  std::vector<agent::Settlement> settlements_ GUARDED_BY(mutex_);
  std::vector<agent::RecordCorrection> corrections_ GUARDED_BY(mutex_);
  std::vector<device_plugin::PluginEvent> events_ GUARDED_BY(mutex_);
};

// A machine of eight GPUs whose UUIDs look like NVIDIA's; each has `slots` ids.
inline std::shared_ptr<agent::Machine> MakeMachine(std::int32_t slots) {
  auto machine = std::make_shared<agent::Machine>();
  machine->node = MakeNodeGpus(*FindGpuMachine("dgx1v"), "x");
  for (Gpu& gpu : machine->node.gpus) {
    gpu.uuid = "GPU-00000000-0000-0000-0000-00000000000" + std::to_string(gpu.index);
    gpu.slots = slots;
    machine->minors.push_back(gpu.index);
  }
  return machine;
}

inline auto BothKubelets() {
  return ::testing::Values(FakeKubelet::Kind::kUpTo136, FakeKubelet::Kind::kFrom137);
}
inline std::string NameOfKubelet(const ::testing::TestParamInfo<FakeKubelet::Kind>& kubelet) {
  return kubelet.param == FakeKubelet::Kind::kUpTo136 ? "UpTo136" : "From137";
}

// A folder, a kubelet and an agent, both of which can be restarted.
class PluginTest : public ::testing::Test {
 protected:
  static constexpr std::int32_t kSlots = 10;
  static constexpr std::size_t kDevices = 80;

  PluginTest() : log_("agent", clock_, {&lines_}) {
    // In memory: what is synced there costs nothing. Paths of sockets must be short.
    const bool memory = std::filesystem::is_directory("/dev/shm");
    const char* disk = std::getenv("STRATA_AGENT_FOLDER");  // NOLINT(concurrency-mt-unsafe)
    const std::string folder = disk != nullptr ? disk : memory ? "/dev/shm" : "/tmp";
    std::string name = folder + "/agent.XXXXXX";
    folder_ = mkdtemp(name.data());
    pods_api_ = folder_ + "/pods-api.sock";
    std::filesystem::create_directory(plugins());
    machine_ = MakeMachine(kSlots);
  }
  ~PluginTest() override {
    agent_.reset();
    kubelet_.reset();
    if (HasFailure()) {
      for (const std::string& line : lines_.Last(30).lines) ADD_FAILURE() << line;
    }
    std::filesystem::remove_all(folder_);
  }

  void StartKubelet(FakeKubelet::Kind kind, std::uint64_t seed = 1) {
    kubelet_ = std::make_unique<FakeKubelet>(
        FakeKubelet::Paths{plugins(), pods_api_, folder_ + "/resources.sock"}, kind, seed);
    kubelet_->Start();
  }
  void StartAgent() {
    device_plugin::DevicePluginOptions options;
    options.node = kNode;
    options.registrar.folder = plugins();
    options.registrar.times.min_backoff = Duration(5);
    options.registrar.times.max_backoff = Duration(50);
    options.pods_api_socket = pods_api_;
    options.pod_resources_socket = folder_ + "/resources.sock";
    options.journal = folder_ + "/journal";
    options.reconcile_every = std::chrono::hours(1);
    options.source_limit = source_limit_;
    auto started = device_plugin::DevicePlugin::Start(
        std::move(options),
        more_sources_(),
        {.machine = [this] { return View(); }, .effects = effects_, .clock = clock_, .log = log_});
    ASSERT_TRUE(started.has_value()) << started.error().message;
    agent_ = std::move(*started);
  }
  // The kubelet has noticed that the first one has gone, and has the devices of the second.
  void RestartAgent() {
    agent_.reset();
    ASSERT_TRUE(kubelet_->WaitForHealthy(0));
    StartAgent();
    ASSERT_TRUE(kubelet_->WaitForHealthy(kDevices));
  }
  void StartBoth(FakeKubelet::Kind kind, std::uint64_t seed = 1) {
    StartKubelet(kind, seed);
    StartAgent();
    ASSERT_TRUE(kubelet_->WaitForHealthy(kDevices));
  }

  [[nodiscard]] std::string plugins() const { return folder_ + "/plugins"; }
  [[nodiscard]] agent::MachineView View() const {
    const MutexLock lock(mutex_);
    return machine_;
  }
  void SetMachine(agent::MachineView machine) {
    {
      const MutexLock lock(mutex_);
      machine_ = std::move(machine);
    }
    agent_->MachineChanged();
  }
  // Returns once the agent has logged a line with that text.
  void WaitForLine(const std::string& text) {
    struct Shared {
      Mutex mutex;
      CondVar changed;
      bool found GUARDED_BY(mutex) = false;
    };
    const auto shared =
        std::make_shared<Shared>();  // a listener may outlive its token for a moment
    const auto look = [this, shared, text] {
      for (const std::string& line : lines_.Since(0).lines) {
        if (line.find(text) == std::string::npos) continue;
        const MutexLock lock(shared->mutex);
        shared->found = true;
      }
      shared->changed.NotifyAll();
    };
    const obs::RecentLines::Token token = lines_.Subscribe(look);
    look();
    const MutexLock lock(shared->mutex);
    while (!shared->found) shared->changed.Wait(shared->mutex);
  }
  // Our sockets in the folder of the kubelet.
  [[nodiscard]] std::vector<std::string> Sockets() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(plugins())) {
      const std::string name = entry.path().filename();
      if (name.starts_with("strata-")) names.push_back(name);
    }
    return names;
  }

  ManualClock clock_;
  obs::RecentLines lines_{1U << 20U};
  obs::Log log_;
  RecordedEffects effects_;
  std::string folder_;
  std::string pods_api_;  // "": the kubelet has none
  std::function<device_plugin::DevicePlugin::Sources()> more_sources_ = [] {
    return device_plugin::DevicePlugin::Sources();
  };
  Duration source_limit_ = std::chrono::seconds(8);
  mutable Mutex mutex_;
  agent::MachineView machine_ GUARDED_BY(mutex_);
  std::unique_ptr<FakeKubelet> kubelet_;
  std::unique_ptr<device_plugin::DevicePlugin> agent_;
};

}  // namespace strata::testing
