#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admission/test_rules.h"

namespace strata::admission {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Admission Pods() {
  return {"", "Pod", "pods"};
}

// A pod with one container, whose other fields are `container`, and more fields of the spec.
json PodWith(const std::string& container, const std::string& spec = "") {
  return J("{'metadata': {'name': 'a', 'namespace': 'default'}, 'spec': {" + spec +
           "'containers': [{'name': 'c', 'image': 'nginx:1'" + container + "}]}}");
}

TEST(AdmitPod, NewPodGetsTheDefaultsOfARealServer) {
  Admission pods = Pods();
  const json pod = pods.Created(PodWith(""));
  EXPECT_EQ(pod["status"], J("{'phase': 'Pending', 'qosClass': 'BestEffort'}"));
  EXPECT_EQ(pod["spec"]["priority"], 0);
  EXPECT_EQ(pod["spec"]["preemptionPolicy"], "PreemptLowerPriority");
  EXPECT_EQ(pod["spec"]["serviceAccountName"], "default");
  EXPECT_EQ(pod["spec"]["serviceAccount"], "default");
  EXPECT_EQ(pod["spec"]["tolerations"],
            J("[{'key': 'node.kubernetes.io/not-ready', 'operator': 'Exists',"
              " 'effect': 'NoExecute', 'tolerationSeconds': 300},"
              " {'key': 'node.kubernetes.io/unreachable', 'operator': 'Exists',"
              " 'effect': 'NoExecute', 'tolerationSeconds': 300}]"));
}

TEST(AdmitPod, KeepsTolerationsThatCoverTheDefaultOnes) {
  const json all = Pods().Created(PodWith("", "'tolerations': [{'operator': 'Exists'}],"));
  EXPECT_EQ(all["spec"]["tolerations"].size(), 1U);
  const json one = Pods().Created(PodWith(
      "", "'tolerations': [{'key': 'node.kubernetes.io/not-ready', 'operator': 'Exists'}],"));
  EXPECT_EQ(one["spec"]["tolerations"].size(), 2U);
}

TEST(AdmitPod, DropsTheStatusOfTheClient) {
  json pod = PodWith("");
  pod["status"] = {{"phase", "Running"}, {"podIP", "1.2.3.4"}};
  EXPECT_EQ(Pods().Created(pod)["status"], J("{'phase': 'Pending', 'qosClass': 'BestEffort'}"));
}

TEST(AdmitPod, PullsImagesWhoseTagMayHaveMoved) {
  const auto policy = [](const std::string& image) {
    json pod = PodWith("");
    pod["spec"]["containers"][0]["image"] = image;
    return Pods().Created(pod)["spec"]["containers"][0]["imagePullPolicy"].get<std::string>();
  };
  EXPECT_EQ(policy("nginx"), "Always");
  EXPECT_EQ(policy("nginx:latest"), "Always");
  EXPECT_EQ(policy("nginx:1.25"), "IfNotPresent");
  EXPECT_EQ(policy("localhost:5000/nginx"), "Always");
  EXPECT_EQ(policy("localhost:5000/nginx:1"), "IfNotPresent");
  EXPECT_EQ(policy("nginx@sha256:abc"), "IfNotPresent");
}

TEST(AdmitPod, RequestsDefaultToLimitsPerResource) {
  const json pod =
      Pods().Created(PodWith(", 'resources': {'requests': {'cpu': '1'},"
                             " 'limits': {'cpu': '2', 'nvidia.com/gpu': '8'}}"));
  EXPECT_EQ(pod["spec"]["containers"][0]["resources"]["requests"],
            J("{'cpu': '1', 'nvidia.com/gpu': '8'}"));
  EXPECT_EQ(pod["status"]["qosClass"], "Burstable");
}

TEST(AdmitPod, ComputesTheQosClass) {
  const auto qos = [](const std::string& resources) {
    return Pods().Created(PodWith(resources))["status"]["qosClass"].get<std::string>();
  };
  EXPECT_EQ(qos(", 'resources': {'limits': {'cpu': '1', 'memory': '1Gi'}}"), "Guaranteed");
  EXPECT_EQ(qos(", 'resources': {'limits': {'cpu': '1', 'memory': '1Gi'},"
                " 'requests': {'cpu': '1000m', 'memory': '1024Mi'}}"),
            "Guaranteed");
  EXPECT_EQ(qos(", 'resources': {'limits': {'cpu': '1'}}"), "Burstable");
  EXPECT_EQ(qos(", 'resources': {'limits': {'nvidia.com/gpu': '1'}}"), "BestEffort");
}

TEST(AdmitPod, ChecksResources) {
  const auto error = [](const std::string& resources) {
    return Pods().CreateError(PodWith(", 'resources': " + resources));
  };
  const std::string at = "422 Pod \"a\" is invalid: spec.containers[0].resources";
  EXPECT_EQ(error("{'requests': {'nvidia.com/gpu': '1'}}"),
            at + ".limits: Required value: Limit must be set for non overcommitable resources");
  EXPECT_EQ(error("{'requests': {'nvidia.com/gpu': '1'}, 'limits': {'nvidia.com/gpu': '2'}}"),
            at + ".requests: Invalid value: \"1\": must be equal to nvidia.com/gpu limit of 2");
  EXPECT_EQ(error("{'requests': {'cpu': '2'}, 'limits': {'cpu': '1'}}"),
            at + ".requests: Invalid value: \"2\": must be less than or equal to cpu limit of 1");
  EXPECT_THAT(error("{'limits': {'nvidia.com/gpu': '500m'}}"),
              HasSubstr(".limits[nvidia.com/gpu]: Invalid value: \"500m\": must be an integer"));
  EXPECT_THAT(error("{'limits': {'cpu': '-1'}}"),
              HasSubstr("limits[cpu]: Invalid value: \"-1\": must be greater than or equal to 0"));
  EXPECT_THAT(error("{'limits': {'bogus': '1'}}"),
              HasSubstr("\"bogus\": must be a standard resource for containers"));
}

TEST(AdmitPod, TakesItsPriorityFromItsClass) {
  Admission pods = Pods();
  pods.store().Hold("priorityclasses.scheduling.k8s.io",
                    J("{'metadata': {'name': 'high'}, 'value': 1000,"
                      " 'preemptionPolicy': 'Never'}"));
  const json pod = pods.Created(PodWith("", "'priorityClassName': 'high',"));
  EXPECT_EQ(pod["spec"]["priority"], 1000);
  EXPECT_EQ(pod["spec"]["preemptionPolicy"], "Never");
  EXPECT_EQ(pods.CreateError(PodWith("", "'priorityClassName': 'zz',")),
            "403 pods \"a\" is forbidden: no PriorityClass with name zz was found");
  EXPECT_EQ(pods.CreateError(PodWith("", "'priority': 5,")),
            "403 pods \"a\" is forbidden: the integer value of priority (5) must not be provided "
            "in pod spec; priority admission controller computed 0 from the given PriorityClass "
            "name");
  EXPECT_EQ(
      pods.Created(PodWith("", "'priorityClassName': 'system-node-critical',"))["spec"]["priority"],
      2000001000);
}

TEST(AdmitPod, TheLowestGlobalDefaultCounts) {
  Admission pods = Pods();
  for (const std::string name : {"b", "c"}) {
    pods.store().Hold("priorityclasses.scheduling.k8s.io",
                      J("{'metadata': {'name': '" + name +
                        "'}, 'globalDefault': true, 'value': " + (name == "b" ? "7" : "9") + "}"));
  }
  const json pod = pods.Created(PodWith(""));
  EXPECT_EQ(pod["spec"]["priority"], 7);
  EXPECT_EQ(pod["spec"]["priorityClassName"], "b");
}

TEST(AdmitPod, GatedPodsHaveTheReasonSchedulingGated) {
  const json pod = Pods().Created(PodWith("", "'schedulingGates': [{'name': 'x.io/g'}],"));
  EXPECT_EQ(pod["status"]["conditions"][0]["reason"], "SchedulingGated");
  EXPECT_EQ(pod["status"]["conditions"][0]["lastTransitionTime"], "2023-11-14T22:13:20Z");
}

TEST(AdmitPod, HostNetworkPortsAreHostPorts) {
  const json pod =
      Pods().Created(PodWith(", 'ports': [{'containerPort': 80}]", "'hostNetwork': true,"));
  EXPECT_EQ(pod["spec"]["containers"][0]["ports"][0]["hostPort"], 80);
}

TEST(AdmitPod, HostNetworkPortsMustBeTheContainersOwn) {
  EXPECT_EQ(Pods().CreateError(PodWith(", 'ports': [{'containerPort': 80, 'hostPort': 81}]",
                                       "'hostNetwork': true,")),
            "422 Pod \"a\" is invalid: spec.containers[0].ports[0].containerPort: Invalid value: "
            "80: must match `hostPort` when `hostNetwork` is true");
}

TEST(AdmitPod, AVolumeWithoutSourceIsAnEmptyDir) {
  const json pod = Pods().Created(PodWith("", "'volumes': [{'name': 'v'}],"));
  EXPECT_EQ(pod["spec"]["volumes"], J("[{'name': 'v', 'emptyDir': {}}]"));
}

TEST(AdmitPod, ChecksFields) {
  const auto error = [](const json& pod) {
    const std::string text = Pods().CreateError(pod);
    const std::string prefix = "422 Pod \"a\" is invalid: ";
    return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
  };
  json none = PodWith("");
  none["spec"]["containers"] = json::array();
  EXPECT_EQ(error(none), "spec.containers: Required value");
  json bare = PodWith("");
  bare["spec"]["containers"][0] = json::object();
  EXPECT_EQ(error(bare),
            "[spec.containers[0].name: Required value, spec.containers[0].image: Required value]");
  json twice = PodWith("");
  twice["spec"]["initContainers"] = twice["spec"]["containers"];
  EXPECT_EQ(error(twice), "spec.initContainers[0].name: Duplicate value: \"c\"");
  EXPECT_EQ(error(PodWith("", "'restartPolicy': 'Often',")),
            "spec.restartPolicy: Unsupported value: \"Often\": supported values: \"Always\", "
            "\"OnFailure\", \"Never\"");
  EXPECT_EQ(error(PodWith(", 'ports': [{'containerPort': 70000}]")),
            "spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 "
            "and 65535, inclusive");
  EXPECT_EQ(error(PodWith(", 'volumeMounts': [{'name': 'v', 'mountPath': '/v'}]")),
            "spec.containers[0].volumeMounts[0].name: Not found: \"v\"");
  EXPECT_EQ(error(PodWith(", 'env': [{'value': 'x'}]")),
            "spec.containers[0].env[0].name: Required value");
  EXPECT_EQ(error(PodWith("", "'tolerations': [{'operator': 'Equal'}],")),
            "spec.tolerations[0].operator: Invalid value: \"Equal\": operator must be Exists when "
            "`key` is empty, which means \"match all values and all keys\"");
  EXPECT_EQ(error(PodWith("", "'activeDeadlineSeconds': 0,")),
            "spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, "
            "inclusive");
  EXPECT_THAT(error(PodWith("", "'nodeSelector': {'a b': 'c'},")),
              StartsWith("spec.nodeSelector: Invalid value: \"a b\": name part must consist of"));
}

TEST(AdmitPod, AffinityIsReadByTheSchedulersOwnReaders) {
  const std::string error = Pods().CreateError(
      PodWith("",
              "'affinity': {'podAntiAffinity': {"
              "'requiredDuringSchedulingIgnoredDuringExecution': [{'labelSelector': {}}]}},"));
  EXPECT_EQ(error,
            "422 Pod \"a\" is invalid: spec.affinity.podAntiAffinity."
            "requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Required value");
}

TEST(AdmitPod, ReadsFieldsOfWrongTypesWithoutCrashing) {
  for (const char* spec : {"null",
                           "7",
                           "{'containers': {}}",
                           "{'containers': [1, null, []], 'volumes': ['x'], 'tolerations': 'x'}",
                           "{'containers': [{'resources': 1, 'ports': [1], 'env': 3}]}"}) {
    json pod = J(std::string("{'metadata': {'name': 'a'}, 'spec': ") + spec + "}");
    EXPECT_THAT(Pods().CreateError(pod), StartsWith("422 Pod \"a\" is invalid: ")) << spec;
  }
}

class UpdatePodTest : public ::testing::Test {
 protected:
  Admission pods = Pods();
  json before = pods.Created(PodWith(""));
};

TEST_F(UpdatePodTest, ImageLabelsAndNewTolerationsMayChange) {
  json after = before;
  after["metadata"]["labels"] = {{"a", "b"}};
  after["spec"]["containers"][0]["image"] = "nginx:2";
  after["spec"]["tolerations"].push_back({{"key", "x"}, {"operator", "Exists"}});
  after["spec"]["activeDeadlineSeconds"] = 100;
  EXPECT_EQ(pods.Updated(before, after), after);
}

TEST_F(UpdatePodTest, OtherFieldsOfTheSpecMayNotChange) {
  json after = before;
  after["spec"]["containers"][0]["resources"] = {{"limits", {{"cpu", "1"}}}};
  EXPECT_THAT(pods.UpdateError(before, after),
              StartsWith("422 Pod \"a\" is invalid: spec: Forbidden: pod updates may not change "
                         "fields other than `spec.containers[*].image`,"));
  after = before;
  after["spec"]["containers"].push_back({{"name", "d"}, {"image", "x"}});
  EXPECT_EQ(pods.UpdateError(before, after),
            "422 Pod \"a\" is invalid: spec.containers: Forbidden: pod updates may not add or "
            "remove containers");
  before["spec"]["tolerations"].push_back({{"key", "mine"}, {"operator", "Exists"}});
  after = before;
  after["spec"]["tolerations"].erase(2);
  EXPECT_THAT(pods.UpdateError(before, after),
              HasSubstr("existing toleration can not be modified"));
}

TEST_F(UpdatePodTest, AnUpdateMayOmitTheDefaultsOfCreation) {
  json after = before;
  for (const char* key : {"tolerations", "priority", "preemptionPolicy", "serviceAccountName"}) {
    after["spec"].erase(key);
  }
  EXPECT_EQ(pods.Updated(before, after), before);
}

TEST_F(UpdatePodTest, SchedulingGatesMayOnlyBeRemoved) {
  json gated = pods.Created(PodWith("", "'schedulingGates': [{'name': 'g1'}, {'name': 'g2'}],"));
  json after = gated;
  after["spec"]["schedulingGates"].erase(0);
  after["spec"]["nodeSelector"] = {{"zone", "a"}};
  EXPECT_EQ(pods.Updated(gated, after), after);
  after["spec"]["schedulingGates"].push_back({{"name", "g3"}});
  EXPECT_THAT(pods.UpdateError(gated, after),
              HasSubstr("only deletion is allowed, but found new scheduling gate 'g3'"));
}

TEST_F(UpdatePodTest, TheQosClassIsKept) {
  json after = before;
  after["status"] = {{"phase", "Running"}, {"qosClass", "Guaranteed"}};
  EXPECT_EQ(pods.Updated(before, after, "status")["status"],
            J("{'phase': 'Running', 'qosClass': 'BestEffort'}"));
}

TEST_F(UpdatePodTest, MetadataOfTheServerIsImmutable) {
  before["metadata"]["uid"] = "u1";
  json after = before;
  after["metadata"].erase("uid");
  EXPECT_EQ(pods.Updated(before, after)["metadata"]["uid"], "u1");
  after["metadata"]["uid"] = "u2";
  EXPECT_EQ(pods.UpdateError(before, after),
            "422 Pod \"a\" is invalid: metadata.uid: Invalid value: \"u2\": field is immutable");
  after = before;
  after["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  EXPECT_THAT(pods.UpdateError(before, after), HasSubstr("metadata.deletionTimestamp: Invalid"));
}

}  // namespace
}  // namespace strata::admission
