#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admission/test_rules.h"

namespace strata::admission {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

json Named(const std::string& name, const std::string& rest = "") {
  return J("{'metadata': {'name': '" + name + "', 'namespace': 'default'}" + rest + "}");
}

// The object with one more field of its metadata.
json WithMeta(const std::string& field, const std::string& value) {
  json object = Named("a");
  object["metadata"][field] = J(value);
  return object;
}

Admission ConfigMaps() {
  return {"", "ConfigMap", "configmaps"};
}

TEST(AdmitMetadata, ChecksNamesByKind) {
  EXPECT_EQ(ConfigMaps().CreateError(Named("Bad_Name")),
            "422 ConfigMap \"Bad_Name\" is invalid: metadata.name: Invalid value: \"Bad_Name\": a "
            "lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' "
            "or '.', and must start and end with an alphanumeric character (e.g. 'example.com', "
            "regex used for validation is "
            "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
  EXPECT_EQ(ConfigMaps().CreateError(Named("a.b")), "no error");
  EXPECT_THAT(Admission("", "Namespace", "namespaces").CreateError(Named("a.b")),
              HasSubstr("a lowercase RFC 1123 label must consist of"));
  EXPECT_THAT(Admission("", "Service", "services")
                  .CreateError(Named("1a", ", 'spec': {'clusterIP': 'None'}")),
              HasSubstr("a DNS-1035 label must consist of"));
  EXPECT_EQ(ConfigMaps().CreateError(Named(std::string(254, 'a'))).substr(0, 20),
            "422 ConfigMap \"aaaaa");
  EXPECT_THAT(ConfigMaps().CreateError(Named(std::string(254, 'a'))),
              HasSubstr("must be no more than 253 bytes"));
  EXPECT_EQ(ConfigMaps().CreateError(J("{}")),
            "422 ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is "
            "required");
}

TEST(AdmitMetadata, RejectsInvalidLabelsAndAnnotations) {
  EXPECT_THAT(ConfigMaps().CreateError(WithMeta("labels", "{'a/b/c': 'x'}")),
              HasSubstr("metadata.labels: Invalid value: \"a/b/c\": a qualified name must"));
  EXPECT_THAT(ConfigMaps().CreateError(WithMeta("labels", "{'/b': 'x'}")),
              HasSubstr("prefix part must be non-empty"));
  EXPECT_THAT(ConfigMaps().CreateError(WithMeta("labels", "{'a': 'x y'}")),
              HasSubstr("metadata.labels: Invalid value: \"x y\": a valid label must be"));
  EXPECT_EQ(ConfigMaps().CreateError(WithMeta("annotations", "{'Example.COM/a': 'x y'}")),
            "no error");
  json large = Named("a");
  large["metadata"]["annotations"]["a"] = std::string(256 * 1024, 'x');
  EXPECT_EQ(ConfigMaps().CreateError(large),
            "422 ConfigMap \"a\" is invalid: metadata.annotations: Too long: may not be more than "
            "262144 bytes");
}

TEST(AdmitMetadata, RejectsInvalidFinalizersAndOwners) {
  EXPECT_EQ(ConfigMaps().CreateError(WithMeta("finalizers", "['foo']")),
            "422 ConfigMap \"a\" is invalid: metadata.finalizers[0]: Invalid value: \"foo\": name "
            "is neither a standard finalizer name nor is it fully qualified");
  EXPECT_EQ(ConfigMaps().CreateError(WithMeta("finalizers", "['x.io/foo', 'orphan']")), "no error");
  EXPECT_EQ(Admission("flow.volcano.sh", "JobFlow", "jobflows")
                .CreateError(WithMeta("finalizers", "['foo']")),
            "no error");
  EXPECT_THAT(ConfigMaps().CreateError(WithMeta("ownerReferences", "[{'kind': 'Job'}]")),
              HasSubstr("metadata.ownerReferences[0].uid: Invalid value: \"\": uid must not be"));
  EXPECT_THAT(ConfigMaps().CreateError(WithMeta(
                  "ownerReferences",
                  "[{'apiVersion': 'v1', 'kind': 'A', 'name': 'a', 'uid': '1', 'controller': true},"
                  "{'apiVersion': 'v1', 'kind': 'B', 'name': 'b', 'uid': '2', 'controller': true}"
                  "]")),
              HasSubstr("Only one reference can have Controller set to true"));
}

TEST(AdmitMetadata, RejectsNewFinalizersWhileAnObjectIsDeleted) {
  json before = WithMeta("finalizers", "['x.io/a']");
  before["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  json after = before;
  after["metadata"]["finalizers"].push_back("x.io/b");
  EXPECT_EQ(ConfigMaps().UpdateError(before, after),
            "422 ConfigMap \"a\" is invalid: metadata.finalizers: Forbidden: no new finalizers can "
            "be added if the object is being deleted, found new finalizers []string{\"x.io/b\"}");
  after["metadata"]["finalizers"] = json::array();
  EXPECT_EQ(ConfigMaps().UpdateError(before, after), "no error");
}

TEST(AdmitNode, KeepsItsStatusAndIsNotReady) {
  Admission nodes("", "Node", "nodes");
  const json node = nodes.Created(Named("n1", ", 'status': {'capacity': {'cpu': '8'}}"));
  EXPECT_EQ(node["status"]["allocatable"], J("{'cpu': '8'}"));
  EXPECT_EQ(node["spec"]["taints"],
            J("[{'key': 'node.kubernetes.io/not-ready', 'effect': 'NoSchedule'}]"));
  EXPECT_EQ(nodes.Created(node), node);
}

TEST(AdmitNode, TaintsAreReportedAtMetadata) {
  Admission nodes("", "Node", "nodes");
  EXPECT_EQ(
      nodes.CreateError(Named("n1", ", 'spec': {'taints': [{'key': 'a', 'effect': 'Never'}]}")),
      "422 Node \"n1\" is invalid: metadata.taints[0].effect: Unsupported value: \"Never\": "
      "supported values: \"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\"");
  const json before = nodes.Created(Named("n1"));
  json after = before;
  after["spec"]["taints"] =
      J("[{'key': 'a', 'effect': 'NoExecute'},"
        " {'key': 'a', 'effect': 'NoExecute', 'value': 'x'}]");
  EXPECT_THAT(nodes.UpdateError(before, after), HasSubstr("metadata.taints[1]: Duplicate value: "));
  after["spec"]["taints"] = json::array();
  EXPECT_EQ(nodes.UpdateError(before, after), "no error");
}

TEST(AdmitNamespace, NewNamespaceIsActiveAndLabelled) {
  Admission namespaces("", "Namespace", "namespaces");
  const json created = namespaces.Created(Named("x"));
  EXPECT_EQ(created["status"], J("{'phase': 'Active'}"));
  EXPECT_EQ(created["spec"], J("{'finalizers': ['kubernetes']}"));
  EXPECT_EQ(created["metadata"]["labels"], J("{'kubernetes.io/metadata.name': 'x'}"));
  json after = created;
  after["spec"]["finalizers"] = json::array();
  after["metadata"].erase("labels");
  EXPECT_EQ(namespaces.Updated(created, after), created);
}

TEST(AdmitNamespace, RejectsDeletingTheThreeSystemNamespaces) {
  Admission namespaces("", "Namespace", "namespaces");
  EXPECT_EQ(namespaces.DeleteError(Named("default")),
            "403 namespaces \"default\" is forbidden: this namespace may not be deleted");
  EXPECT_THAT(namespaces.DeleteError(Named("kube-system")), StartsWith("403"));
  EXPECT_THAT(namespaces.DeleteError(Named("kube-public")), StartsWith("403"));
  EXPECT_EQ(namespaces.DeleteError(Named("mine")), "no error");
}

TEST(AdmitSecret, StringDataGoesIntoData) {
  Admission secrets("", "Secret", "secrets");
  const json secret = secrets.Created(
      Named("s",
            ", 'type': 'Opaque', 'data': {'a': 'QQ=='}, 'stringData': {'a': 'ab', 'b': 'abc',"
            " 'c': ''}"));
  EXPECT_EQ(secret["data"], J("{'a': 'YWI=', 'b': 'YWJj', 'c': ''}"));
  EXPECT_FALSE(secret.contains("stringData"));
}

TEST(AdmitSecret, ChecksKeysTypesAndSize) {
  Admission secrets("", "Secret", "secrets");
  EXPECT_THAT(secrets.CreateError(Named("s", ", 'data': {'a b': ''}")),
              HasSubstr("data[a b]: Invalid value: \"a b\": a valid config key must"));
  EXPECT_EQ(secrets.CreateError(Named("s", ", 'type': 'kubernetes.io/tls', 'data': {}")),
            "422 Secret \"s\" is invalid: [data[tls.crt]: Required value, data[tls.key]: Required "
            "value]");
  json large = Named("s");
  large["stringData"]["a"] = std::string((1U << 20U) + 1, 'x');
  EXPECT_EQ(secrets.CreateError(large),
            "422 Secret \"s\" is invalid: data: Too long: may not be more than 1048576 bytes");
  large["stringData"]["a"] = std::string(1U << 20U, 'x');
  EXPECT_EQ(secrets.CreateError(large), "no error");
  const json before = Named("s", ", 'type': 'Opaque'");
  EXPECT_EQ(secrets.UpdateError(before, Named("s", ", 'type': 'other'")),
            "422 Secret \"s\" is invalid: type: Invalid value: \"other\": field is immutable");
}

TEST(AdmitConfigMap, ChecksSizeKeysAndImmutability) {
  json large = Named("c");
  large["data"]["a"] = std::string((1U << 20U) + 1, 'x');
  EXPECT_EQ(ConfigMaps().CreateError(large),
            "422 ConfigMap \"c\" is invalid: []: Too long: may not be more than 1048576 bytes");
  EXPECT_THAT(ConfigMaps().CreateError(Named("c", ", 'data': {'k': ''}, 'binaryData': {'k': ''}")),
              HasSubstr("duplicate of key present in binaryData"));
  const json fixed = Named("c", ", 'immutable': true, 'data': {'k': 'v'}");
  EXPECT_EQ(ConfigMaps().UpdateError(fixed, Named("c", ", 'data': {'k': 'w'}")),
            "422 ConfigMap \"c\" is invalid: [immutable: Forbidden: field is immutable when "
            "`immutable` is set, data: Forbidden: field is immutable when `immutable` is set]");
  EXPECT_EQ(ConfigMaps().UpdateError(fixed, fixed), "no error");
}

TEST(AdmitService, GetsAFreeAddressUnlessHeadless) {
  Admission services("", "Service", "services");
  const std::string ports = "'ports': [{'port': 80, 'protocol': 'TCP'}]";
  const json first = services.Created(Named("a", ", 'spec': {'type': 'ClusterIP', " + ports + "}"));
  EXPECT_EQ(first["spec"]["clusterIP"], "10.96.0.2");
  EXPECT_EQ(first["spec"]["clusterIPs"], J("['10.96.0.2']"));
  EXPECT_EQ(first["spec"]["ports"][0]["targetPort"], 80);
  EXPECT_EQ(first["status"], J("{'loadBalancer': {}}"));
  services.store().Hold("services", first);
  EXPECT_EQ(services.Created(Named("b", ", 'spec': {" + ports + "}"))["spec"]["clusterIP"],
            "10.96.0.3");
  EXPECT_EQ(services.Created(Named("c", ", 'spec': {'clusterIP': 'None'}"))["spec"]["clusterIPs"],
            J("['None']"));
  EXPECT_THAT(services.CreateError(Named("d", ", 'spec': {}")),
              HasSubstr("spec.ports: Required value"));
  json after = first;
  after["spec"]["clusterIP"] = "10.96.0.9";
  EXPECT_THAT(services.UpdateError(first, after), HasSubstr("may not change once set"));
  after["spec"].erase("clusterIP");
  after["spec"].erase("clusterIPs");
  EXPECT_EQ(services.Updated(first, after), first);
}

TEST(AdmitStorage, ChecksVolumesAndClaims) {
  Admission claims("", "PersistentVolumeClaim", "persistentvolumeclaims");
  const json claim = claims.Created(Named("c",
                                          ", 'spec': {'accessModes': ['ReadWriteOnce'],"
                                          " 'resources': {'requests': {'storage': '1Gi'}}}"));
  EXPECT_EQ(claim["status"], J("{'phase': 'Pending'}"));
  EXPECT_EQ(claims.CreateError(Named("c", ", 'spec': {}")),
            "422 PersistentVolumeClaim \"c\" is invalid: [spec.accessModes: Required value: at "
            "least 1 access mode is required, spec.resources[storage]: Required value]");
  json bound = claim;
  bound["spec"]["volumeName"] = "v";
  EXPECT_EQ(claims.UpdateError(claim, bound), "no error");
  json other = bound;
  other["spec"]["volumeName"] = "w";
  EXPECT_THAT(claims.UpdateError(bound, other), HasSubstr("spec is immutable after creation"));
  Admission volumes("", "PersistentVolume", "persistentvolumes");
  EXPECT_EQ(volumes.Created(Named("v",
                                  ", 'spec': {'capacity': {'storage': '1Gi'},"
                                  " 'accessModes': ['ReadWriteOnce']}"))["status"],
            J("{'phase': 'Available'}"));
  EXPECT_THAT(Admission("storage.k8s.io", "StorageClass", "storageclasses").CreateError(Named("s")),
              HasSubstr("provisioner: Required value"));
}

TEST(AdmitPriorityClass, ChecksValueNameAndSingleDefault) {
  Admission classes("scheduling.k8s.io", "PriorityClass", "priorityclasses");
  EXPECT_EQ(classes.Created(Named("p"))["value"], 0);
  EXPECT_EQ(classes.CreateError(Named("p", ", 'value': 1000000001")),
            "422 PriorityClass.scheduling.k8s.io \"p\" is invalid: value: Forbidden: maximum "
            "allowed value of a user defined priority is 1000000000");
  EXPECT_THAT(classes.CreateError(Named("system-mine", ", 'value': 1")),
              HasSubstr("metadata.name: Forbidden: priority class names with 'system-' prefix"));
  EXPECT_EQ(classes.CreateError(Named("system-node-critical", ", 'value': 2000001000")),
            "no error");
  EXPECT_THAT(classes.UpdateError(Named("p", ", 'value': 1"), Named("p", ", 'value': 2")),
              HasSubstr("value: Forbidden: may not be changed in an update."));
  classes.store().Hold("priorityclasses.scheduling.k8s.io",
                       Named("first", ", 'globalDefault': true"));
  EXPECT_EQ(classes.CreateError(Named("p", ", 'globalDefault': true")),
            "403 priorityclasses.scheduling.k8s.io \"p\" is forbidden: PriorityClass first is "
            "already marked as default. Only one default can exist");
  EXPECT_EQ(classes.CreateError(Named("first", ", 'globalDefault': true")), "no error");
}

TEST(AdmitPolicy, ChecksBudgetsQuotasLeasesAndReviews) {
  Admission budgets("policy", "PodDisruptionBudget", "poddisruptionbudgets");
  EXPECT_EQ(budgets.Created(
                Named("b", ", 'spec': {'minAvailable': '50%'}"))["status"]["disruptionsAllowed"],
            0);
  EXPECT_THAT(budgets.CreateError(Named("b", ", 'spec': {'minAvailable': 1, 'maxUnavailable': 1}")),
              HasSubstr("minAvailable and maxUnavailable cannot be both set"));
  EXPECT_THAT(budgets.CreateError(Named("b", ", 'spec': {'minAvailable': 'lots'}")),
              HasSubstr("spec.minAvailable: Invalid value: \"lots\": "));
  EXPECT_THAT(Admission("", "ResourceQuota", "resourcequotas")
                  .CreateError(Named("q", ", 'spec': {'hard': {'pods': '1500m'}}")),
              HasSubstr("spec.hard.pods: Invalid value: \"1500m\""));
  EXPECT_THAT(Admission("coordination.k8s.io", "Lease", "leases")
                  .CreateError(Named("l", ", 'spec': {'leaseDurationSeconds': 0}")),
              HasSubstr("spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"));
  Admission reviews("authorization.k8s.io", "SelfSubjectAccessReview", "selfsubjectaccessreviews");
  EXPECT_EQ(reviews.Created(Named(
                "r", ", 'spec': {'resourceAttributes': {'verb': 'get'}}"))["status"]["allowed"],
            true);
  EXPECT_THAT(reviews.CreateError(Named("r", ", 'spec': {}")), HasSubstr("exactly one of"));
}

TEST(AdmitEvent, RejectsAnEventInAnotherNamespaceThanItsObject) {
  Admission events("", "Event", "events");
  EXPECT_EQ(events.CreateError(Named("e", ", 'involvedObject': {'namespace': 'default'}")),
            "no error");
  EXPECT_EQ(events.CreateError(Named("e", ", 'involvedObject': {'kind': 'Node'}")), "no error");
  EXPECT_THAT(events.CreateError(Named("e", ", 'involvedObject': {'namespace': 'other'}")),
              HasSubstr("does not match event.namespace"));
}

TEST(AdmitUnknownKind, OnlyItsMetadataIsChecked) {
  Admission others("example.com", "Widget", "widgets");
  EXPECT_EQ(others.CreateError(Named("w", ", 'spec': 7")), "no error");
  EXPECT_EQ(others.DeleteError(Named("w")), "no error");
}

}  // namespace
}  // namespace strata::admission
