#include <utility>

#include "apiserver/resources/resource.h"
#include "base/check.h"
#include "schema/catalog.h"

namespace strata::apiserver {
namespace {

// The parts of a row that have no natural default; the rest is set by name below.
Resource Row(std::string group, std::string version, std::string kind, std::string plural) {
  Resource row;
  row.group = std::move(group);
  row.version = std::move(version);
  row.kind = std::move(kind);
  row.plural = std::move(plural);
  for (const char c : row.kind) {
    row.singular += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  row.schema = schema::BuiltIn(row.group, row.version, row.kind);
  CHECK(row.schema != nullptr);
  return row;
}

Resource ClusterRow(std::string group, std::string version, std::string kind, std::string plural) {
  Resource row = Row(std::move(group), std::move(version), std::move(kind), std::move(plural));
  row.namespaced = false;
  return row;
}

Resource Pods() {
  Resource row = Row("", "v1", "Pod", "pods");
  row.short_names = {"po"};
  row.categories = {"all"};
  row.has_status = true;
  row.subresources = {"binding", "eviction", "log"};
  row.generation = Generation::kPod;
  row.selectable_fields = {"spec.nodeName",
                           "spec.restartPolicy",
                           "spec.schedulerName",
                           "spec.serviceAccountName",
                           "spec.hostNetwork",
                           "status.phase",
                           "status.podIP",
                           "status.nominatedNodeName"};
  return row;
}

Resource Nodes() {
  Resource row = ClusterRow("", "v1", "Node", "nodes");
  row.short_names = {"no"};
  row.has_status = true;
  row.selectable_fields = {"spec.unschedulable"};
  return row;
}

Resource Namespaces() {
  Resource row = ClusterRow("", "v1", "Namespace", "namespaces");
  row.short_names = {"ns"};
  row.has_status = true;
  row.selectable_fields = {"status.phase"};
  return row;
}

Resource Events(std::string group) {
  Resource row = Row(std::move(group), "v1", "Event", "events");
  row.short_names = {"ev"};
  row.create_on_update = true;
  row.selectable_fields = {"involvedObject.kind",
                           "involvedObject.namespace",
                           "involvedObject.name",
                           "involvedObject.uid",
                           "involvedObject.apiVersion",
                           "involvedObject.resourceVersion",
                           "involvedObject.fieldPath",
                           "reason",
                           "reportingComponent",
                           "type"};
  return row;
}

// Core kinds that differ in nothing but names.
void AddPlainCoreKinds(std::vector<Resource>& rows) {
  rows.push_back(Row("", "v1", "ConfigMap", "configmaps"));
  rows.back().short_names = {"cm"};
  rows.push_back(Row("", "v1", "Secret", "secrets"));
  rows.back().selectable_fields = {"type"};
  rows.push_back(Row("", "v1", "Service", "services"));
  rows.back().short_names = {"svc"};
  rows.back().categories = {"all"};
  rows.back().has_status = true;
  rows.back().selectable_fields = {"spec.clusterIP", "spec.type"};
  rows.push_back(Row("", "v1", "ServiceAccount", "serviceaccounts"));
  rows.back().short_names = {"sa"};
  rows.push_back(ClusterRow("", "v1", "PersistentVolume", "persistentvolumes"));
  rows.back().short_names = {"pv"};
  rows.back().has_status = true;
  rows.push_back(Row("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims"));
  rows.back().short_names = {"pvc"};
  rows.back().has_status = true;
  rows.push_back(Row("", "v1", "ResourceQuota", "resourcequotas"));
  rows.back().short_names = {"quota"};
  rows.back().has_status = true;
}

void AddOtherGroups(std::vector<Resource>& rows) {
  rows.push_back(ClusterRow("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses"));
  rows.back().short_names = {"pc"};
  rows.back().generation = Generation::kSpec;
  rows.push_back(Row("coordination.k8s.io", "v1", "Lease", "leases"));
  rows.back().unconditional_update = false;
  rows.back().create_on_update = true;
  rows.push_back(Row("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets"));
  rows.back().short_names = {"pdb"};
  rows.back().has_status = true;
  rows.back().unconditional_update = false;
  rows.back().generation = Generation::kSpec;
  rows.push_back(ClusterRow("storage.k8s.io", "v1", "StorageClass", "storageclasses"));
  rows.back().short_names = {"sc"};
  rows.push_back(ClusterRow("storage.k8s.io", "v1", "CSINode", "csinodes"));
  rows.push_back(ClusterRow(
      "authorization.k8s.io", "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews"));
  rows.back().read_only = true;
  rows.push_back(ClusterRow(
      "apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions"));
  rows.back().short_names = {"crd", "crds"};
  rows.back().categories = {"api-extensions"};
  rows.back().has_status = true;
  rows.back().unconditional_update = false;
  rows.back().generation = Generation::kSpec;
}

}  // namespace

std::vector<Resource> BuiltInResources() {
  std::vector<Resource> rows;
  rows.push_back(Namespaces());
  rows.push_back(Nodes());
  rows.push_back(Pods());
  rows.push_back(Events(""));
  AddPlainCoreKinds(rows);
  AddOtherGroups(rows);
  return rows;
}

}  // namespace strata::apiserver
