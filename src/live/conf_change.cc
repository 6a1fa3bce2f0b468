#include "live/conf_change.h"

#include <utility>

#include <fmt/format.h>

namespace strata::live {

ConfChange ChangeByFile(const std::string& path, Result<std::string> text) {
  auto conf = text ? ParseSchedulerConf({path, *std::move(text)})
                   : Result<SchedulerConf>(tl::unexpected<Error>(std::move(text).error()));
  return {.source = path, .is_default = false, .conf = std::move(conf), .event = {}};
}

ConfChange ChangeByConfMap(const kube::Delta& delta) {
  const std::string source = fmt::format("ConfigMap {}/{}", delta.key.ns, delta.key.name);
  if (delta.type == kube::Delta::Type::kDeleted) {
    return {.source = source,
            .is_default = true,
            .conf = SchedulerConf{DefaultSchedulerConfig(), {}},
            .event = {}};
  }
  ConfChange change{.source = source,
                    .is_default = false,
                    .conf = ParseSchedulerConf({source, delta.text}),
                    .event = {}};
  if (!change.conf) {
    change.event = {{"ConfigMap", "v1", delta.key.ns, delta.key.name, delta.uid, delta.version},
                    kube::EventNote::Type::kWarning,
                    "InvalidConfiguration",
                    change.conf.error().message};
  }
  return change;
}

}  // namespace strata::live
