// A kubelet of our own for an agent on a machine with a real GPU (`make gpu-kit`).
//
//   strata_admit_pods FOLDER DEVICES ROUNDS < pods.json
//
// Waits until the agent offers DEVICES healthy devices, admits the pods of the list and prints what
// each container got, then ROUNDS pods without a record and how long the agent took for each. Then
// it asks for a restart of the agent, and prints how long there were no devices.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "agent/known_pod.h"
#include "tests/agent/fake_kubelet.h"

namespace strata::testing {
namespace {

bool Print(const agent::KnownPod& pod, const FakeKubelet::Outcome& outcome) {
  if (outcome.end != FakeKubelet::Outcome::End::kAdmitted) {
    std::printf("%s refused: %s\n", pod.FullName().c_str(), outcome.error.c_str());
    return false;
  }
  for (const auto& [container, served] : outcome.containers) {
    std::printf("%s %s:", pod.FullName().c_str(), container.c_str());
    for (const std::string& id : served.ids) std::printf(" id %s", id.c_str());
    for (const auto& [name, value] : served.environment) {
      std::printf(" %s=%s", name.c_str(), value.c_str());
    }
    std::printf("\n");
  }
  return true;
}

bool AdmitRounds(FakeKubelet& kubelet, int rounds) {
  const std::size_t before = kubelet.allocate_times().size();
  for (int i = 0; i < rounds; ++i) {
    agent::KnownPod pod;
    pod.uid = "round-" + std::to_string(i);
    pod.ns = "rounds";
    pod.name = pod.uid;
    pod.containers = {{.name = "main", .gpus = 1}};
    const FakeKubelet::Outcome outcome = kubelet.Admit(pod);
    if (outcome.end != FakeKubelet::Outcome::End::kAdmitted) return Print(pod, outcome);
    kubelet.Remove(pod.uid);
  }
  std::vector<Duration> times(
      kubelet.allocate_times().begin() + static_cast<std::ptrdiff_t>(before),
      kubelet.allocate_times().end());
  if (times.empty()) return true;
  std::sort(times.begin(), times.end());
  std::printf("Allocate, %zu times, rounded up: median %lld ms, p99 %lld ms, longest %lld ms\n",
              times.size(),
              static_cast<long long>(times[times.size() / 2].count()),
              static_cast<long long>(times[times.size() * 99 / 100].count()),
              static_cast<long long>(times.back().count()));
  return true;
}

int Run(const std::string& folder, std::size_t devices, int rounds) {
  const std::string list{std::istreambuf_iterator<char>(std::cin), {}};
  const auto pods = agent::ReadPodList(list, kGpuResource);
  if (!pods) {
    std::fprintf(stderr, "%s\n", pods.error().message.c_str());
    return 2;
  }
  std::filesystem::create_directories(folder + "/plugins");
  FakeKubelet kubelet({folder + "/plugins", folder + "/pods-api.sock", folder + "/resources.sock"},
                      FakeKubelet::Kind::kFrom137,
                      1);
  kubelet.Start();
  if (!kubelet.WaitForHealthy(devices)) {
    std::fprintf(stderr, "%zu healthy devices did not come\n", devices);
    return 1;
  }
  bool good = true;
  for (const agent::KnownPod& pod : *pods) {
    good = Print(pod, kubelet.Admit(pod)) && good;
    kubelet.Remove(pod.uid);
  }
  good = AdmitRounds(kubelet, rounds) && good;
  std::printf("restart the agent\n");
  std::fflush(stdout);
  constexpr int kLooks = 20;  // half a minute each
  for (int i = 0; !kubelet.WaitForHealthy(0); ++i) {
    if (i == kLooks) return 1;
  }
  const auto gone = std::chrono::steady_clock::now();
  if (!kubelet.WaitForHealthy(devices)) return 1;
  std::printf("restart gap: %lld ms\n",
              static_cast<long long>(std::chrono::ceil<std::chrono::milliseconds>(
                                         std::chrono::steady_clock::now() - gone)
                                         .count()));
  return good ? 0 : 1;
}

}  // namespace
}  // namespace strata::testing

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: strata_admit_pods FOLDER DEVICES ROUNDS < pods.json\n");
    return 2;
  }
  return strata::testing::Run(
      argv[1], std::strtoul(argv[2], nullptr, 10), std::atoi(argv[3]));  // NOLINT(cert-err34-c)
}
