#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/machine.h"
#include "model/gpu.h"

// What a container that got GPUs is started with: environment, mounts, device nodes, CDI names. The
// kubelet keeps the answer for every restart of the container. Functions of values.
namespace strata::agent {

struct Mount {
  std::string container_path;
  std::string host_path;
  bool read_only = false;

  bool operator==(const Mount&) const = default;
};

// HAMi-core, which keeps containers to their share of a GPU. Only where its library is installed.
struct ShareOptions {
  std::string hook = "/usr/local";  // the library is <hook>/vgpu/libvgpu.so
  bool oversubscribe = false;       // more memory is registered than the GPUs have
  bool limit_cores = true;
  std::string log_level;  // LIBCUDA_LOG_LEVEL; "": not set
};

struct AnswerOptions {
  enum class Strategy : std::uint8_t {
    kEnvironment,  // NVIDIA_VISIBLE_DEVICES, read by NVIDIA's container runtime
    kCdi,          // names of NVIDIA's CDI specification, read by every runtime with CDI
  };
  Strategy strategy = Strategy::kEnvironment;
  std::string cdi_vendor = "k8s.device-plugin.nvidia.com";
  std::string cdi_class = "gpu";  // of GPUs; other devices have classes of their own
  std::optional<ShareOptions> shares;
  // Device nodes for runtimes that do not add them: these, where they exist, and
  // /dev/nvidia<minor>.
  bool pass_device_nodes = false;
  std::vector<std::string> common_device_nodes;
  bool gdrcopy = false;
  bool gds = false;
  bool mofed = false;
  std::vector<std::int32_t> imex_channels;
};

// The device nodes that all GPUs share. Pass those that exist as common_device_nodes.
[[nodiscard]] std::vector<std::string> SharedDeviceNodes();

struct AllocateAnswer {
  std::map<std::string, std::string> environment;
  std::vector<Mount> mounts;
  std::vector<std::string> device_nodes;  // each at its own path, "rw"
  std::vector<std::string> cdi_devices;
  std::string lock_folder;   // to be made, mode 0777, where it is missing; "": none
  std::string cache_folder;  // to be emptied and made, mode 0777, before the answer; "": none

  bool operator==(const AllocateAnswer&) const = default;
};

struct ServedContainer {
  std::string pod_uid;
  std::string container;
  std::vector<GpuShare> shares;
  bool limited = false;           // the shares are those of a record
  bool disables_control = false;  // KnownContainer::disables_control
  std::string cache_name;         // of a file, different for every container
};

// REQUIRES: IsPathPart(uid) and IsPathPart(container) where there are `shares`.
[[nodiscard]] AllocateAnswer AnswerFor(const Machine& machine,
                                       const ServedContainer& served,
                                       const AnswerOptions& options);

// The CDI names that some container of this machine may get; none without CDI.
[[nodiscard]] std::vector<std::string> CdiNamesOf(const Machine& machine,
                                                  const AnswerOptions& options);

// Whether a text can be part of a path: letters, digits, '-', '_' and '.', not only dots, at most
// 253 of them.
[[nodiscard]] bool IsPathPart(const std::string& text);

}  // namespace strata::agent
