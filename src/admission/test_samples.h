#pragma once

#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <rapidcheck.h>

#include "admission/test_rules.h"
#include "tests/support/property.h"

// Objects for property tests: valid ones, and a way to make them invalid.
namespace strata::admission {

struct Sample {
  ResourceInfo row;
  nlohmann::json object;
};

inline Sample MakeSample(std::string group,
                         std::string kind,
                         std::string plural,
                         const std::string& rest) {
  return {TestRow(std::move(group), std::move(kind), std::move(plural)),
          J("{'metadata': {'name': 'a', 'namespace': 'default', 'labels': {'a': 'b'},"
            " 'annotations': {'a': 'b'}, 'finalizers': ['x.io/y'], 'ownerReferences':"
            " [{'apiVersion': 'v1', 'kind': 'A', 'name': 'a', 'uid': '1', 'controller': true}],"
            " 'creationTimestamp': '2023-11-14T22:11:20Z'}, " +
            rest + "}")};
}

inline const std::string kSamplePodSpec =
    "{'containers': [{'name': 'c', 'image': 'i', 'ports': [{'containerPort': 80, 'name': 'p'}],"
    " 'env': [{'name': 'E', 'value': 'v'}], 'volumeMounts': [{'name': 'v', 'mountPath': '/v'}],"
    " 'resources': {'limits': {'cpu': '1', 'nvidia.com/gpu': '2'}}}], 'initContainers':"
    " [{'name': 'i', 'image': 'i', 'restartPolicy': 'Always'}], 'volumes': [{'name': 'v'}],"
    " 'tolerations': [{'key': 'k', 'operator': 'Exists'}], 'nodeSelector': {'a': 'b'},"
    " 'schedulingGates': [{'name': 'g'}], 'hostNetwork': true, 'topologySpreadConstraints':"
    " [{'maxSkew': 1, 'topologyKey': 'z', 'whenUnsatisfiable': 'DoNotSchedule'}]}";

// An object of every kind that has rules, all of which admit it.
inline std::vector<Sample> Samples() {
  return {
      MakeSample(
          "",
          "Pod",
          "pods",
          "'spec': " + kSamplePodSpec +
              ", 'status': {'phase': 'Running', 'conditions': [{'type': 'Ready'}],"
              " 'containerStatuses': [{'name': 'c', 'restartCount': 1, 'state': {'terminated':"
              " {'exitCode': 1}}, 'lastState': {'terminated': {'finishedAt':"
              " '2023-11-14T22:11:20Z'}}}], 'initContainerStatuses': [{'name': 'i'}]}"),
      MakeSample("",
                 "Node",
                 "nodes",
                 "'spec': {'taints': [{'key': 'k', 'effect': 'NoExecute'}]}, 'status': {'capacity':"
                 " {'cpu': '1'}, 'conditions': [{'type': 'Ready'}], 'addresses': [{'type': 'a'}]}"),
      MakeSample("", "Namespace", "namespaces", "'spec': {'finalizers': ['kubernetes']}"),
      MakeSample("",
                 "Event",
                 "events",
                 "'involvedObject': {'kind': 'Pod', 'namespace': 'default'}, 'message': 'm'"),
      MakeSample("", "Secret", "secrets", "'data': {'a': 'QQ=='}, 'stringData': {'b': 'c'}"),
      MakeSample("", "ConfigMap", "configmaps", "'data': {'a': 'b'}, 'binaryData': {'c': 'QQ=='}"),
      MakeSample("",
                 "Service",
                 "services",
                 "'spec': {'ports': [{'port': 80, 'name': 'n'}], 'selector': {'a': 'b'}}"),
      MakeSample("",
                 "PersistentVolume",
                 "persistentvolumes",
                 "'spec': {'capacity': {'storage': '1Gi'}, 'accessModes': ['ReadWriteOnce']}"),
      MakeSample("",
                 "PersistentVolumeClaim",
                 "persistentvolumeclaims",
                 "'spec': {'accessModes': ['ReadWriteOnce'], 'resources': {'requests': {'storage':"
                 " '1Gi'}}}"),
      MakeSample("",
                 "ResourceQuota",
                 "resourcequotas",
                 "'spec': {'hard': {'cpu': '1'}}, 'status': {'hard': {'cpu': '1'}}"),
      MakeSample("scheduling.k8s.io", "PriorityClass", "priorityclasses", "'value': 5"),
      MakeSample("coordination.k8s.io", "Lease", "leases", "'spec': {'leaseDurationSeconds': 5}"),
      MakeSample("policy",
                 "PodDisruptionBudget",
                 "poddisruptionbudgets",
                 "'spec': {'minAvailable': '50%', 'selector': {'matchLabels': {'a': 'b'}}}"),
      MakeSample("storage.k8s.io", "StorageClass", "storageclasses", "'provisioner': 'p'"),
      MakeSample("storage.k8s.io", "CSINode", "csinodes", "'spec': {'drivers': []}"),
      MakeSample(
          "batch.volcano.sh",
          "Job",
          "jobs",
          "'spec': {'plugins': {'mpi': []}, 'volumes': [{'mountPath': '/v', 'volumeClaimName':"
          " 'c'}], 'policies': [{'event': 'PodFailed', 'action': 'RestartJob'}], 'tasks':"
          " [{'replicas': 2, 'template': {'spec': " +
              kSamplePodSpec + "}}]}"),
      MakeSample("scheduling.volcano.sh",
                 "PodGroup",
                 "podgroups",
                 "'spec': {'minMember': 1, 'networkTopology': {'mode': 'hard'}}"),
      MakeSample(
          "scheduling.volcano.sh",
          "Queue",
          "queues",
          "'spec': {'weight': 1, 'parent': 'p', 'capability': {'cpu': '4'}, 'deserved': {'cpu':"
          " '2'}}, 'status': {'state': 'Open', 'allocated': {'pods': '1'}}"),
      MakeSample("topology.volcano.sh",
                 "HyperNode",
                 "hypernodes",
                 "'spec': {'tier': 1, 'members': [{'type': 'Node', 'selector': {'regexMatch':"
                 " {'pattern': 'n'}}}]}"),
  };
}

// Puts something odd in the place of a random part of `at`, or takes it out.
inline void Spoil(nlohmann::json& at) {
  const bool deeper = at.is_structured() && !at.empty() && *testing::Below(6) != 0;
  if (deeper) {
    const int place = *testing::Below(static_cast<int>(at.size()));
    auto member = at.begin();
    std::advance(member, place);
    if (*testing::Below(8) == 0) {
      at.erase(member);
      return;
    }
    return Spoil(*member);
  }
  static const std::vector<nlohmann::json> odd = {
      nullptr,
      true,
      -1,
      0,
      1.5,
      18446744073709551615U,
      "",
      "x y",
      "\xff\xfe",
      "1e999999999",
      std::string(300, 'a'),
      nlohmann::json::array(),
      nlohmann::json::array({nullptr, 1, "a", nlohmann::json::object()}),
      nlohmann::json::object(),
      {{"a", {{"b", nlohmann::json::array({1})}}}, {"", "/"}}};
  at = odd[static_cast<std::size_t>(*testing::Below(static_cast<int>(odd.size())))];
}

}  // namespace strata::admission
