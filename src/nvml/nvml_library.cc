#include "nvml/nvml_library.h"

#include <dlfcn.h>

#include <fmt/format.h>

namespace strata::nvml {
namespace {

template <typename Function>
void Load(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
}

}  // namespace

void Library::LoadFunctions() {
  Load(handle_, "nvmlInit_v2", api_.init);
  Load(handle_, "nvmlShutdown", api_.shutdown);
  Load(handle_, "nvmlErrorString", api_.error_string);
  Load(handle_, "nvmlSystemGetDriverVersion", api_.driver_version);
  Load(handle_, "nvmlDeviceGetCount_v2", api_.device_count);
  Load(handle_, "nvmlDeviceGetHandleByIndex_v2", api_.device_by_index);
  Load(handle_, "nvmlDeviceGetUUID", api_.uuid);
  Load(handle_, "nvmlDeviceGetName", api_.name);
  Load(handle_, "nvmlDeviceGetPciInfo_v3", api_.pci_info);
  Load(handle_, "nvmlDeviceGetMemoryInfo", api_.memory_info);
  Load(handle_, "nvmlDeviceGetTopologyCommonAncestor", api_.common_ancestor);
  Load(handle_, "nvmlDeviceGetNvLinkState", api_.link_state);
  Load(handle_, "nvmlDeviceGetNvLinkRemotePciInfo_v2", api_.link_remote_pci);
  Load(handle_, "nvmlDeviceGetNvLinkRemoteDeviceType", api_.link_remote_type);
  Load(handle_, "nvmlDeviceGetGpuFabricInfoV", api_.fabric_info);
  Load(handle_, "nvmlDeviceGetMinorNumber", api_.minor_number);
  Load(handle_, "nvmlEventSetCreate", api_.create_event_set);
  Load(handle_, "nvmlDeviceRegisterEvents", api_.register_events);
  Load(handle_, "nvmlEventSetWait_v2", api_.wait_for_event);
  Load(handle_, "nvmlEventSetFree", api_.free_event_set);
}

std::unique_ptr<Library> Library::Open(const std::string& path, std::string& error) {
  const std::string name = path.empty() ? "libnvidia-ml.so.1" : path;
  void* handle = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) {
    error = fmt::format("no NVIDIA driver here: {} cannot be loaded", name);
    return nullptr;
  }
  std::unique_ptr<Library> library(new Library(handle));
  library->LoadFunctions();
  const Api& api = library->api_;
  if (api.init == nullptr || api.device_count == nullptr || api.device_by_index == nullptr) {
    error = fmt::format("{} is not NVML: it has no nvmlInit_v2 and device list", name);
    return nullptr;
  }
  const int code = api.init();
  if (code != kSuccess) {
    const char* text = api.error_string == nullptr ? nullptr : api.error_string(code);
    error = fmt::format("NVML does not start: {}", text == nullptr ? "no reason given" : text);
    return nullptr;
  }
  library->initialised_ = true;
  return library;
}

Library::~Library() {
  if (initialised_ && api_.shutdown != nullptr) api_.shutdown();
  dlclose(handle_);
}

}  // namespace strata::nvml
