// All of `strata-agent run`, from the links of a machine to the environment of a container: a
// driver and a kubelet of our own, and our API server.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "convert/gpu_annotations.h"
#include "convert/gpu_request.h"
#include "json/dump.h"
#include "model/gpu_machines.h"
#include "objects/load.h"
#include "sched/devices/gpu_fit.h"
#include "tests/agent/gpu_agent_setup.h"

namespace strata::testing {
namespace {

using Json = nlohmann::json;

class GpuAgentTest : public GpuAgentSetup, public ::testing::WithParamInterface<std::string> {
 protected:
  GpuAgentTest() : GpuAgentSetup(GetParam(), PodsApi::kYes) {}
};
class GpuAgentDuty : public GpuAgentTest {};

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

// No other set of so many GPUs has a higher sum in the link matrix of the machine itself: neither
// the driver nor what was published is asked.
void ExpectBestLinks(const GpuMachine& machine, const std::vector<GpuShare>& shares) {
  const NodeGpus fixture = MakeNodeGpus(machine, "fake");
  const PairScores scores = machine.links.Scores();
  const auto sum_of = [&](std::uint32_t set) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < fixture.gpus.size(); ++i) {
      for (std::size_t j = i + 1; j < fixture.gpus.size(); ++j) {
        if ((set >> i & 1U) != 0 && (set >> j & 1U) != 0) sum += scores.Get(i, j);
      }
    }
    return sum;
  };
  std::uint32_t chosen = 0;
  for (const GpuShare& share : shares) chosen |= 1U << *fixture.Find(share.uuid);
  std::int64_t best = 0;
  for (std::uint32_t set = 0; set < 1U << fixture.gpus.size(); ++set) {
    if (std::popcount(set) == std::popcount(chosen)) best = std::max(best, sum_of(set));
  }
  EXPECT_EQ(sum_of(chosen), best);
}

TEST_P(GpuAgentTest, GivesAContainerTheGpusThatTheSchedulerChoseByTheirLinks) {
  StartAgent(client());
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
  ExpectBestLinks(machine, fit.claim->containers.at(0));
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

TEST_P(GpuAgentDuty, LeavesContainersToClaimsWhereNvidiasDraDriverPublishesTheGpus) {
  constexpr kube::Resource kSlices{
      "resource.k8s.io", "v1", "resourceslices", "ResourceSlice", kube::Resource::Scope::kCluster};
  DefineResourceSlices();
  const auto slice = [](const std::string& node) {
    return Json{{"apiVersion", "resource.k8s.io/v1"},
                {"kind", "ResourceSlice"},
                {"metadata", {{"name", node + "-gpu.nvidia.com"}}},
                {"spec", {{"driver", "gpu.nvidia.com"}, {"nodeName", node}}}};
  };
  Create(kSlices, "", slice("another-node"));
  StartAgent(client());
  const std::size_t gpus = FindGpuMachine(GetParam())->numa.size();
  ASSERT_TRUE(kubelet_->WaitForHealthy(gpus));
  // The driver comes: what it hands out we do not.
  Create(kSlices, "", slice(kNodeName));
  ASSERT_TRUE(kubelet_->WaitForHealthy(0));
  WaitForAnnotation(kube::kNodes, "", kNodeName, "strata.sh/agent", R"("identity":"none")");
  WaitForReady();
  // It goes.
  ASSERT_TRUE(client().Do(kube::DeleteCall(
      {kSlices, "", std::string(kNodeName) + "-gpu.nvidia.com", ""}, kube::DeleteOptions{})));
  ASSERT_TRUE(kubelet_->WaitForHealthy(gpus));
  WaitForAnnotation(kube::kNodes, "", kNodeName, "strata.sh/agent", R"("identity":"pods-api")");
}

std::vector<std::string> MachineNames() {
  std::vector<std::string> names;
  for (const GpuMachine& machine : GpuMachines()) names.push_back(machine.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Machines, GpuAgentTest, ::testing::ValuesIn(MachineNames()));
INSTANTIATE_TEST_SUITE_P(OneMachine, GpuAgentDuty, ::testing::Values("dgx1v"));

}  // namespace
}  // namespace strata::testing
