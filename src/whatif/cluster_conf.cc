#include "whatif/cluster_conf.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace strata {
namespace {

constexpr std::string_view kConfNamespace = "volcano-system";
constexpr std::string_view kConfName = "volcano-scheduler-configmap";
constexpr std::string_view kConfKey = "volcano-scheduler.conf";
// Volcano's chart names the ConfigMap after the release, and the key after the file.
constexpr std::string_view kConfNameEnd = "-scheduler-configmap";
constexpr std::string_view kAgentConfNameEnd = "-agent-scheduler-configmap";

// The configuration in the map: that of the usual key, else of the only one that ends in .conf;
// nullptr when there is none.
const std::string* ConfIn(const objects::ConfigMap& map) {
  if (const auto usual = map.data.find(kConfKey); usual != map.data.end()) return &usual->second;
  const std::string* only = nullptr;
  for (const auto& [key, text] : map.data) {
    if (!key.ends_with(".conf")) continue;
    if (only != nullptr) return nullptr;
    only = &text;
  }
  return only;
}

bool IsCandidate(const objects::ConfigMap& map) {
  return map.meta.name.ends_with(kConfNameEnd) && !map.meta.name.ends_with(kAgentConfNameEnd) &&
         ConfIn(map) != nullptr;
}

Result<SchedulerConf> ReadConf(const objects::ConfigMap& map) {
  const std::string name = fmt::format("{}: {}", map.meta.source, objects::ObjectName(map.meta));
  return ParseSchedulerConf({name, *ConfIn(map)});
}

}  // namespace

Result<SchedulerConf> FindSchedulerConf(const objects::ObjectSet& objects) {
  std::vector<const objects::ConfigMap*> others;
  for (const objects::ConfigMap& map : objects.config_maps) {
    if (!IsCandidate(map)) continue;
    if (map.meta.ns == kConfNamespace && map.meta.name == kConfName) return ReadConf(map);
    others.push_back(&map);
  }
  if (others.empty()) return SchedulerConf{.config = DefaultSchedulerConfig(), .warnings = {}};
  const std::string first = objects::NamespacedName(others.front()->meta);
  if (others.size() > 1) {
    return Fail(Code::kInvalidArgument,
                fmt::format("ConfigMaps {} and {} may both be the scheduler's (want {}/{}, or "
                            "--scheduler-conf)",
                            first,
                            objects::NamespacedName(others[1]->meta),
                            kConfNamespace,
                            kConfName));
  }
  TRY_ASSIGN(SchedulerConf conf, ReadConf(*others.front()));
  conf.warnings.push_back(
      fmt::format("ConfigMap {} is taken for the scheduler's configuration", first));
  return conf;
}

}  // namespace strata
