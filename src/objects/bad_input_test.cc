#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "objects/test_support.h"

// Every way in which one object can be wrong gives one line: file, object, field, what was
// expected.
namespace strata::objects {
namespace {

struct Case {
  std::string_view text;   // in the braces of one flow-style object
  std::string_view error;  // after "in.yaml: "
};

void Check(std::string_view before, std::string_view after, const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    std::string text(before);
    text += c.text;
    text += after;
    EXPECT_EQ(LoadError(text), "in.yaml: " + std::string(c.error)) << text;
  }
}

TEST(BadInput, RejectsTextsThatAreNotObjects) {
  EXPECT_EQ(LoadError(""), "in.yaml: is empty (want Kubernetes manifests)");
  EXPECT_EQ(LoadError("# comment\n---\n"), "in.yaml: is empty (want Kubernetes manifests)");
  EXPECT_EQ(LoadError("hello"), "in.yaml: document 1: found string \"hello\", want an object");
  EXPECT_EQ(LoadError("[1]"), "in.yaml: document 1: found a list, want an object");
  EXPECT_EQ(LoadError("a: 1"), "in.yaml: document 1: kind: is required");
  EXPECT_EQ(LoadError("kind: Pod"), "in.yaml: document 1: apiVersion: is required");
  EXPECT_EQ(LoadError("kind: 1"),
            "in.yaml: document 1: kind: found number 1, want a string (put it in quotes)");
  EXPECT_EQ(LoadError("kind: Pod\napiVersion: v1\n---\nkind: Pod\napiVersion: v1\n"),
            "in.yaml: document 1: Pod: metadata.name: is required");
  EXPECT_EQ(LoadError("a: b: c"),
            "in.yaml: line 1, column 5: mapping values are not allowed in this context");
  EXPECT_EQ(LoadError("{\"kind\": \"Pod\",}", "in.json").substr(0, 25),
            "in.json: line 1, column 1");
  EXPECT_EQ(LoadError("{\"apiVersion\":\"v1\",\"kind\":\"PodList\",\"items\":{}}"),
            "in.yaml: document 1: PodList: items: found an object, want a list");
}

TEST(BadInput, RejectsInvalidItemsOfLists) {
  Check("{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Node, metadata: {name: a}}, ",
        "]}",
        {{"{apiVersion: v1, kind: Node}", "document 1: items[1]: Node: metadata.name: is required"},
         {"3", "document 1: items[1]: found number 3, want an object"},
         {"{kind: Node}", "document 1: items[1]: apiVersion: is required"},
         {"null", "document 1: List: items[1]: is required"},
         {"{apiVersion: v1, kind: PodList, items: [{}]}, 3",
          "document 1: items[1].items[0]: Pod: metadata.name: is required"},
         {"{apiVersion: v1, kind: PodList, items: []}, 3",
          "document 1: items[2]: found number 3, want an object"}});
}

TEST(BadInput, RejectsInvalidMetadata) {
  Check(
      "{apiVersion: v1, kind: Node, metadata: {",
      "}}",
      {{"", "document 1: Node: metadata.name: is required"},
       {"name: yes",
        "document 1: Node: metadata.name: found boolean true, want a string (put it in quotes)"},
       {"name: 7",
        "document 1: Node: metadata.name: found number 7, want a string (put it in quotes)"},
       {"name: Big_Name",
        "Node Big_Name: metadata.name: bad name \"Big_Name\" (want at most 253 lower-case letters, "
        "digits, '-' and '.', with a letter or digit at both ends of each part)"},
       {"name: n1, labels: {a: on}",
        "Node n1: metadata.labels.a: found boolean true, want a string (put it in quotes)"},
       {"name: n1, labels: [a]", "Node n1: metadata.labels: found a list, want an object"},
       {"name: n1, labels: {a/b/c: x}",
        "Node n1: metadata.labels: bad label key \"a/b/c\" (want [domain/]name, the name at most "
        "63 "
        "letters, digits, '-', '_' or '.')"},
       {"name: n1, labels: {a: -x}",
        "Node n1: metadata.labels.a: bad label value \"-x\" (want at most 63 letters, digits, '-', "
        "'_' or '.', with a letter or digit at both ends)"},
       {"name: n1, creationTimestamp: today",
        "Node n1: metadata.creationTimestamp: bad time \"today\" (want RFC 3339, such as "
        "2026-08-20T10:00:00Z)"}});
}

TEST(BadInput, RejectsInvalidQuantities) {
  Check(
      "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {capacity: {",
      "}}}",
      {{"cpu: -1",
        "Node n1: status.capacity.cpu: found number -1, want a quantity that is not "
        "negative"},
       {"memory: 16GiB",
        "Node n1: status.capacity.memory: bad quantity \"16GiB\" (want a number with one suffix at "
        "most, such as 2, 0.5, 1500m, 16Gi or 1e3)"},
       {"memory: 16Ei",
        "Node n1: status.capacity.memory: bad quantity \"16Ei\" (want a number within 2^63-1)"},
       {"memory: 99999999999999999999",
        "Node n1: status.capacity.memory: bad quantity \"1e+20\" (want a number within 2^63-1)"},
       {"cpu: 9E",
        "Node n1: status.capacity.cpu: 9E is too large (want a number within 2^63-1 "
        "thousandths)"},
       {"nvidia.com/gpu: 0.5",
        "Node n1: status.capacity[nvidia.com/gpu]: found 500m, want a whole number"},
       {"cpu: true",
        "Node n1: status.capacity.cpu: found boolean true, want a quantity (put it in "
        "quotes)"},
       {"cpu: []", "Node n1: status.capacity.cpu: found a list, want a quantity"}});
}

TEST(BadInput, RejectsInvalidQuantitiesInJson) {
  const auto error = [](const std::string& cpu) {
    return LoadError(
        R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":{"capacity":{"cpu":)" +
            cpu + "}}}",
        "in.json");
  };
  const std::string where = "in.json: Node n1: status.capacity.cpu: ";
  EXPECT_EQ(error("99999999999999999999"),
            where + "bad quantity \"1e+20\" (want a number within 2^63-1)");
  EXPECT_EQ(error("1e400"), where + "bad quantity \"1e400\" (want a number within 2^63-1)");
}

TEST(BadInput, RejectsInvalidNodes) {
  Check("{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {",
        "}}",
        {{"unschedulable: maybe",
          "Node n1: spec.unschedulable: found string \"maybe\", want true or "
          "false"},
         {"taints: [{key: a, effect: Never}]",
          "Node n1: spec.taints[0].effect: unknown value \"Never\" (want NoSchedule, "
          "PreferNoSchedule "
          "or NoExecute)"},
         {"taints: [{key: a, effect: NoExecute}, {key: a, effect: NoExecute}]",
          "Node n1: spec.taints[1]: duplicate taint (same key and effect)"}});
}

TEST(BadInput, RejectsInvalidPods) {
  Check(
      "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c}], ",
      "}}",
      {{"priority: high",
        "Pod default/p: spec.priority: found string \"high\", want a 32-bit "
        "integer"},
       {"tolerations: [{operator: Equal}]",
        "Pod default/p: spec.tolerations[0].operator: a toleration without key wants operator "
        "Exists"},
       {"tolerations: [{key: a, operator: In}]",
        "Pod default/p: spec.tolerations[0].operator: unknown value \"In\" (want Equal or Exists)"},
       {"affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
        "{nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In}]}]}}}",
        "Pod default/p: "
        "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
        "nodeSelectorTerms[0].matchExpressions[0].values: operator In or NotIn wants at least one "
        "value"},
       {"affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 0}]}}",
        "Pod default/p: "
        "spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]"
        ".weight: found number 0, want an integer from 1 to 100"},
       {"topologySpreadConstraints: [{maxSkew: 0}]",
        "Pod default/p: spec.topologySpreadConstraints[0].maxSkew: found number 0, want an integer "
        "of at least 1"},
       {"initContainers: [{name: i}, {name: c}]",
        "Pod default/p: spec.containers[0].name: \"c\" is the name of another container"},
       {"volumes: [{name: v, persistentVolumeClaim: {}}]",
        "Pod default/p: spec.volumes[0].persistentVolumeClaim.claimName: is required"}});
  Check("{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, ",
        "}]}}",
        {{"ports: [{containerPort: 70000}]",
          "Pod default/p: spec.containers[0].ports[0].containerPort: found number 70000, want an "
          "integer from 1 to 65535"},
         {"resources: {requests: {gpu: 1}}",
          "Pod default/p: spec.containers[0].resources.requests.gpu: unknown resource (want cpu, "
          "memory, ephemeral-storage, hugepages-<size> or a name with a domain such as "
          "nvidia.com/gpu)"},
         {"resources: {requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 2}}",
          "Pod default/p: spec.containers[0].resources.requests[nvidia.com/gpu]: 1 must equal the "
          "limit 2"}});
  EXPECT_EQ(LoadError("{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: "
                      "c}, {name: c}]}}"),
            "in.yaml: Pod default/p: spec.containers[1].name: \"c\" is the name of another "
            "container");
  EXPECT_EQ(LoadError("{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: []}}"),
            "in.yaml: Pod default/p: spec.containers: want at least one container");
}

TEST(BadInput, RejectsInvalidPodGroups) {
  Check(
      "{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: g}, spec: {",
      "}}",
      {{"minMember: -1",
        "PodGroup default/g: spec.minMember: found number -1, want an integer of "
        "at least 0"},
       {"minMember: 1.5",
        "PodGroup default/g: spec.minMember: found number 1.5, want an integer "
        "from 0 to 2147483647"},
       {"queue: A",
        "PodGroup default/g: spec.queue: bad name \"A\" (want at most 253 lower-case "
        "letters, digits, '-' and '.', with a letter or digit at both ends of each "
        "part)"},
       {"networkTopology: {mode: medium}",
        "PodGroup default/g: spec.networkTopology.mode: unknown value \"medium\" (want hard or "
        "soft)"},
       {"networkTopology: {highestTierAllowed: 1, highestTierName: rack}",
        "PodGroup default/g: spec.networkTopology: must not specify 'highestTierAllowed' and "
        "'highestTierName' in networkTopology simultaneously (want one of them)"},
       {"networkTopology: {highestTierAllowed: -1}",
        "PodGroup default/g: spec.networkTopology.highestTierAllowed: found number -1, want an "
        "integer of at least 0"},
       {"subGroupPolicy: [{subGroupSize: 0}]",
        "PodGroup default/g: spec.subGroupPolicy[0].subGroupSize: found number 0, want an integer "
        "of at least 1"},
       {"minResources: {cpu: x}",
        "PodGroup default/g: spec.minResources.cpu: bad quantity \"x\" (want a number with one "
        "suffix at most, such as 2, 0.5, 1500m, 16Gi or 1e3)"}});
}

TEST(BadInput, RejectsInvalidLimitsOfNodeGroups) {
  const auto error = [](const std::string& limits) {
    return LoadError(
        "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: q, annotations: "
        "{volcano.sh/nodegroup-resource-limits: '" +
        limits + "'}}}");
  };
  const std::string where =
      "in.yaml: Queue q: metadata.annotations[volcano.sh/nodegroup-resource-limits]: ";
  EXPECT_THAT(error("{"), testing::StartsWith(where + "line 1, column"));
  EXPECT_EQ(error("[]"), where + "found a list, want an object");
  EXPECT_EQ(error("{\"fast\": 3}"), where + "fast: found number 3, want an object");
  EXPECT_THAT(error("{\"fast\": {\"cpu\": \"much\"}}"), testing::StartsWith(where + "fast.cpu: "));
  EXPECT_THAT(error("{\"fast\": null}"), testing::StartsWith(where + "fast: "));
  EXPECT_THAT(error("{\"fast\": {\"cpu\": null}}"), testing::StartsWith(where + "fast.cpu: "));
  EXPECT_EQ(error("{\"fast\": {\"cpu\": \"2\"}}"), "no error");
}

TEST(BadInput, RejectsInvalidQueues) {
  Check("{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: q}, spec: {",
        "}}",
        {{"weight: -1", "Queue q: spec.weight: found number -1, want an integer from 0 to 65535"},
         {"weight: 65536",
          "Queue q: spec.weight: found number 65536, want an integer from 0 to 65535"},
         {"capability: {cpu: 1}, deserved: {cpu: 2}",
          "Queue q: spec.deserved.cpu: deserved[cpu]=2 must be <= capability[cpu]=1"},
         {"deserved: {cpu: 1}, guarantee: {resource: {cpu: 2}}",
          "Queue q: spec.guarantee.resource.cpu: deserved[cpu]=1 must be >= guarantee[cpu]=2"},
         {"reclaimable: \"yes\"",
          "Queue q: spec.reclaimable: found string \"yes\", want true or false"},
         {"}, status: {state: Ajar",
          "Queue q: status.state: unknown value \"Ajar\" (want Open, Closed, Closing or "
          "Unknown)"}});
}

TEST(BadInput, RejectsInvalidHyperNodes) {
  Check(
      "{apiVersion: topology.volcano.sh/v1alpha1, kind: HyperNode, metadata: {name: s}, spec: {",
      "}}",
      {{"members: [{type: Node}]", "HyperNode s: spec.tier: is required"},
       {"tier: -1",
        "HyperNode s: spec.tier: found number -1, want an integer from 0 to 2147483646"},
       {"tier: 2147483647, members: [{type: Node}]",
        "HyperNode s: spec.tier: found number 2147483647, want an integer from 0 to 2147483646"},
       {"tier: 1", "HyperNode s: spec.members: member must have at least one member"},
       {"tier: 1, members: [{type: Rack}]",
        "HyperNode s: spec.members[0].type: unknown value \"Rack\" (want Node or HyperNode)"},
       {"tier: 1, members: [{type: Node, selector: {}}]",
        "HyperNode s: spec.members[0].selector: found 0 selectors, want exactly one of exactMatch, "
        "regexMatch and labelMatch"},
       {"tier: 1, members: [{type: Node, selector: {exactMatch: {name: a}, regexMatch: {pattern: "
        "b}}}]",
        "HyperNode s: spec.members[0].selector: found 2 selectors, want exactly one of exactMatch, "
        "regexMatch and labelMatch"},
       {"tier: 1, members: [{type: Node, selector: {exactMatch: {name: \"a b\"}}}]",
        "HyperNode s: spec.members[0].selector.exactMatch.name: bad name \"a b\" (want at most 253 "
        "lower-case letters, digits, '-' and '.', with a letter or digit at both ends of each "
        "part)"},
       {"tier: 1, members: [{type: Node, selector: {labelMatch: {matchExpressions: [{key: a, "
        "operator: Exists, values: [b]}]}}}]",
        "HyperNode s: spec.members[0].selector.labelMatch.matchExpressions[0].values: operator "
        "Exists or DoesNotExist wants no value"}});
  EXPECT_THAT(
      LoadError("{apiVersion: topology.volcano.sh/v1alpha1, kind: HyperNode, metadata: {name: "
                "s}, spec: {tier: 1, members: [{type: Node, selector: {regexMatch: {pattern: "
                "\"node-[\"}}}]}}"),
      ::testing::StartsWith("in.yaml: HyperNode s: spec.members[0].selector.regexMatch.pattern: "));
}

TEST(BadInput, RejectsInvalidJobs) {
  Check(
      "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j}, spec: {",
      "tasks: [{name: a, replicas: 2, template: {spec: {containers: [{name: c}]}}}]}}",
      {{"minAvailable: 3,",
        "Job default/j: spec.minAvailable: job 'minAvailable' should not be greater than total "
        "replicas: 3 and 2"},
       {"minAvailable: -1,",
        "Job default/j: spec.minAvailable: found number -1, want an integer of "
        "at least 0"},
       {"maxRetry: -1,",
        "Job default/j: spec.maxRetry: found number -1, want an integer of at least 0"},
       {"plugins: {gpu: []},",
        "Job default/j: spec.plugins: unable to find job plugin: gpu (want env, svc, ssh, pytorch, "
        "mpi, "
        "tensorflow, ray or hcclrank)"},
       {"policies: [{event: PodFailed}],", "Job default/j: spec.policies[0].action: is required"},
       {"policies: [{action: RestartJob}],",
        "Job default/j: spec.policies[0]: either event and exitCode should be specified (want one "
        "of them)"},
       {"policies: [{action: RestartJob, event: PodFailed, exitCode: 3}],",
        "Job default/j: spec.policies[0]: must not specify event and exitCode simultaneously "
        "(want one of them)"},
       {"policies: [{action: RestartJob, exitCode: 0}],",
        "Job default/j: spec.policies[0].exitCode: 0 is not a valid error code (want that of a "
        "failure)"},
       {"policies: [{action: RestartJob, event: \"*\"}, {action: AbortJob, event: PodFailed}],",
        "Job default/j: spec.policies: if there's * here, no other policy should be here: event * "
        "includes all events"},
       {"policies: [{action: Sleep, event: PodFailed}],",
        "Job default/j: spec.policies[0].action: invalid policy action: Sleep (want AbortJob, "
        "RestartJob, "
        "RestartTask, RestartPod, RestartPartition, TerminateJob, CompleteJob or ResumeJob)"},
       {"networkTopology: {mode: medium},",
        "Job default/j: spec.networkTopology.mode: unknown value \"medium\" (want hard or soft)"},
       {"volumes: [{mountPath: /a}],",
        "Job default/j: spec.volumes[0]: either VolumeClaim or VolumeClaimName must be specified"},
       {"volumes: [{mountPath: /a, volumeClaimName: x}, {mountPath: /a, volumeClaimName: y}],",
        "Job default/j: spec.volumes[1].mountPath: duplicated mountPath: /a"}});
}

TEST(BadInput, RejectsInvalidTasksOfJobs) {
  constexpr std::string_view kTemplate = "template: {spec: {containers: [{name: c}]}}";
  const auto job = [&](const std::string& tasks) {
    std::string text = tasks;
    for (std::size_t at = text.find("TEMPLATE"); at != std::string::npos;
         at = text.find("TEMPLATE")) {
      text.replace(at, 8, kTemplate);
    }
    return "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j}, spec: "
           "{tasks: " +
           text + "}}";
  };
  const std::vector<Case> cases = {
      {"[]", "spec.tasks: No task specified in job spec (want at least one)"},
      {"[{name: A, TEMPLATE}]",
       "spec.tasks[0].name: bad name \"A\" (want at most 63 lower-case letters, digits and '-', "
       "with "
       "a letter or digit at both ends)"},
      {"[{name: a, TEMPLATE}, {name: a, TEMPLATE}]", "spec.tasks: duplicated task name \"a\""},
      {"[{name: a, replicas: 1}]", "spec.tasks[0].template: is required"},
      {"[{name: a, replicas: 1, template: {}}]", "spec.tasks[0].template.spec: is required"},
      {"[{name: a, replicas: 1, minAvailable: 2, TEMPLATE}]",
       "spec.tasks[0].minAvailable: 'minAvailable' is greater than 'replicas' in task a: 2 and 1"},
      {"[{name: a, replicas: 5, partitionPolicy: {totalPartitions: 2, partitionSize: 2}, "
       "TEMPLATE}]",
       "spec.tasks[0].partitionPolicy: totalPartitions * partitionSize is 4, want replicas (5)"},
      {"[{name: a, replicas: 4, minAvailable: 3, partitionPolicy: {totalPartitions: 2, "
       "partitionSize: "
       "2, minPartitions: 1}, TEMPLATE}]",
       "spec.tasks[0].minAvailable: 3 is not minPartitions * partitionSize (2)"},
      {"[{name: a, dependsOn: {name: [b]}, TEMPLATE}]",
       "spec.tasks: task \"a\" depends on \"b\", which is not a task of this job"},
      {"[{name: a, dependsOn: {name: [b]}, TEMPLATE}, {name: b, dependsOn: {name: [a]}, TEMPLATE}]",
       "spec.tasks: dependsOn has a cycle (want a directed acyclic graph(DAG) of tasks)"},
      {"[{name: a, replicas: 99999999999, TEMPLATE}]",
       "spec.tasks[0].replicas: found number 99999999999, want an integer from 0 to 2147483647"}};
  for (const Case& c : cases) {
    EXPECT_EQ(LoadError(job(std::string(c.text))),
              "in.yaml: Job default/j: " + std::string(c.error));
  }
}

TEST(BadInput, RejectsInvalidSmallKinds) {
  EXPECT_EQ(
      LoadError("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: p}}"),
      "in.yaml: PriorityClass p: value: is required");
  EXPECT_EQ(
      LoadError("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: p}, "
                "value: 2000000000}"),
      "in.yaml: PriorityClass p: value: found number 2000000000, want at most 1000000000");
  EXPECT_EQ(
      LoadError("{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: p}, spec: "
                "{minAvailable: half}}"),
      "in.yaml: PodDisruptionBudget default/p: spec.minAvailable: found string \"half\", want "
      "an integer or a percentage such as \"50%\"");
  EXPECT_EQ(LoadError("{apiVersion: v1, kind: Namespace, metadata: {name: a.b}}"),
            "in.yaml: Namespace a.b: metadata.name: bad name \"a.b\" (want at most 63 lower-case "
            "letters, digits and '-', with a letter or digit at both ends)");
}

}  // namespace
}  // namespace strata::objects
