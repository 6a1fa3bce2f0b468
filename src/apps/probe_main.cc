// strata-agent with nothing but its command `probe`, to be built with a compiler alone:
// docs/gpu-topology.md has the command.
#include <cstdio>
#include <span>
#include <string_view>
#include <vector>

#include "apps/agent_probe.h"

int main(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  if (arguments.empty() || arguments[0] != "probe") {
    const bool asks = !arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h");
    std::fputs(strata::kProbeUsage, asks ? stdout : stderr);
    return asks ? 0 : 2;
  }
  return strata::RunProbe(std::span(arguments).subspan(1));
}
