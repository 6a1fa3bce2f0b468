// strata-agent: what runs on a node. `strata-agent probe` shows the machine's GPUs and their links.
#include <algorithm>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/agent_flags.h"
#include "nvml/nvml_library.h"
#include "nvml/probe.h"
#include "nvml/render_probe.h"

namespace {

constexpr const char* kUsage =
    "usage: strata-agent probe [-o json|table] [--nvml FILE] [--sysfs DIR]\n"
    "\n"
    "Reads the NVIDIA GPUs of this machine through the driver's NVML and prints devices, links,\n"
    "scores, and the two annotations that HAMi expects on the Node.\n"
    "\n"
    "  -o, --output json|table   output format (default: table)\n"
    "  --nvml FILE               the library to load (default: libnvidia-ml.so.1)\n"
    "  --sysfs DIR               where to read NUMA nodes (default: /sys)\n";

constexpr int kBadUsage = 2;

bool IsHelp(std::string_view argument) {
  return argument == "--help" || argument == "-h";
}

int Probe(const strata::ProbeFlags& flags) {
  std::string error;
  const auto library = strata::nvml::Library::Open(flags.nvml, error);
  if (library == nullptr) {
    std::fprintf(stderr, "strata-agent: %s\n", error.c_str());
    return 1;
  }
  const strata::nvml::ProbeReport report = strata::nvml::Probe(library->api(), flags.sysfs);
  const std::string text = flags.output == "json" ? strata::nvml::RenderProbeJson(report)
                                                  : strata::nvml::RenderProbeTable(report);
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  if (std::any_of(arguments.begin(), arguments.end(), IsHelp)) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  if (arguments.empty() || arguments[0] != "probe") {
    std::fputs(kUsage, stderr);
    return kBadUsage;
  }
  strata::ProbeFlags flags;
  const std::string problem = ParseProbeFlags(std::span(arguments).subspan(1), flags);
  if (problem.empty()) return Probe(flags);
  std::fprintf(stderr, "strata-agent: %s (see strata-agent --help)\n", problem.c_str());
  return kBadUsage;
}
