// Any text read as JSON objects gives objects or one line; what is read also expands.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "objects/default_pod_group.h"
#include "objects/expand_job.h"
#include "objects/load.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using strata::objects::Pod;
  const std::vector<strata::objects::Source> sources = {
      {"fuzz.json", std::string(reinterpret_cast<const char*>(data), size)}};
  auto loaded = strata::objects::ParseObjects(sources);
  if (!loaded) {
    CHECK(loaded.error().message.starts_with("fuzz.json: "));
    CHECK(loaded.error().message.find('\n') == std::string::npos);
    return 0;
  }
  for (const auto& job : loaded->jobs) {
    std::int64_t pods = 0;
    for (const auto& task : job.tasks) pods += task.replicas;
    if (pods > 10'000) return 0;  // it works, and takes its time
  }
  const strata::Status expanded = strata::objects::ExpandJobs(*loaded);
  const strata::Status grouped =
      strata::objects::AddDefaultPodGroups(*loaded, [](const Pod& /*pod*/) { return true; });
  CHECK(expanded);
  CHECK(grouped || grouped.error().message.find("highest-tier") != std::string::npos);
  return 0;
}
