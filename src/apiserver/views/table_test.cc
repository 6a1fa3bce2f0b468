#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/test_rows.h"
#include "apiserver/views/age.h"
#include "apiserver/views/views.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr const char* kCreated = "'creationTimestamp': '2023-11-14T22:11:20Z'";  // 2m before now

// Cells of a built-in kind, with the metadata put in.
json CellsOfKind(const std::string& group, const std::string& kind, const std::string& rest) {
  const Resource row = TestRow(group, kind, "x");
  const json object = J(std::string("{'metadata': {'name': 'a', ") + kCreated + "}" + rest + "}");
  const json cells = Cells(row, object, kTestNow);
  EXPECT_EQ(cells.size(), ColumnDefinitions(row).size()) << kind;
  return cells;
}

json PodCellsOf(const std::string& rest) {
  json cells = CellsOfKind("", "Pod", rest);
  cells.erase(cells.begin() + 5, cells.end());
  return cells;
}

TEST(Age, IsShownAsKubectlShowsIt) {
  EXPECT_EQ(HumanDuration(seconds(-5)), "<invalid>");
  EXPECT_EQ(HumanDuration(seconds(-1)), "0s");
  EXPECT_EQ(HumanDuration(seconds(119)), "119s");
  EXPECT_EQ(HumanDuration(seconds(120)), "2m");
  EXPECT_EQ(HumanDuration(seconds(150)), "2m30s");
  EXPECT_EQ(HumanDuration(minutes(10) + seconds(5)), "10m");
  EXPECT_EQ(HumanDuration(minutes(179)), "179m");
  EXPECT_EQ(HumanDuration(hours(3)), "3h");
  EXPECT_EQ(HumanDuration(hours(7) + minutes(5)), "7h5m");
  EXPECT_EQ(HumanDuration(hours(47)), "47h");
  EXPECT_EQ(HumanDuration(hours(50)), "2d2h");
  EXPECT_EQ(HumanDuration(hours(24 * 9)), "9d");
  EXPECT_EQ(HumanDuration(hours(24 * 800)), "2y70d");
  EXPECT_EQ(HumanDuration(hours(24 * 365 * 9)), "9y");
}

TEST(PodTable, Columns) {
  const json columns = ColumnDefinitions(TestRow("", "Pod", "pods"));
  std::string names;
  for (const json& column : columns) {
    names += column["name"].get<std::string>() + (column["priority"] == 0 ? "" : "+") + ",";
  }
  EXPECT_EQ(names, "Name,Ready,Status,Restarts,Age,IP+,Node+,Nominated Node+,Readiness Gates+,");
  EXPECT_EQ(columns[0]["format"], "name");
  EXPECT_EQ(columns[3]["type"], "string");
}

TEST(PodTable, AFreshPodIsPending) {
  EXPECT_EQ(CellsOfKind("",
                        "Pod",
                        ", 'spec': {'containers': [{}, {}]},"
                        " 'status': {'phase': 'Pending'}"),
            J("['a', '0/2', 'Pending', '0', '2m', '<none>', '<none>', '<none>', '<none>']"));
}

TEST(PodTable, StatusTellsTheReason) {
  const std::string spec = ", 'spec': {'containers': [{}]}";
  EXPECT_EQ(PodCellsOf(spec + ", 'status': {'phase': 'Running', 'containerStatuses':"
                              " [{'ready': true, 'state': {'running': {}}, 'restartCount': 2}]}"),
            J("['a', '1/1', 'Running', '2', '2m']"));
  EXPECT_EQ(PodCellsOf(spec + ", 'status': {'phase': 'Running', 'containerStatuses':"
                              " [{'restartCount': 3, 'state': {'waiting': {'reason':"
                              " 'CrashLoopBackOff'}}, 'lastState': {'terminated': {'finishedAt':"
                              " '2023-11-14T22:12:20Z'}}}]}"),
            J("['a', '0/1', 'CrashLoopBackOff', '3 (60s ago)', '2m']"));
  EXPECT_EQ(PodCellsOf(spec + ", 'status': {'phase': 'Failed', 'containerStatuses':"
                              " [{'state': {'terminated': {'exitCode': 3}}}]}"),
            J("['a', '0/1', 'ExitCode:3', '0', '2m']"));
  EXPECT_EQ(PodCellsOf(spec + ", 'status': {'phase': 'Failed', 'reason': 'Evicted'}")[2],
            "Evicted");
  EXPECT_EQ(PodCellsOf(spec + ", 'status': {'phase': 'Pending', 'conditions':"
                              " [{'type': 'PodScheduled', 'reason': 'SchedulingGated'}]}")[2],
            "SchedulingGated");
}

