// One hour of the agent on the driver of this machine, in a few seconds: it is given the time.
// Prints what it would have written, and what it cost. For `make gpu-kit`, and with the fake
// driver as a test.
//
//   strata_agent_hour [NVML]
#include <sys/resource.h>

#include <cstdio>
#include <fstream>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "agent/gpu_watch.h"
#include "agent/publish.h"
#include "json/parse.h"

namespace {

using namespace strata;         // NOLINT(google-build-using-namespace)
using namespace strata::agent;  // NOLINT(google-build-using-namespace)

constexpr int kSeconds = 3600;
constexpr int kExpectedWrites = 1 + 12;  // what there is, and a sign of life every five minutes

void Merge(NodeNotes& node, const std::string& patch) {
  const nlohmann::json json = ParseJsonOrNull(patch);
  for (const auto& [key, value] : json["metadata"]["annotations"].items()) {
    node.annotations[key] = value.get<std::string>();
  }
  if (!json["metadata"].contains("labels")) return;
  for (const auto& [key, value] : json["metadata"]["labels"].items()) {
    node.labels[key] = value.get<std::string>();
  }
}

double CpuMilliseconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto ms = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) / 1e3;
  };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

// What this process alone has written, in kB; files such as the driver's library do not count.
long PrivateMemory() {  // NOLINT(google-runtime-int)
  std::ifstream file("/proc/self/smaps_rollup");
  std::string word;
  long total = 0;  // NOLINT(google-runtime-int)
  while (file >> word) {
    long value = 0;  // NOLINT(google-runtime-int)
    if (word == "Private_Dirty:" && file >> value) total += value;
  }
  return total;
}

}  // namespace

int main(int argc, char** argv) {
  GpuWatch::Options options;
  options.nvml = argc > 1 ? argv[1] : "";
  GpuWatch watch(options, "");
  NodeNotes node;
  int writes = 0;
  std::size_t changes = 0;
  std::set<std::string> problems;
  const Time start{std::chrono::hours(500'000)};
  const double before = CpuMilliseconds();
  for (int second = 0; second <= kSeconds; ++second) {
    const auto passed = std::chrono::seconds(second);
    const GpuWatch::Turned turned = watch.Turn(net::SteadyTime(passed), Duration(1));
    changes += turned.changes.size();
    problems.insert(turned.problems.begin(), turned.problems.end());
    const std::string patch =
        PatchToPublish(*watch.machine(), {.version = "hour", .boot = "b"}, node, start + passed);
    if (patch.empty()) continue;
    ++writes;
    Merge(node, patch);
  }
  std::printf("gpus=%zu writes=%d health_changes=%zu cpu_ms=%.0f private_kb=%ld away=\"%s\"\n",
              watch.machine()->node.gpus.size(),
              writes,
              changes,
              CpuMilliseconds() - before,
              PrivateMemory(),
              watch.away().c_str());
  for (const std::string& problem : problems) std::printf("problem: %s\n", problem.c_str());
  const bool good =
      !watch.machine()->node.gpus.empty() && writes == kExpectedWrites && changes == 0;
  return good ? 0 : 1;
}
