#include "whatif/cluster_conf.h"

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace strata {
namespace {

constexpr std::string_view kConfNamespace = "volcano-system";
constexpr std::string_view kConfName = "volcano-scheduler-configmap";
constexpr std::string_view kConfKey = "volcano-scheduler.conf";

}  // namespace

Result<SchedulerConf> FindSchedulerConf(const objects::ObjectSet& objects) {
  for (const objects::ConfigMap& map : objects.config_maps) {
    if (map.meta.ns != kConfNamespace || map.meta.name != kConfName) continue;
    const auto text = map.data.find(std::string(kConfKey));
    if (text == map.data.end()) continue;
    const std::string name = fmt::format("{}: {}", map.meta.source, objects::ObjectName(map.meta));
    return ParseSchedulerConf({name, text->second});
  }
  return SchedulerConf{.config = DefaultSchedulerConfig(), .warnings = {}};
}

}  // namespace strata