TEST(PodTable, InitContainersComeFirst) {
  EXPECT_EQ(PodCellsOf(", 'spec': {'containers': [{}], 'initContainers': [{'name': 'i'},"
                       " {'name': 'j'}]}, 'status': {'phase': 'Pending', 'initContainerStatuses':"
                       " [{'name': 'i', 'state': {'terminated': {'exitCode': 0}}},"
                       " {'name': 'j', 'state': {'waiting': {'reason': 'PodInitializing'}}}]}")[2],
            "Init:1/2");
}

TEST(PodTable, DeletedPodIsTerminatingUnlessItEnded) {
  const Resource row = TestRow("", "Pod", "pods");
  json pod =
      J("{'metadata': {'name': 'a', 'deletionTimestamp': '2023-11-14T22:11:20Z'},"
        " 'status': {'phase': 'Running'}}");
  EXPECT_EQ(Cells(row, pod, kTestNow)[2], "Terminating");
  EXPECT_EQ(Cells(row, pod, kTestNow)[4], "<unknown>");
  pod["status"]["phase"] = "Succeeded";
  EXPECT_EQ(Cells(row, pod, kTestNow)[2], "Succeeded");
}

TEST(NodeTable, StatusRolesAddresses) {
  const Resource row = TestRow("", "Node", "nodes");
  const json node =
      J("{'metadata': {'name': 'n', 'labels': {'node-role.kubernetes.io/worker': '',"
        " 'kubernetes.io/role': 'gpu'}}, 'spec': {'unschedulable': true}, 'status':"
        " {'conditions': [{'type': 'Ready', 'status': 'True'}], 'addresses':"
        " [{'type': 'InternalIP', 'address': '10.0.0.1'}], 'nodeInfo': {'kubeletVersion': 'v1.37'"
        "}}}");
  EXPECT_EQ(Cells(row, node, kTestNow),
            J("['n', 'Ready,SchedulingDisabled', 'gpu,worker', '<unknown>', 'v1.37', '10.0.0.1',"
              " '<none>', '<unknown>', '<unknown>', '<unknown>']"));
  EXPECT_EQ(CellsOfKind("", "Node", "")[1], "Unknown");
}

TEST(Tables, OtherKinds) {
  EXPECT_EQ(CellsOfKind("", "Namespace", ", 'status': {'phase': 'Active'}"),
            J("['a', 'Active', '2m']"));
  EXPECT_EQ(CellsOfKind("", "ConfigMap", ", 'data': {'x': '', 'y': ''}"), J("['a', 2, '2m']"));
  EXPECT_EQ(CellsOfKind("", "Secret", ", 'type': 'Opaque', 'data': {'x': ''}"),
            J("['a', 'Opaque', 1, '2m']"));
  EXPECT_EQ(CellsOfKind("",
                        "Service",
                        ", 'spec': {'type': 'ClusterIP', 'clusterIP': 'None', 'ports':"
                        " [{'port': 80, 'protocol': 'TCP'}], 'selector': {'a': 'b'}}"),
            J("['a', 'ClusterIP', 'None', '<none>', '80/TCP', '2m', 'a=b']"));
  EXPECT_EQ(CellsOfKind("", "ServiceAccount", ""), J("['a', 0, '2m']"));
  EXPECT_EQ(CellsOfKind("",
                        "ResourceQuota",
                        ", 'status': {'hard': {'cpu': '4', 'limits.cpu': '8'},"
                        " 'used': {'cpu': '1'}}"),
            J("['a', 'cpu: 1/4', 'limits.cpu: 0/8', '2m']"));
  EXPECT_EQ(CellsOfKind(
                "scheduling.k8s.io", "PriorityClass", ", 'value': 5, 'preemptionPolicy': 'Never'"),
            J("['a', 5, false, '2m', 'Never']"));
  EXPECT_EQ(CellsOfKind("coordination.k8s.io", "Lease", ", 'spec': {'holderIdentity': 'me'}"),
            J("['a', 'me', '2m']"));
  EXPECT_EQ(CellsOfKind("policy", "PodDisruptionBudget", ", 'spec': {'minAvailable': 2}"),
            J("['a', '2', 'N/A', 0, '2m']"));
}

