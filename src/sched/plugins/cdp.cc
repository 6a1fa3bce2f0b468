#include "sched/plugins/cdp.h"

#include <chrono>

#include "sched/plugins/argument_rules.h"
#include "sched/victim_point.h"

namespace strata {
namespace {

class Cdp final : public Plugin, public VictimPoint {
 public:
  void Open(const ClusterState& /*state*/, Time now) override { now_ = now; }
  [[nodiscard]] bool DependsOnTime() const override { return true; }

  [[nodiscard]] std::string_view Protects(const Task& task) const override {
    const Disruption& disruption = task.disruption;
    if (task.status != TaskStatus::kRunning || disruption.cooldown_seconds == 0 ||
        disruption.runs_since == Disruption::Moment{}) {
      return "";
    }
    const std::chrono::seconds cooldown(disruption.cooldown_seconds);
    return Time(disruption.runs_since) + cooldown > now_ ? kInCooldown : "";
  }

 private:
  Time now_{};
};

}  // namespace

Result<MadePlugin> MakeCdp(const PluginConfig& config, ResourceNames& /*resources*/) {
  return MadePlugin{.plugin = std::make_unique<Cdp>(), .warnings = WarnOfUnknown(config, {})};
}

}  // namespace strata
