// strata-agent: what runs on a node. `strata-agent probe` shows the machine's GPUs and their links.
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "nvml/nvml_library.h"
#include "nvml/probe.h"
#include "nvml/render_probe.h"

namespace {

constexpr const char* kUsage =
    "usage: strata-agent probe [-o json|table] [--nvml FILE] [--sysfs DIR]\n"
    "\n"
    "Reads the NVIDIA GPUs of this machine through the driver's NVML and prints devices, links,\n"
    "scores and the two annotations that a node with them would bear.\n"
    "\n"
    "  -o, --output json|table   table is the default\n"
    "  --nvml FILE               the library to load (default: libnvidia-ml.so.1)\n"
    "  --sysfs DIR               where NUMA nodes are looked up (default: /sys)\n";

constexpr int kBadUsage = 2;

bool IsHelp(std::string_view argument) {
  return argument == "--help" || argument == "-h";
}

struct Flags {
  std::string output = "table";
  std::string nvml;
  std::string sysfs = "/sys";
};

// False, with one line on stderr, when the command line makes no sense.
bool Parse(const std::vector<std::string_view>& arguments, Flags& flags) {
  for (std::size_t i = 1; i < arguments.size(); i += 2) {
    const std::string_view name = arguments[i];
    std::string* value = nullptr;
    if (name == "-o" || name == "--output") value = &flags.output;
    if (name == "--nvml") value = &flags.nvml;
    if (name == "--sysfs") value = &flags.sysfs;
    if (value == nullptr || i + 1 == arguments.size()) {
      std::fprintf(stderr,
                   "strata-agent: %s \"%.*s\"; see strata-agent --help\n",
                   value == nullptr ? "unknown flag" : "no value for",
                   static_cast<int>(name.size()),
                   name.data());
      return false;
    }
    *value = std::string(arguments[i + 1]);
  }
  if (flags.output == "json" || flags.output == "table") return true;
  std::fprintf(
      stderr, "strata-agent: -o: want json or table, found \"%s\"\n", flags.output.c_str());
  return false;
}

int Probe(const Flags& flags) {
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
  Flags flags;
  return Parse(arguments, flags) ? Probe(flags) : kBadUsage;
}
