#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "kube/client.h"
#include "kube/lease_state.h"
#include "kube/pacing.h"
#include "obs/log.h"

namespace strata::histories {

// What runs in a process: a scheduler or the controllers, step by step and without threads. Its
// end, by deletion, releases its lease unless Finish has said otherwise.
class Part {
 public:
  Part() = default;
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  virtual ~Part() = default;

  // As live::LiveScheduler and controllers::Controllers have them.
  virtual void Start() = 0;
  virtual Duration Step() = 0;
  [[nodiscard]] virtual bool HasLostLease() const = 0;
  virtual bool Drain() = 0;
  virtual void Finish() = 0;
};

// What a part is made with.
struct PartTools {
  kube::Client& client;
  kube::LeaseSettings lease;
  kube::Random random;
  obs::Log& log;
  const Clock& clock;
};

// A kind of part, and how one is made.
struct PartKind {
  std::string name;   // "scheduler"
  std::string lease;  // in namespace volcano-system
  std::function<std::unique_ptr<Part>(PartTools)> make;
};

[[nodiscard]] PartKind SchedulerKind();
[[nodiscard]] PartKind ControllersKind();

}  // namespace strata::histories
