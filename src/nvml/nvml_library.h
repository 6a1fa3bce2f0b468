#pragma once

#include <memory>
#include <string>

#include "nvml/nvml_api.h"

namespace strata::nvml {

// The driver's NVML, loaded at run time and initialised; shut down and unloaded at the end. Not
// thread-safe.
class Library {
 public:
  // Loads `path`, or the system's libnvidia-ml.so.1 when it is empty. Null, with one line in
  // `error`, when there is none or it cannot be used.
  [[nodiscard]] static std::unique_ptr<Library> Open(const std::string& path, std::string& error);
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library();

  [[nodiscard]] const Api& api() const { return api_; }

 private:
  explicit Library(void* handle) : handle_(handle) {}
  void LoadFunctions();

  void* handle_;
  Api api_;
  bool initialised_ = false;
};

}  // namespace strata::nvml
