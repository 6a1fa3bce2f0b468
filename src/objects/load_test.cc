#include "objects/load.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/timestamp.h"
#include "objects/test_support.h"

namespace strata::objects {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> FullNamesOf(const auto& list) {
  std::vector<std::string> names;
  for (const auto& object : list) names.push_back(NamespacedName(object.meta));
  return names;
}

TEST(Load, ReadsANodeWithItsTaintsAndResources) {
  const ObjectSet set = MustLoad(R"(
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {rack: "1"}, creationTimestamp: "2026-08-20T10:00:00Z"}
spec:
  unschedulable: yes
  taints: [{key: gpu, value: "true", effect: NoSchedule}]
status:
  capacity: {cpu: 8, memory: 32Gi, pods: 110}
  conditions: [{type: Ready, status: "True"}]
  images: [{names: [a, b], sizeBytes: 100}]
)");
  ASSERT_THAT(set.nodes, SizeIs(1));
  const Node& node = set.nodes[0];
  EXPECT_EQ(ObjectName(node.meta), "Node n1");
  EXPECT_EQ(node.meta.uid, "n1");
  EXPECT_EQ(FormatTimestamp(node.meta.created), "2026-08-20T10:00:00Z");
  EXPECT_TRUE(node.unschedulable);
  EXPECT_THAT(node.taints, ElementsAre(Taint{"gpu", "true", TaintEffect::kNoSchedule}));
  EXPECT_EQ(node.allocatable.at("memory"), Quantity::Parse("32Gi").value());
  EXPECT_EQ(FindCondition(node.conditions, "Ready")->status, "True");
  EXPECT_EQ(node.images.at(0).size_bytes, 100);
}

TEST(Load, ReadsEveryConstraintOfAPod) {
  const ObjectSet set = MustLoad(R"(
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: team, uid: u-1, labels: {app: web, version: v2}}
spec:
  schedulerName: volcano
  priority: 7
  priorityClassName: high
  preemptionPolicy: Never
  hostNetwork: true
  nodeSelector: {disk: ssd}
  tolerations: [{key: gpu, operator: Exists}, {key: k, value: v, effect: NoExecute, tolerationSeconds: 5}]
  schedulingGates: [{name: wait}]
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions: [{key: zone, operator: In, values: [b, a]}, {key: cores, operator: Gt, values: ["8"]}]
          matchFields: [{key: metadata.name, operator: NotIn, values: [n1]}]
      preferredDuringSchedulingIgnoredDuringExecution:
      - {weight: 10, preference: {matchExpressions: [{key: fast, operator: Exists}]}}
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: kubernetes.io/hostname
        namespaceSelector: {}
        labelSelector: {matchLabels: {app: web}}
        matchLabelKeys: [version, absent]
  topologySpreadConstraints:
  - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}
  containers:
  - name: c
    image: web:1
    ports: [{containerPort: 80}]
    resources: {requests: {cpu: 0.5}}
  volumes: [{name: data, persistentVolumeClaim: {claimName: disk}}, {name: tmp, ephemeral: {volumeClaimTemplate: {spec: {}}}}]
status: {phase: Pending, nominatedNodeName: n2}
)");
  ASSERT_THAT(set.pods, SizeIs(1));
  const Pod& pod = set.pods[0];
  EXPECT_EQ(pod.spec.priority, 7);
  EXPECT_EQ(pod.spec.preemption_policy, PreemptionPolicy::kNever);
  EXPECT_THAT(pod.spec.tolerations, SizeIs(2));
  EXPECT_THAT(pod.spec.scheduling_gates, ElementsAre("wait"));
  const NodeSelectorTerm& term = pod.spec.node_affinity.required->at(0);
  EXPECT_THAT(term.labels,
              ElementsAre(Requirement{"cores", SelectorOp::kGt, {"8"}},
                          Requirement{"zone", SelectorOp::kIn, {"a", "b"}}));
  EXPECT_THAT(term.fields, ElementsAre(Requirement{"metadata.name", SelectorOp::kNotIn, {"n1"}}));
  EXPECT_EQ(pod.spec.node_affinity.preferred.at(0).weight, 10);
  EXPECT_THAT(pod.spec.pod_anti_affinity.required.at(0).selector->requirements,
              ElementsAre(Requirement{"app", SelectorOp::kIn, {"web"}},
                          Requirement{"version", SelectorOp::kIn, {"v2"}}));
  EXPECT_TRUE(pod.spec.pod_anti_affinity.required.at(0).namespace_selector->empty());
  EXPECT_EQ(pod.spec.spread.at(0).topology_key, "zone");
  EXPECT_THAT(HostPortsOf(pod.spec), ElementsAre(HostPort{"", "TCP", 80}));
  EXPECT_EQ(ClaimNameOf(pod, pod.spec.volumes.at(0)), "disk");
  EXPECT_EQ(ClaimNameOf(pod, pod.spec.volumes.at(1)), "p-tmp");
  EXPECT_EQ(pod.status.nominated_node_name, "n2");
}

