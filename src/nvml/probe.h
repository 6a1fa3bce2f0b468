#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/gpu.h"
#include "model/gpu_links.h"
#include "nvml/nvml_api.h"

// What GPUs a machine has and how they are linked.
namespace strata::nvml {

// One NVLink that is up.
struct UpLink {
  std::string remote_bus_id;  // "" if the driver does not say
  int remote_type = kRemoteUnknown;
};

// What could not be read is none, and has a line in ProbeReport::problems.
struct ProbedGpu {
  std::int32_t index = 0;
  std::string uuid;  // "" if unknown
  std::string name;
  std::string bus_id;                 // "0000:3b:00.0"
  std::optional<std::int32_t> minor;  // its file is /dev/nvidia<minor>
  std::optional<std::int32_t> numa;
  std::optional<std::int64_t> memory_mib;
  std::optional<std::vector<UpLink>> links;
  std::string clique;  // "<cluster uuid>.<clique>" of an NVLink domain beyond the node, "" if none
};

struct ProbeReport {
  std::string driver;
  std::vector<ProbedGpu> gpus;  // by index; a GPU that fell off the bus has no UUID
  LinkGraph links{0};           // by position in gpus
  std::vector<std::string> problems;
};

// Reads the machine. Each GPU's links are read once. A call that fails costs the fact it was for,
// and nothing else. `sysfs` is where NUMA nodes are looked up, normally "/sys".
// REQUIRES: `api` is initialised (nvml_library.h).
[[nodiscard]] ProbeReport Probe(const Api& api, const std::string& sysfs);

// The UUIDs of the GPUs that answer. COST: three calls for each GPU.
[[nodiscard]] std::vector<std::string> FindAnswering(const Api& api);

// NVLinks from `from` to `to`, HAMi's rule: links that end at the other GPU; if there are none, the
// lesser number of links to NVSwitches. None when the links of either end are unknown, or end in
// something that the driver hides.
[[nodiscard]] std::optional<std::int32_t> CountNvlinks(const ProbedGpu& from, const ProbedGpu& to);

// What the node would register: GPUs that have a UUID, with HAMi's defaults (ten shares each). One
// whose memory is unknown is not healthy.
[[nodiscard]] NodeGpus ToNodeGpus(const ProbeReport& report);

// "00000000:3B:00.0" as sysfs writes it: "0000:3b:00.0".
[[nodiscard]] std::string NormalBusId(std::string bus_id);

}  // namespace strata::nvml
