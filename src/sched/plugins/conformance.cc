#include "sched/plugins/conformance.h"

#include "sched/plugins/argument_rules.h"
#include "sched/victim_point.h"

namespace strata {
namespace {

class Conformance final : public Plugin, public VictimPoint {
 public:
  [[nodiscard]] std::string_view Protects(const Task& task) const override {
    return task.disruption.critical ? "of the system" : "";
  }
};

}  // namespace

Result<MadePlugin> MakeConformance(const PluginConfig& config, ResourceNames& /*resources*/) {
  return MadePlugin{.plugin = std::make_unique<Conformance>(),
                    .warnings = WarnOfUnknown(config, {})};
}

}  // namespace strata