TEST(Load, AQueueOfWeightZeroHasWeightOneAsTheWebhookMakesIt) {
  const ObjectSet set = MustLoad(
      "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: q}, "
      "spec: {weight: 0}}");
  EXPECT_EQ(set.queues.at(0).weight, 1);
}

TEST(Load, ReadsPodGroupsQueuesAndHyperNodes) {
  const ObjectSet set = MustLoad(R"(
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: pg, namespace: team}
spec:
  minMember: 4
  minTaskMember: {worker: 3}
  queue: research
  minResources: {cpu: 4}
  networkTopology: {mode: Soft, highestTierAllowed: 2}
  subGroupPolicy:
  - {name: g, subGroupSize: 2, matchLabelKeys: [rank], labelSelector: {matchLabels: {role: w}}}
status: {phase: Inqueue}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: research}
spec: {weight: 3, reclaimable: false, capability: {cpu: 10}, deserved: {cpu: 5}, guarantee: {resource: {cpu: 1}}}
---
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {name: s0}
spec:
  tier: 1
  tierName: rack
  members:
  - {type: Node, selector: {exactMatch: {name: n0}}}
  - {type: Node, selector: {regexMatch: {pattern: "^n[0-9]+$"}}}
  - {type: Node, selector: {labelMatch: {matchLabels: {rack: a}}}}
  - {type: HyperNode}
)");
  const PodGroup& group = set.pod_groups.at(0);
  EXPECT_EQ(group.topology, (NetworkTopology{TopologyMode::kSoft, 2, ""}));
  EXPECT_EQ(group.phase, PodGroupPhase::kInqueue);
  EXPECT_EQ(group.sub_groups.at(0).sub_group_size, 2);
  EXPECT_EQ(group.sub_groups.at(0).min_sub_groups, 0);
  const Queue& queue = set.queues.at(0);
  EXPECT_EQ(queue.weight, 3);
  EXPECT_EQ(queue.parent, "root");
  EXPECT_FALSE(queue.reclaimable);
  const std::vector<HyperNodeMember>& members = set.hypernodes.at(0).spec.members;
  ASSERT_THAT(members, SizeIs(4));
  EXPECT_EQ(std::get<HyperNodeMember::Exact>(members[0].selector).name, "n0");
  EXPECT_TRUE(std::get<NamePattern>(members[1].selector).Matches("n12"));
  EXPECT_FALSE(std::get<LabelSelector>(members[2].selector).empty());
  EXPECT_TRUE(std::holds_alternative<std::monostate>(members[3].selector));
}

TEST(Load, ReadsVolumesClassesAndSmallKinds) {
  const ObjectSet set = MustLoad(R"(
{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv}, spec: {capacity: {storage: 10Gi}, accessModes: [ReadWriteOnce],
 storageClassName: fast, claimRef: {namespace: default, name: c}, csi: {driver: d, volumeHandle: h},
 nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [a]}]}]}}}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}, spec: {storageClassName: "", volumeName: pv, resources: {requests: {storage: 5Gi}}}, status: {phase: Bound}}
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast, annotations: {storageclass.kubernetes.io/is-default-class: "true"}},
 provisioner: x, volumeBindingMode: WaitForFirstConsumer, allowedTopologies: [{matchLabelExpressions: [{key: zone, values: [b, a]}]}]}
---
{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: n1}, spec: {drivers: [{name: d, nodeID: x, topologyKeys: [zone], allocatable: {count: 4}}]}}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1000, globalDefault: true}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: pdb}, spec: {minAvailable: 50%, selector: {matchLabels: {a: b}}}, status: {disruptionsAllowed: 1}}
---
{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {pods: 4, requests.cpu: 10, requests.nvidia.com/gpu: 8}}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: team, labels: {env: prod}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: cm}, data: {key: text}}
---
{apiVersion: nodeinfo.volcano.sh/v1alpha1, kind: Numatopology, metadata: {name: n1}, spec: {policies: {TopologyManagerPolicy: best-effort},
 resReserved: {cpu: "1"}, numares: {cpu: {allocatable: "0-3", capacity: 4}}, cpuDetail: {"0": {numa: 0, socket: 0, core: 0}, "1": {numa: 1, core: 1}}}}
)");
  EXPECT_EQ(set.volumes.at(0).csi_driver, "d");
  EXPECT_THAT(*set.volumes.at(0).node_affinity, SizeIs(1));
  EXPECT_EQ(set.claims.at(0).spec.storage_class, "");
  EXPECT_EQ(set.claims.at(0).phase, "Bound");
  EXPECT_TRUE(set.storage_classes.at(0).is_default);
  EXPECT_EQ(set.storage_classes.at(0).binding_mode, BindingMode::kWaitForFirstConsumer);
  EXPECT_EQ(set.csi_nodes.at(0).drivers.at(0).max_volumes, 4);
  EXPECT_TRUE(set.priority_classes.at(0).global_default);
  EXPECT_EQ(
      std::get<PodDisruptionBudget::Percent>(*set.disruption_budgets.at(0).min_available).value,
      50);
  EXPECT_EQ(set.quotas.at(0).hard.at("requests.nvidia.com/gpu"), Quantity::FromValue(8));
  EXPECT_EQ(set.config_maps.at(0).data.at("key"), "text");
  EXPECT_EQ(set.numa_topologies.at(0).cpus.at(1).numa, 1);
  EXPECT_THAT(set.warnings, IsEmpty());
}

