#include "apps/agent_probe.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "apps/agent_flags.h"
#include "nvml/nvml_library.h"
#include "nvml/probe.h"
#include "nvml/render_probe.h"

namespace strata {
namespace {

constexpr int kBadUsage = 2;

bool IsHelp(std::string_view argument) {
  return argument == "--help" || argument == "-h";
}

int Probe(const ProbeFlags& flags) {
  std::string error;
  const auto library = nvml::Library::Open(flags.nvml, error);
  if (library == nullptr) {
    std::fprintf(stderr, "strata-agent: %s\n", error.c_str());
    return 1;
  }
  const nvml::ProbeReport report = nvml::Probe(library->api(), flags.sysfs);
  const std::string text =
      flags.output == "json" ? nvml::RenderProbeJson(report) : nvml::RenderProbeTable(report);
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace

int RunProbe(std::span<const std::string_view> arguments) {
  if (std::any_of(arguments.begin(), arguments.end(), IsHelp)) {
    std::fputs(kProbeUsage, stdout);
    return 0;
  }
  ProbeFlags flags;
  const std::string problem = ParseProbeFlags(arguments, flags);
  if (problem.empty()) return Probe(flags);
  std::fprintf(stderr, "strata-agent: %s (see strata-agent --help)\n", problem.c_str());
  return kBadUsage;
}

}  // namespace strata
