#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "apiserver/test_store.h"
#include "apiserver/views/views.h"
#include "tests/support/property.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;
using strata::testing::Below;
using strata::testing::CheckProperty;

struct Sample {
  Resource row;
  json object;
};

Sample Make(std::string group, std::string kind, std::string plural, const std::string& rest) {
  return {TestRow(std::move(group), std::move(kind), std::move(plural)),
          J("{'metadata': {'name': 'a', 'namespace': 'default', 'labels': {'a': 'b'},"
            " 'annotations': {'a': 'b'}, 'finalizers': ['x.io/y'], 'ownerReferences':"
            " [{'apiVersion': 'v1', 'kind': 'A', 'name': 'a', 'uid': '1', 'controller': true}],"
            " 'creationTimestamp': '2023-11-14T22:11:20Z'}, " +
            rest + "}")};
}

const std::string kPodSpec =
    "{'containers': [{'name': 'c', 'image': 'i', 'ports': [{'containerPort': 80, 'name': 'p'}],"
    " 'env': [{'name': 'E', 'value': 'v'}], 'volumeMounts': [{'name': 'v', 'mountPath': '/v'}],"
    " 'resources': {'limits': {'cpu': '1', 'nvidia.com/gpu': '2'}}}], 'initContainers':"
    " [{'name': 'i', 'image': 'i', 'restartPolicy': 'Always'}], 'volumes': [{'name': 'v'}],"
    " 'tolerations': [{'key': 'k', 'operator': 'Exists'}], 'nodeSelector': {'a': 'b'},"
    " 'schedulingGates': [{'name': 'g'}], 'hostNetwork': true, 'topologySpreadConstraints':"
    " [{'maxSkew': 1, 'topologyKey': 'z', 'whenUnsatisfiable': 'DoNotSchedule'}]}";

std::vector<Sample> Samples() {
  return {
      Make("",
           "Pod",
           "pods",
           "'spec': " + kPodSpec +
               ", 'status': {'phase': 'Running', 'conditions': [{'type': 'Ready'}],"
               " 'containerStatuses': [{'name': 'c', 'restartCount': 1, 'state': {'terminated':"
               " {'exitCode': 1}}, 'lastState': {'terminated': {'finishedAt':"
               " '2023-11-14T22:11:20Z'}}}], 'initContainerStatuses': [{'name': 'i'}]}"),
      Make("",
           "Node",
           "nodes",
           "'spec': {'taints': [{'key': 'k', 'effect': 'NoExecute'}]}, 'status': {'capacity':"
           " {'cpu': '1'}, 'conditions': [{'type': 'Ready'}], 'addresses': [{'type': 'a'}]}"),
      Make("", "Namespace", "namespaces", "'spec': {'finalizers': ['kubernetes']}"),
      Make("",
           "Event",
           "events",
           "'involvedObject': {'kind': 'Pod', 'namespace': 'default'}, 'message': 'm'"),
      Make("", "Secret", "secrets", "'data': {'a': 'QQ=='}, 'stringData': {'b': 'c'}"),
      Make("", "ConfigMap", "configmaps", "'data': {'a': 'b'}, 'binaryData': {'c': 'QQ=='}"),
      Make("",
           "Service",
           "services",
           "'spec': {'ports': [{'port': 80, 'name': 'n'}], 'selector': {'a': 'b'}}"),
      Make("",
           "PersistentVolume",
           "persistentvolumes",
           "'spec': {'capacity': {'storage': '1Gi'}, 'accessModes': ['ReadWriteOnce']}"),
      Make("",
           "PersistentVolumeClaim",
           "persistentvolumeclaims",
           "'spec': {'accessModes': ['ReadWriteOnce'], 'resources': {'requests': {'storage':"
           " '1Gi'}}}"),
      Make("",
           "ResourceQuota",
           "resourcequotas",
           "'spec': {'hard': {'cpu': '1'}}, 'status': {'hard': {'cpu': '1'}}"),
      Make("scheduling.k8s.io", "PriorityClass", "priorityclasses", "'value': 5"),
      Make("coordination.k8s.io", "Lease", "leases", "'spec': {'leaseDurationSeconds': 5}"),
      Make("policy",
           "PodDisruptionBudget",
           "poddisruptionbudgets",
           "'spec': {'minAvailable': '50%', 'selector': {'matchLabels': {'a': 'b'}}}"),
      Make("storage.k8s.io", "StorageClass", "storageclasses", "'provisioner': 'p'"),
      Make("storage.k8s.io", "CSINode", "csinodes", "'spec': {'drivers': []}"),
      Make("batch.volcano.sh",
           "Job",
           "jobs",
           "'spec': {'plugins': {'mpi': []}, 'volumes': [{'mountPath': '/v', 'volumeClaimName':"
           " 'c'}], 'policies': [{'event': 'PodFailed', 'action': 'RestartJob'}], 'tasks':"
           " [{'replicas': 2, 'template': {'spec': " +
               kPodSpec + "}}]}"),
      Make("scheduling.volcano.sh",
           "PodGroup",
           "podgroups",
           "'spec': {'minMember': 1, 'networkTopology': {'mode': 'hard'}}"),
      Make("scheduling.volcano.sh",
           "Queue",
           "queues",
           "'spec': {'weight': 1, 'parent': 'p', 'capability': {'cpu': '4'}, 'deserved': {'cpu':"
           " '2'}}, 'status': {'state': 'Open', 'allocated': {'pods': '1'}}"),
      Make("topology.volcano.sh",
           "HyperNode",
           "hypernodes",
           "'spec': {'tier': 1, 'members': [{'type': 'Node', 'selector': {'regexMatch':"
           " {'pattern': 'n'}}}]}"),
  };
}