TEST(Load, ListsOfAnyKindAreUnpacked) {
  EXPECT_THAT(FullNamesOf(MustLoad(R"({"apiVersion":"v1","kind":"List","items":[
        {"apiVersion":"v1","kind":"Node","metadata":{"name":"b"}},
        {"apiVersion":"v1","kind":"NodeList","items":[{"metadata":{"name":"a"}}]}]})")
                              .nodes),
              ElementsAre("a", "b"));
  EXPECT_THAT(MustLoad(R"({"apiVersion":"v1","kind":"PodList","items":[]})").pods, IsEmpty());
}

TEST(Load, TheOrderOfTheInputDoesNotMatter) {
  const std::string a = "{apiVersion: v1, kind: Node, metadata: {name: a}}\n";
  const std::string b = "{apiVersion: v1, kind: Node, metadata: {name: b}}\n";
  EXPECT_EQ(FullNamesOf(MustLoad(a + "---\n" + b).nodes),
            FullNamesOf(MustLoad(b + "---\n" + a).nodes));
}

TEST(Load, ReadsTheInternalAddressesOfANode) {
  const ObjectSet set = MustLoad(R"(
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {addresses: [{type: Hostname, address: n1}, {type: InternalIP, address: 10.0.0.1}]}
)");
  EXPECT_THAT(set.nodes.at(0).internal_ips, ElementsAre("10.0.0.1"));
}

TEST(Load, NoMessageQuotesWhatASecretHolds) {
  const ObjectSet set = MustLoad(R"(
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: ns}
data: {token: aHVzaA==}
stringData: {password: hush}
)");
  EXPECT_EQ(set.secrets.at(0).string_data.at("password"), "hush");
  EXPECT_EQ(
      LoadError(
          "{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {password: 12345}}"),
      "in.yaml: Secret default/s: stringData.password: want a string (put it in quotes)");
  EXPECT_EQ(LoadError("{apiVersion: v1, kind: Secret, metadata: {name: s}, data: hush}"),
            "in.yaml: Secret default/s: data: want an object with keys and strings");
}

TEST(Load, UnknownKindsAreWarnings) {
  const ObjectSet set = MustLoad(R"(
{apiVersion: v1, kind: Service, metadata: {name: web, namespace: team}}
---
{apiVersion: batch/v1, kind: Job, metadata: {name: plain}}
)");
  EXPECT_THAT(
      set.warnings,
      ElementsAre("in.yaml: Job plain: ignored, batch/v1 Job is not a supported kind",
                  "in.yaml: Service team/web: ignored, v1 Service is not a supported kind"));
}

TEST(Load, DuplicatesNameBothFiles) {
  const std::string node = "{apiVersion: v1, kind: Node, metadata: {name: n1}}";
  const std::vector<Source> sources = {{"a.yaml", node}, {"b.yaml", node}};
  EXPECT_EQ(ParseObjects(sources).error().message, "b.yaml: Node n1: is already defined in a.yaml");
}

TEST(Load, ADuplicateKeyIsAnErrorInJsonToo) {
  EXPECT_EQ(
      LoadError(R"({"apiVersion":"v1","kind":"List","items":[{"kind":"Node","kind":"Pod"}]})"),
      "in.yaml: document 1: items[0].kind: duplicate key");
}

TEST(Load, APodOnANodeIsNotRefusedForSchedulingRules) {
  const std::string pod =
      "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {NODE tolerations: [{key: a, "
      "operator: "
      "Exists, value: b}], containers: [{name: c, resources: {requests: {cpu: 2}, limits: {cpu: "
      "1}}}]}}";
  std::string pending = pod;
  pending.replace(pending.find("NODE"), 4, "");
  std::string bound = pod;
  bound.replace(bound.find("NODE"), 4, "nodeName: n1,");
  EXPECT_EQ(LoadError(pending),
            "in.yaml: Pod default/p: spec.containers[0].resources.requests.cpu: 2 is more than the "
            "limit 1");
  EXPECT_EQ(LoadError(bound), "no error");
}

