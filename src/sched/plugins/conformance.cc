#include "sched/plugins/conformance.h"

#include "sched/plugins/argument_rules.h"

namespace strata {
namespace {

class Conformance final : public Plugin {};

}  // namespace

Result<MadePlugin> MakeConformance(const PluginConfig& config, ResourceNames& /*resources*/) {
  return MadePlugin{.plugin = std::make_unique<Conformance>(),
                    .warnings = WarnOfUnknown(config, {})};
}

}  // namespace strata
