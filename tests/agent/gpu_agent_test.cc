// All of `strata-agent run`, from the links of a machine to the environment of a container: a
// driver and a kubelet of our own, and our API server.
#include "device_plugin/gpu_agent.h"

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "convert/gpu_annotations.h"
#include "convert/gpu_request.h"
#include "json/access.h"
#include "json/dump.h"
#include "json/parse.h"
#include "model/gpu_machines.h"
#include "objects/load.h"
#include "sched/devices/gpu_fit.h"
#include "tests/agent/fake_kubelet.h"
#include "tests/support/api_cluster.h"

namespace strata::testing {
namespace {

using Json = nlohmann::json;

constexpr const char* kNodeName = "gpu-node";

class GpuAgentTest : public ::testing::TestWithParam<std::string> {
 protected:
  GpuAgentTest() : log_("agent", kube::SystemClock(), {&lines_}), connection_(api_.Connect()) {
    std::string name =
        std::filesystem::is_directory("/dev/shm") ? "/dev/shm/agent.XXXXXX" : "/tmp/agent.XXXXXX";
    folder_ = mkdtemp(name.data());
    std::filesystem::create_directory(folder_ + "/plugins");
    setenv("STRATA_FAKE_NVML", GetParam().c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
    Create(kube::kNodes, "", {{"metadata", {{"name", kNodeName}}}});
    kubelet_ = std::make_unique<FakeKubelet>(
        FakeKubelet::Paths{
            folder_ + "/plugins", folder_ + "/pods-api.sock", folder_ + "/resources.sock"},
        FakeKubelet::Kind::kFrom137,
        1);
    kubelet_->Start();
  }
  ~GpuAgentTest() override {
    worker_.request_stop();
    if (worker_.joinable()) worker_.join();
    kubelet_.reset();
    if (HasFailure()) {
      for (const std::string& line : lines_.Last(30).lines) ADD_FAILURE() << line;
    }
    std::filesystem::remove_all(folder_);
  }

  void StartAgent() {
    device_plugin::GpuAgent::Options options;
    options.node_agent.node = kNodeName;
    options.node_agent.version = "test";
    options.node_agent.gpus.nvml = FAKE_NVML;
    options.plugin.node = kNodeName;
    options.plugin.registrar.folder = folder_ + "/plugins";
    options.plugin.registrar.times.min_backoff = Duration(5);
    options.plugin.registrar.times.max_backoff = Duration(50);
    options.plugin.pods_api_socket = folder_ + "/pods-api.sock";
    options.plugin.pod_resources_socket = folder_ + "/resources.sock";
    options.plugin.journal = folder_ + "/journal";
    options.plugin.reconcile_every = std::chrono::hours(1);
    agent_ = std::make_unique<device_plugin::GpuAgent>(
        client(), std::move(options), log_, kube::SystemClock());
    worker_ = std::jthread([this](const std::stop_token& stop) { ended_ = agent_->Run(stop); });
  }

  kube::Client& client() { return connection_->client(); }
  void Create(const kube::Resource& resource, const std::string& ns, const Json& object) {
    const kube::Reply made =
        client().Do(kube::CreateCall({resource, ns, "", ""}, DumpJson(object)));
    ASSERT_TRUE(made) << made.error().error.message;
  }
  Json Get(const kube::Resource& resource, const std::string& ns, const std::string& name) {
    const kube::Reply got = client().Do(kube::GetCall({resource, ns, name, ""}));
    return got ? ParseJsonOrNull(*got) : Json();
  }
  // The object once it has the annotation; every look at it is an answer of the server.
  Json WaitForAnnotation(const kube::Resource& resource,
                         const std::string& ns,
                         const std::string& name,
                         const std::string& key,
                         const std::string& part) {
    while (true) {
      Json object = Get(resource, ns, name);
      const std::string& value = TextAt(object, {"metadata", "annotations", key});
      if (value.find(part) != std::string::npos) return object;
    }
  }

  ApiCluster api_;
  obs::RecentLines lines_{1U << 20U};
  obs::Log log_;
  std::unique_ptr<kube::Connection> connection_;
  std::string folder_;
  std::unique_ptr<FakeKubelet> kubelet_;
  std::unique_ptr<device_plugin::GpuAgent> agent_;
  Status ended_;
  std::jthread worker_;
};

Labels AnnotationsOf(const Json& object) {
  Labels labels;
  for (const auto& [key, value] : ObjectAt(object, {"metadata", "annotations"}).items()) {
    labels[key] = value.get<std::string>();
  }
  return labels;
}

Json PodOf(int gpus) {
  return Json{{"apiVersion", "v1"},
              {"kind", "Pod"},
              {"metadata",
               {{"name", "train"},
                {"namespace", "default"},
                {"annotations", {{"hami.io/gpu-scheduler-policy", "topology-aware"}}}}},
              {"spec",
               {{"schedulerName", "volcano"},
                {"containers",
                 Json::array({{{"name", "main"},
                               {"image", "i"},
                               {"resources",
                                {{"limits", {{"nvidia.com/gpu", std::to_string(gpus)}}}}}}})}}}};
}

TEST_P(GpuAgentTest, GivesAContainerTheGpusThatTheSchedulerChoseByTheirLinks) {
  StartAgent();
  const GpuMachine& machine = *FindGpuMachine(GetParam());
  ASSERT_TRUE(kubelet_->WaitForHealthy(machine.numa.size()));
  // What the Node says is what the scheduler reads.
  const Json node =
      WaitForAnnotation(kube::kNodes, "", kNodeName, "strata.sh/agent", R"("identity":"pods-api")");
  const auto registered = ReadNodeGpus(AnnotationsOf(node));
  ASSERT_TRUE(registered.has_value());
  ASSERT_EQ(registered->node.gpus.size(), machine.numa.size());

  // The decision, and its record, with the bind.
  const int count = static_cast<int>(machine.numa.size()) / 2;
  Json pod = PodOf(count);
  const std::vector<objects::Source> sources = {{"pod", DumpJson(pod)}};
  const auto parsed = objects::ParseObjects(sources);
  ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
  const auto request = ReadGpuRequest(parsed->pods.at(0), nullptr);
  ASSERT_TRUE(request.has_value());
  const std::vector<GpuUsage> unused(registered->node.gpus.size());
  const GpuFit fit = FitGpus(*request, registered->node, unused);
  ASSERT_TRUE(fit.claim.has_value()) << fit.reason;
  for (const auto& [key, value] : WriteGpuClaim(*fit.claim, kNodeName)) {
    pod["metadata"]["annotations"][key] = value;
  }
  pod["metadata"]["annotations"]["hami.io/bind-phase"] = "allocating";
  pod["spec"]["nodeName"] = kNodeName;
  Create(kube::kPods, "default", pod);
  const Json bound = Get(kube::kPods, "default", "train");

  // The kubelet admits it.
  const auto known =
      agent::ReadPodList(DumpJson({{"items", Json::array({bound})}}), "nvidia.com/gpu");
  ASSERT_TRUE(known.has_value());
  ASSERT_EQ(known->size(), 1U);
  const FakeKubelet::Outcome outcome = kubelet_->Admit(known->front());
  ASSERT_EQ(outcome.end, FakeKubelet::Outcome::End::kAdmitted) << outcome.error;
  std::set<std::string> chosen;
  for (const GpuShare& share : fit.claim->containers.at(0)) chosen.insert(share.uuid);
  ASSERT_EQ(chosen.size(), static_cast<std::size_t>(count));
  std::set<std::string> visible;
  const std::string& devices =
      outcome.containers.at("main").environment.at("NVIDIA_VISIBLE_DEVICES");
  for (const std::string_view uuid : Split(devices, ',')) visible.insert(std::string(uuid));
  EXPECT_EQ(visible, chosen);

  // The scheduler hears of it.
  WaitForAnnotation(kube::kPods, "default", "train", "hami.io/bind-phase", "success");
  EXPECT_TRUE(agent_->IsReady());
  EXPECT_THAT(agent_->Metrics(),
              ::testing::HasSubstr("strata_agent_allocations_total{result=\"served\"} 1"));
}

std::vector<std::string> MachineNames() {
  std::vector<std::string> names;
  for (const GpuMachine& machine : GpuMachines()) names.push_back(machine.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Machines, GpuAgentTest, ::testing::ValuesIn(MachineNames()));

}  // namespace
}  // namespace strata::testing
