#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "component/component.h"
#include "obs/log.h"

namespace strata {

// Serves the debug pages of a component and calls its dump and snapshot functions on SIGUSR2 and
// SIGUSR1, on a thread of its own, until it is destroyed. The component must outlive it.
class DebugServer {
 public:
  // Serves the pages at `address`; no pages when it is empty. kUnavailable when the address is in
  // use.
  [[nodiscard]] static Result<std::unique_ptr<DebugServer>> Start(const std::string& address,
                                                                  const Component& component,
                                                                  obs::Log& log);
  DebugServer(const DebugServer&) = delete;
  DebugServer& operator=(const DebugServer&) = delete;
  ~DebugServer();

 private:
  DebugServer();

  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace strata