// Puts something odd in the place of a random part of `at`, or takes it out.
void Spoil(json& at) {
  const bool deeper = at.is_structured() && !at.empty() && *Below(6) != 0;
  if (deeper) {
    const int place = *Below(static_cast<int>(at.size()));
    auto member = at.begin();
    std::advance(member, place);
    if (*Below(8) == 0) {
      at.erase(member);
      return;
    }
    return Spoil(*member);
  }
  static const std::vector<json> odd = {nullptr,
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
                                        json::array(),
                                        json::array({nullptr, 1, "a", json::object()}),
                                        json::object(),
                                        {{"a", {{"b", json::array({1})}}}, {"", "/"}}};
  at = odd[static_cast<std::size_t>(*Below(static_cast<int>(odd.size())))];
}

TEST(AdmissionProperty, NoObjectBreaksARuleOrAColumn) {
  const std::vector<Sample> samples = Samples();
  TestStore store;
  for (const char* name : {"root", "default", "p"}) {
    store.Hold("queues.scheduling.volcano.sh", {{"metadata", {{"name", name}}}});
  }
  std::size_t admitted = 0;
  CheckProperty(3000, [&] {
    const Sample& sample =
        samples[static_cast<std::size_t>(*Below(static_cast<int>(samples.size())))];
    const AdmissionContext context{sample.row, store, kTestNow};
    json object = sample.object;
    for (int i = *Below(3); i > 0; --i) Spoil(object);
    if (!object.is_object()) object = json::object();
    const json given = object;
    RC_ASSERT(Cells(sample.row, given, kTestNow).size() == ColumnDefinitions(sample.row).size());
    if (AdmitCreate(context, object)) {
      ++admitted;
      json again = object;
      RC_ASSERT(AdmitCreate(context, again).has_value());
      RC_ASSERT(again == object);
      json same = object;
      const auto kept = AdmitUpdate(context, object, same, "");
      RC_LOG(kept ? "" : kept.error().message);
      RC_ASSERT(kept.has_value());
      RC_ASSERT(same == object);
    }
    for (const char* subresource : {"", "status", "scale"}) {
      json after = given;
      (void)AdmitUpdate(context, sample.object, after, subresource);
    }
    (void)AdmitDelete(context, given);
  });
  EXPECT_GT(admitted, 100U);
}

}  // namespace
}  // namespace strata::apiserver
