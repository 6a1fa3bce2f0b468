#pragma once

#include <string>
#include <vector>

#include "agent/leaf_query.h"
#include "agent/machine.h"
#include "base/clock.h"
#include "base/result.h"
#include "discovery/node_report.h"
#include "os/process.h"

// What this machine sees of the network around it. These ask the kernel, the network and programs,
// and may take seconds.
namespace strata::agent {

struct FabricOptions {
  std::string sysfs = "/sys";
  std::vector<std::string> lldp_command;  // prints lldpctl's json0; none: LLDP is left out
  Duration leaf_limit = std::chrono::milliseconds(500);  // for each answer of a switch
  Duration lldp_limit = std::chrono::seconds(10);        // for the command
};

// The ports of the machine's adapters, without the switches at their other ends.
[[nodiscard]] std::vector<discovery::AdapterPort> ReadAdapterPorts(const std::string& sysfs);

// How far each adapter is from each GPU.
[[nodiscard]] std::vector<discovery::AdapterDistance> ReadDistances(
    const std::string& sysfs, const std::vector<std::string>& adapters, const Machine& machine);

struct FabricReport {
  discovery::NodeReport report;
  std::vector<std::string> problems;  // a line for each part that could not be read
};
// All of it. `interrupt` ends the command.
[[nodiscard]] FabricReport ReadFabric(const FabricOptions& options,
                                      const Machine& machine,
                                      const os::Interrupt* interrupt);

}  // namespace strata::agent
