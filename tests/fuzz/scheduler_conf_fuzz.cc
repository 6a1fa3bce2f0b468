// Any volcano-scheduler.conf gives one line that names the file, or a configuration that a
// scheduler can be made from and that runs a cycle over a few nodes, a gang and a pod.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "convert/scheduler_conf.h"
#include "sched/scheduler.h"
#include "tests/support/cluster_builder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto conf = strata::ParseSchedulerConf({.name = "fuzz.conf", .text = text});
  if (!conf) {
    CHECK(conf.error().message.starts_with("fuzz.conf: "));
    CHECK(conf.error().message.find('\n') == std::string::npos);
    return 0;
  }
  strata::testing::ClusterBuilder cluster;
  cluster.Nodes(4).Leaf("a", 1, {"node0", "node1"}).Leaf("b", 1, {"node2", "node3"});
  cluster.Above("all", 2, {"a", "b"}).Occupy("node0", {.cpu = 2});
  cluster.Job("gang", {.tasks = 2, .topology = strata::testing::Hard(1)}).Job("pod", {.tasks = 1});
  const auto made = strata::Scheduler::Make(conf->config, cluster.state);
  CHECK(made.has_value());
  made->scheduler->Open(strata::Time{}, nullptr);
  made->scheduler->RunActions();
  CHECK(made->scheduler->Close().binds.size() <= 3);
  return 0;
}
