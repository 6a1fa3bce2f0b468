#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "nvml/nvml_api.h"

namespace strata::nvml {

// A critical error of a GPU, by NVIDIA's number for it.
struct XidEvent {
  std::string uuid;  // "": the driver does not say which GPU
  std::uint64_t xid = 0;
};

// The critical errors of all GPUs of this machine, from now on. Not thread-safe.
class XidWatch {
 public:
  // Null when the driver has no such events. A GPU that cannot be watched has a line in `problems`.
  // REQUIRES: `api` is initialised, and outlives it.
  [[nodiscard]] static std::unique_ptr<XidWatch> Open(const Api& api,
                                                      std::vector<std::string>& problems);
  XidWatch(const XidWatch&) = delete;
  XidWatch& operator=(const XidWatch&) = delete;
  ~XidWatch();

  enum class Outcome : std::uint8_t {
    kEvent,    // there was one
    kNothing,  // none came in time
    kFailed,   // the watch is of no use any more
  };
  // Waits for the next event at most `limit`.
  Outcome Wait(std::chrono::milliseconds limit, XidEvent& event);

 private:
  XidWatch(const Api& api, EventSet set) : api_(api), set_(set) {}
  void Add(unsigned int index, std::vector<std::string>& problems);

  const Api& api_;
  EventSet set_;
};

}  // namespace strata::nvml
