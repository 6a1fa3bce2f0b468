// Every call that the schedulers and the controllers make meets every fault once, with a leader
// that stays and with one that is killed: the cluster ends up as without any fault.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/access.h"
#include "tests/histories/call_table.h"
#include "tests/histories/paths.h"

namespace strata::histories {
namespace {

using nlohmann::json;
using std::chrono::seconds;

constexpr const char* kGpuNode = "/api/v1/nodes/gpus";
constexpr const char* kQueue = "/apis/scheduling.volcano.sh/v1beta1/queues/default";

// A Job, a gang of plain pods, a gang with GPUs on a node of HAMi's agent, a pod alone, and some
// that fit nowhere.
class StartingCluster final : public CalledCluster {
 public:
  explicit StartingCluster(std::vector<CallCase> cases) : CalledCluster(std::move(cases)) {
    for (const char* node : {"node-0", "node-1"}) AddNode(node, {{"cpu", "4"}, {"pods", "110"}});
    AddGpuNode();
    After(seconds(5), [this] { CreateAll(); });
  }

 private:
  [[nodiscard]] Duration QuietTime() const override { return seconds(60); }
  void AddGpuNode() {
    const json gpu = {{"count", 10}, {"devmem", 81920}, {"devcore", 100}, {"health", true}};
    json gpus = json::array({gpu, gpu});
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      gpus[i]["id"] = fmt::format("GPU-{}", i);
      gpus[i]["index"] = i;
    }
    AddNode("gpus",
            {{"cpu", "0"}, {"pods", "110"}, {"nvidia.com/gpu", "20"}},
            {{"hami.io/node-nvidia-register", gpus.dump()}});
  }
  void CreateAll() {
    CreateJob("job", 2, 2);
    CreateJob("big", 3, 4);
    CreateGang("gang", 2, PodOf(1));
    CreateGang("wide", 3, PodOf(4));
    json with_gpu = PodOf(0);
    with_gpu["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = "1";
    CreateGang("gpus", 2, with_gpu);
    json lone = PodOf(1);
    lone["metadata"]["name"] = "lone";
    Create(kPods, lone);
  }

  // What HAMi's agent does for a pod: it serves the one that the lock names.
  bool Serve(const json& pod) {
    const std::string& name = TextAt(pod, {"metadata", "name"});
    const std::string& phase = TextAt(pod, {"metadata", "annotations", "hami.io/bind-phase"});
    if (phase != "allocating") return true;
    const json node = server().Get(kGpuNode);
    const std::string& lock = TextAt(node, {"metadata", "annotations", "hami.io/mutex.lock"});
    if (!lock.ends_with(",default," + name)) return false;
    json served;
    served["metadata"]["annotations"]["hami.io/bind-phase"] = "success";
    server().Ask("PATCH", fmt::format("{}/{}", kPods, name), served);
    json released;
    released["metadata"]["annotations"]["hami.io/mutex.lock"] = nullptr;
    server().Ask("PATCH", kGpuNode, released);
    return true;
  }

  std::string State() override {
    std::string text;
    const json pods = server().Get(kPods);
    for (const json& pod : ListAt(pods, {"items"})) {
      const std::string& name = TextAt(pod, {"metadata", "name"});
      const std::string& phase = TextAt(pod, {"status", "phase"});
      const bool bound = !TextAt(pod, {"spec", "nodeName"}).empty();
      text += fmt::format("pod {} {} {}\n", name, phase, bound ? "bound" : "waits");
      if (bound && phase != "Running" && Serve(pod)) SetRunning(name);
    }
    text += StateOfGroups() + StateOfJobs();
    const json node = server().Get(kGpuNode);
    text += fmt::format("lock \"{}\"\n",
                        TextAt(node, {"metadata", "annotations", "hami.io/mutex.lock"}));
    const json queue = server().Get(kQueue);
    return text + fmt::format("queue {} allocated {} running {}\n",
                              TextAt(queue, {"status", "state"}),
                              TextAt(queue, {"status", "allocated", "cpu"}),
                              IntegerAt(queue, {"status", "running"}));
  }
};

TEST(Calls, EndInTheSameStateWhateverHappensToOneOfThem) {
  CallTable table([](auto cases) { return std::make_unique<StartingCluster>(std::move(cases)); });
  ASSERT_NE(table.wanted().find("job job Running 2"), std::string::npos) << table.wanted();
  ASSERT_NE(table.wanted().find("pod gpus-1 Running"), std::string::npos) << table.wanted();
  ASSERT_NE(table.wanted().find("lock \"\""), std::string::npos) << table.wanted();
  table.RunAll();
}

TEST(Takeover, ControllersDeleteNoPodsBecauseTheirWatchIsBehind) {
  StartingCluster cluster({});
  cluster.Run(std::nullopt);
  const json lease = cluster.server().Get(fmt::format("{}/vc-controller-manager", kLeases));
  const bool first = TextAt(lease, {"spec", "holderIdentity"}).starts_with("controllers-0");
  cluster.process(first ? "controllers-1" : "controllers-0").SilencePods();
  for (const char* pod : {"job-w-0", "job-w-1"}) {
    cluster.server().Ask(
        "PATCH", fmt::format("{}/{}/status", kPods, pod), {{"status", {{"phase", "Succeeded"}}}});
  }
  cluster.RunFor(seconds(20));
  const std::string job = fmt::format("{}/job", kJobs);
  ASSERT_EQ(TextAt(cluster.server().Get(job)["status"], {"state", "phase"}), "Completed");
  cluster.process(first ? "controllers-0" : "controllers-1").Kill();
  cluster.RunFor(seconds(60));
  for (const char* pod : {"job-w-0", "job-w-1"}) {
    EXPECT_FALSE(cluster.server().Get(fmt::format("{}/{}", kPods, pod)).is_null()) << pod;
  }
}

}  // namespace
}  // namespace strata::histories