TEST(Tables, StorageKinds) {
  EXPECT_EQ(CellsOfKind("",
                        "PersistentVolume",
                        ", 'spec': {'capacity': {'storage': '1Gi'}, 'accessModes':"
                        " ['ReadWriteOnce'], 'persistentVolumeReclaimPolicy': 'Retain', 'claimRef':"
                        " {'namespace': 'x', 'name': 'c'}, 'volumeMode': 'Filesystem'},"
                        " 'status': {'phase': 'Bound'}"),
            J("['a', '1Gi', 'RWO', 'Retain', 'Bound', 'x/c', '', '<unset>', '', '2m',"
              " 'Filesystem']"));
  EXPECT_EQ(CellsOfKind("", "PersistentVolumeClaim", ", 'status': {'phase': 'Pending'}"),
            J("['a', 'Pending', '', '', '', '', '<unset>', '2m', '<unset>']"));
  EXPECT_EQ(CellsOfKind("storage.k8s.io", "StorageClass", ", 'provisioner': 'p'"),
            J("['a', 'p', '', '', false, '2m']"));
  EXPECT_EQ(CellsOfKind("storage.k8s.io", "CSINode", ""), J("['a', 0, '2m']"));
  EXPECT_EQ(CellsOfKind("apiextensions.k8s.io", "CustomResourceDefinition", ""),
            J("['a', '2023-11-14T22:11:20Z']"));
}

TEST(EventTable, NamesTheObject) {
  EXPECT_EQ(
      CellsOfKind("",
                  "Event",
                  ", 'lastTimestamp': '2023-11-14T22:13:10Z', 'type': 'Warning', 'reason':"
                  " 'Unschedulable', 'involvedObject': {'kind': 'PodGroup', 'name': 'pg'},"
                  " 'message': 'no room ', 'count': 3, 'source': {'component': 'strata'}"),
      J("['10s', 'Warning', 'Unschedulable', 'podgroup/pg', '', 'strata', 'no room', '10s', 3,"
        " 'a']"));
}

Resource WithColumns(std::vector<Column> columns) {
  Resource row = TestRow("topology.volcano.sh", "HyperNode", "hypernodes");
  row.columns = std::move(columns);
  return row;
}

TEST(CustomTable, CellsByJsonPath) {
  const Resource row = WithColumns({{"Name", "string", "name", "", 0, ".metadata.name"},
                                    {"Tier", "string", "", "", 0, ".spec.tier"},
                                    {"Count", "integer", "", "", 0, ".status.nodeCount"},
                                    {"Ratio", "integer", "", "", 0, ".spec.ratio"},
                                    {"Ready", "boolean", "", "", 1, ".status.ready"},
                                    {"Members", "string", "", "", 1, ".spec.members"},
                                    {"Age", "date", "", "", 0, ".metadata.creationTimestamp"}});
  const json object =
      J(std::string("{'metadata': {'name': 's0', ") + kCreated +
        "}, 'spec': {'tier': 1, 'ratio': 2.7, 'members': [{'a': 1}]}, 'status': {'ready': 'no'}}");
  EXPECT_EQ(Cells(row, object, kTestNow), J("['s0', '1', null, 2, null, '[{\\'a\\':1}]', '2m']"));
  const json columns = ColumnDefinitions(row);
  EXPECT_EQ(columns.size(), 7U);
  EXPECT_EQ(columns[4],
            J("{'name': 'Ready', 'type': 'boolean', 'format': '', 'description': '',"
              " 'priority': 1}"));
}

TEST(CustomTable, ANumberThatIsTooLargeForAColumnIsNotShown) {
  const Resource row = WithColumns({{"Ratio", "integer", "", "", 0, ".spec.ratio"}});
  for (const double number : {1e19, -1e19, 9223372036854775808.0, 1e308}) {
    EXPECT_EQ(Cells(row, {{"spec", {{"ratio", number}}}}, kTestNow), json::array({nullptr}))
        << number;
  }
  EXPECT_EQ(Cells(row, {{"spec", {{"ratio", -2.7}}}}, kTestNow), json::array({-2}));
}

TEST(CustomTable, WithoutColumnsThereAreNameAndAge) {
  const Resource row = WithColumns({});
  EXPECT_EQ(ColumnDefinitions(row).size(), 2U);
  EXPECT_EQ(Cells(row, J(std::string("{'metadata': {'name': 's0', ") + kCreated + "}}"), kTestNow),
            J("['s0', '2m']"));
  EXPECT_EQ(Cells(row, J("7"), kTestNow), J("[null, null]"));
}

}  // namespace
}  // namespace strata::apiserver
