// Any volcano-scheduler.conf gives one line that names the file, or a configuration that a
// scheduler can be made from and that runs a cycle.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "convert/scheduler_conf.h"
#include "sched/scheduler.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto conf = strata::ParseSchedulerConf({.name = "fuzz.conf", .text = text});
  if (!conf) {
    CHECK(conf.error().message.starts_with("fuzz.conf: "));
    CHECK(conf.error().message.find('\n') == std::string::npos);
    return 0;
  }
  strata::ClusterState state;
  const auto made = strata::Scheduler::Make(conf->config, state);
  CHECK(made.has_value());
  made->scheduler->Open(strata::Time{}, nullptr);
  made->scheduler->RunActions();
  CHECK(made->scheduler->Close().binds.empty());
  return 0;
}
