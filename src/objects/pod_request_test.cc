#include "objects/pod_request.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "objects/test_support.h"

namespace strata::objects {
namespace {

// "cpu=1 memory=2Gi", in name order.
std::string Print(const ResourceList& list) {
  std::string text;
  for (const auto& [name, amount] : list) {
    text += (text.empty() ? "" : " ") + name + "=" + amount.ToString();
  }
  return text;
}

Pod PodWith(const std::string& spec, const std::string& status = "") {
  return MustLoad("{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {" + spec + "}" +
                  (status.empty() ? "" : ", status: {" + status + "}") + "}")
      .pods.at(0);
}

TEST(PodRequest, IsTheSumOfContainersPlusOverhead) {
  EXPECT_EQ(Print(PodRequest(
                PodWith("containers: [{name: a, resources: {requests: {cpu: 500m, memory: 1Gi}}},"
                        " {name: b, resources: {requests: {cpu: 1, nvidia.com/gpu: 2}}}],"
                        " overhead: {cpu: 250m}"))),
            "cpu=1750m memory=1Gi nvidia.com/gpu=2");
}

TEST(PodRequest, RequestsDefaultToLimits) {
  EXPECT_EQ(Print(PodRequest(
                PodWith("containers: [{name: a, resources: {limits: {cpu: 2, nvidia.com/gpu: 8},"
                        " requests: {cpu: 1}}}]"))),
            "cpu=1 nvidia.com/gpu=8");
}

TEST(PodRequest, InitContainersCountWithTheirPeak) {
  EXPECT_EQ(Print(PodRequest(
                PodWith("initContainers: [{name: i, resources: {requests: {cpu: 3}}},"
                        " {name: j, resources: {requests: {memory: 1Gi}}}],"
                        " containers: [{name: a, resources: {requests: {cpu: 1, memory: 2Gi}}}]"))),
            "cpu=3 memory=2Gi");
}

TEST(PodRequest, SidecarsRunBesideLaterInitContainersAndTheContainers) {
  EXPECT_EQ(
      Print(PodRequest(PodWith("initContainers: [{name: early, resources: {requests: {cpu: 4}}},"
                               " {name: s, restartPolicy: Always, resources: {requests: {cpu: 1}}},"
                               " {name: late, resources: {requests: {cpu: 4}}}],"
                               " containers: [{name: a, resources: {requests: {cpu: 2}}}]"))),
      "cpu=5");
}

TEST(PodRequest, RequestsOfThePodWinOverThoseOfItsContainers) {
  EXPECT_EQ(Print(PodRequest(PodWith(
                "resources: {requests: {cpu: 2}, limits: {cpu: 4, memory: 8Gi}},"
                " containers: [{name: a, resources: {requests: {cpu: 500m, nvidia.com/gpu: 1}}}],"
                " overhead: {cpu: 100m}"))),
            "cpu=2100m memory=8Gi nvidia.com/gpu=1");
}

TEST(PodRequest, AResizeCountsTheLargestOfAskedAllocatedAndHeld) {
  const std::string containers = "containers: [{name: a, resources: {requests: {cpu: 2}}}]";
  const std::string held =
      "containerStatuses: [{name: a, allocatedResources: {cpu: 3}, resources: {requests: {cpu: "
      "1}}}]";
  EXPECT_EQ(Print(PodRequest(PodWith(containers, held))), "cpu=3");
  const std::string infeasible =
      held + ", conditions: [{type: PodResizePending, status: 'True', reason: Infeasible}]";
  const std::string wants_more = "containers: [{name: a, resources: {requests: {cpu: 9}}}]";
  EXPECT_EQ(Print(PodRequest(PodWith(wants_more, held))), "cpu=9");
  EXPECT_EQ(Print(PodRequest(PodWith(wants_more, infeasible))), "cpu=3");
}

TEST(NonZeroPodRequest, GivesEachContainerWithoutRequestASmallOne) {
  EXPECT_EQ(Print(NonZeroPodRequest(
                PodWith("containers: [{name: a}, {name: b, resources: {requests: {cpu: 1, "
                        "nvidia.com/gpu: 1}}}]"))),
            "cpu=1100m memory=419430400");
}

}  // namespace
}  // namespace strata::objects
