#include "tests/histories/parts.h"

#include <utility>

#include "base/check.h"
#include "controllers/controllers.h"
#include "live/live_scheduler.h"

namespace strata::histories {
namespace {

class SchedulerPart final : public Part {
 public:
  explicit SchedulerPart(PartTools tools)
      : scheduler_(tools.client, OptionsWith(tools), tools.log, tools.clock) {}
  void Start() override { CHECK(scheduler_.Start()); }
  Duration Step() override { return scheduler_.Step(); }
  [[nodiscard]] bool HasLostLease() const override { return scheduler_.HasLostLease(); }
  bool Drain() override { return scheduler_.Drain(Duration(0)); }
  void Finish() override { static_cast<void>(scheduler_.Finish()); }

 private:
  static live::SchedulerOptions OptionsWith(const PartTools& tools) {
    live::SchedulerOptions options;
    options.advises = false;
    options.random = tools.random;
    options.lease = tools.lease;
    return options;
  }

  live::LiveScheduler scheduler_;
};

class ControllersPart final : public Part {
 public:
  explicit ControllersPart(PartTools tools)
      : controllers_(tools.client, OptionsWith(tools), tools.log, tools.clock) {}
  void Start() override { CHECK(controllers_.Start()); }
  Duration Step() override { return controllers_.Step(); }
  [[nodiscard]] bool HasLostLease() const override { return controllers_.HasLostLease(); }
  bool Drain() override { return controllers_.Drain(); }
  void Finish() override {}

 private:
  static controllers::ControllersOptions OptionsWith(const PartTools& tools) {
    controllers::ControllersOptions options;
    options.random = tools.random;
    options.lease = tools.lease;
    return options;
  }

  controllers::Controllers controllers_;
};

template <typename Made>
std::unique_ptr<Part> Make(PartTools tools) {
  return std::make_unique<Made>(std::move(tools));
}

}  // namespace

PartKind SchedulerKind() {
  return {.name = "scheduler", .lease = "volcano", .make = Make<SchedulerPart>};
}

PartKind ControllersKind() {
  return {.name = "controllers", .lease = "vc-controller-manager", .make = Make<ControllersPart>};
}

}  // namespace strata::histories
