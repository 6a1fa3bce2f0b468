#pragma once

#include <array>
#include <cstdint>

// The few functions of NVML that the agent uses, declared by ourselves so that neither its header
// nor its library is needed to build. Names of functions and layouts of structs are NVIDIA's ABI.
namespace strata::nvml {

struct DeviceHandle;
using Device = DeviceHandle*;

// nvmlReturn_t, as far as the agent tells values apart.
enum Return : int {
  kSuccess = 0,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kTimeout = 10,
  kFunctionNotFound = 13,
  kGpuIsLost = 15,
};

struct PciInfo {
  std::array<char, 16> bus_id_legacy;
  unsigned int domain;
  unsigned int bus;
  unsigned int device;
  unsigned int pci_device_id;
  unsigned int pci_subsystem_id;
  std::array<char, 32> bus_id;
};

struct Memory {
  unsigned long long total;  // NOLINT(google-runtime-int): NVIDIA's type
  unsigned long long free;   // NOLINT(google-runtime-int)
  unsigned long long used;   // NOLINT(google-runtime-int)
};

// nvmlGpuFabricInfo_v2_t.
struct FabricInfo {
  unsigned int version;
  std::array<unsigned char, 16> cluster_uuid;
  int status;
  unsigned int clique_id;
  unsigned char state;
  unsigned int health_mask;
};
inline constexpr unsigned int kFabricInfoVersion = sizeof(FabricInfo) | (2U << 24U);
inline constexpr unsigned char kFabricCompleted = 3;

// nvmlEventSet_t, nvmlEventData_t.
struct EventSetHandle;
using EventSet = EventSetHandle*;
struct EventData {
  Device device;
  std::uint64_t type;
  std::uint64_t data;  // of a critical error: its XID
  unsigned int gpu_instance;
  unsigned int compute_instance;
};
static_assert(sizeof(EventData) == 32);
inline constexpr std::uint64_t kXidEvents = 0x8;

inline constexpr int kFeatureEnabled = 1;
inline constexpr unsigned int kMaxLinks = 36;  // per GPU
enum RemoteType : int { kRemoteGpu = 0, kRemoteSwitch = 2, kRemoteUnknown = 255 };

// A function that the driver does not have is null.
struct Api {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*driver_version)(char*, unsigned int) = nullptr;
  int (*device_count)(unsigned int*) = nullptr;
  int (*device_by_index)(unsigned int, Device*) = nullptr;
  int (*uuid)(Device, char*, unsigned int) = nullptr;
  int (*name)(Device, char*, unsigned int) = nullptr;
  int (*pci_info)(Device, PciInfo*) = nullptr;
  int (*memory_info)(Device, Memory*) = nullptr;
  int (*common_ancestor)(Device, Device, int*) = nullptr;
  int (*link_state)(Device, unsigned int, int*) = nullptr;
  int (*link_remote_pci)(Device, unsigned int, PciInfo*) = nullptr;
  int (*link_remote_type)(Device, unsigned int, int*) = nullptr;
  int (*fabric_info)(Device, FabricInfo*) = nullptr;
  int (*minor_number)(Device, unsigned int*) = nullptr;
  int (*create_event_set)(EventSet*) = nullptr;
  int (*register_events)(Device, std::uint64_t, EventSet) = nullptr;
  int (*wait_for_event)(EventSet, EventData*, unsigned int milliseconds) = nullptr;
  int (*free_event_set)(EventSet) = nullptr;
};

}  // namespace strata::nvml
