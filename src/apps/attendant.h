#pragma once

#include <memory>
#include <string>

#include "apps/component.h"
#include "base/result.h"
#include "obs/log.h"

namespace strata {

// Who answers for a component while it works: its pages, its dumps at SIGUSR1 and SIGUSR2. On a
// thread of its own, until it goes; the component must outlive it.
class Attendant {
 public:
  // Pages at `address`, none when it is empty. kUnavailable when it is taken.
  [[nodiscard]] static Result<std::unique_ptr<Attendant>> Start(const std::string& address,
                                                                const Component& component,
                                                                obs::Log& log);
  Attendant(const Attendant&) = delete;
  Attendant& operator=(const Attendant&) = delete;
  ~Attendant();

 private:
  Attendant();

  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace strata