// A pod on node n1; `meta` and `spec` end in a comma each unless they are empty.
std::string OnNode(const std::string& meta, const std::string& spec, const std::string& container) {
  return "{apiVersion: v1, kind: Pod, metadata: {" + meta + " name: p}, spec: {" + spec +
         " nodeName: n1, containers: [{name: c, " + container + "}]}}";
}

TEST(Load, ARuleThatAPodOnANodeBreaksIsAWarning) {
  const auto warning = [](const std::string& text) {
    const ObjectSet set = MustLoad(text);
    EXPECT_THAT(set.pods, SizeIs(1)) << text;
    return set.warnings.empty() ? "no warning" : set.warnings[0];
  };
  EXPECT_EQ(warning(OnNode("", "tolerations: [{key: a, operator: Foo}],", "")),
            "in.yaml: Pod default/p: spec.tolerations[0].operator: unknown value \"Foo\" (want "
            "Equal or Exists); not refused, as the pod is on a node");
  for (const std::string& text :
       {OnNode("labels: {a: -b},", "", ""),
        OnNode("", "initContainers: [{name: c}],", ""),
        OnNode("", "priority: 99999999999,", ""),
        OnNode("", "nodeSelector: {a/b/c: x},", ""),
        OnNode("",
               "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{}]}},",
               ""),
        OnNode("", "topologySpreadConstraints: [{maxSkew: 0}],", ""),
        OnNode("", "volumes: [{name: v, persistentVolumeClaim: {}}],", ""),
        OnNode("", "", "ports: [{containerPort: 80, hostPort: 70000}]"),
        OnNode("", "", "resources: {requests: {cpu: -1}}"),
        OnNode("", "", "resources: {requests: {cpu: 9E}}"),
        OnNode("", "", "resources: {requests: {nvidia.com/gpu: 500m}}")}) {
    EXPECT_THAT(warning(text), ::testing::EndsWith("; not refused, as the pod is on a node"))
        << text;
  }
  EXPECT_EQ(warning(OnNode("", "", "")), "no warning");
}

TEST(Load, TheValidPartOfAPodOnANodeCounts) {
  const ObjectSet set = MustLoad(
      OnNode("labels: {a: -b},",
             "tolerations: [{key: a, operator: Foo}, {key: b, operator: Exists}], priority: "
             "99999999999,",
             "ports: [{containerPort: 80, hostPort: 70000}], resources: {requests: {cpu: -1, "
             "memory: 1Gi, nvidia.com/gpu: 1500m}}"));
  ASSERT_THAT(set.pods, SizeIs(1));
  const PodSpec& spec = set.pods[0].spec;
  EXPECT_EQ(spec.containers[0].requests.at("cpu").ToString(), "0");
  EXPECT_EQ(spec.containers[0].requests.at("memory").ToString(), "1Gi");
  EXPECT_EQ(spec.containers[0].requests.at("nvidia.com/gpu").ToString(), "2");
  EXPECT_EQ(spec.priority, std::nullopt);
  EXPECT_THAT(HostPortsOf(spec), IsEmpty());
  ASSERT_THAT(spec.tolerations, SizeIs(1));
  EXPECT_EQ(spec.tolerations[0].key, "b");
  EXPECT_EQ(set.pods[0].meta.labels.at("a"), "-b");
  EXPECT_THAT(set.warnings, SizeIs(6));
}

TEST(Load, WhatCannotBeReadOfAPodOnANodeIsStillAnError) {
  EXPECT_EQ(LoadError(OnNode("", "tolerations: {key: a},", "")),
            "in.yaml: Pod default/p: spec.tolerations: found an object, want a list");
  EXPECT_EQ(LoadError(OnNode("", "priority: high,", "")),
            "in.yaml: Pod default/p: spec.priority: found string \"high\", want a 32-bit integer");
  EXPECT_THAT(LoadError(OnNode("", "", "resources: {requests: {cpu: two}}")),
              ::testing::HasSubstr("resources.requests.cpu: bad quantity \"two\""));
  EXPECT_THAT(LoadError(OnNode("namespace: Not_One,", "", "")),
              ::testing::HasSubstr("metadata.namespace: bad name \"Not_One\""));
}

TEST(Load, AnExtendedResourceInRequestsAloneIsTakenAsItIs) {
  EXPECT_EQ(
      LoadError("{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, "
                "resources: {requests: {nvidia.com/gpu: 8}}}]}}"),
      "no error");
}

}  // namespace
}  // namespace strata::objects
