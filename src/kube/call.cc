#include "kube/call.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "json/dump.h"

namespace strata::kube {
namespace {

using Json = nlohmann::ordered_json;

void AddParameter(std::string& query, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  if (!query.empty()) query += '&';
  query += name;
  query += '=';
  query += Escape(value);
}

Call MakeCall(std::string method, const ResourcePath& path) {
  Call call;
  call.method = std::move(method);
  call.path = path.Text();
  return call;
}

Call MakeWrite(std::string method, const ResourcePath& path, std::string body, Repeat repeat) {
  Call call = MakeCall(std::move(method), path);
  call.content_type = "application/json";
  call.body = std::move(body);
  call.repeat = repeat;
  return call;
}

std::string_view ContentType(PatchType type) {
  switch (type) {
    case PatchType::kJson:
      return "application/json-patch+json";
    case PatchType::kMerge:
      return "application/merge-patch+json";
    case PatchType::kStrategic:
      return "application/strategic-merge-patch+json";
    case PatchType::kApply:
      return "application/apply-patch+yaml";
  }
  return "";
}

Json DeleteBody(const DeleteOptions& options) {
  Json body = {{"kind", "DeleteOptions"}, {"apiVersion", "v1"}};
  if (options.grace_seconds) body["gracePeriodSeconds"] = *options.grace_seconds;
  if (!options.uid.empty()) body["preconditions"]["uid"] = options.uid;
  if (!options.version.empty()) body["preconditions"]["resourceVersion"] = options.version;
  if (!options.propagation.empty()) body["propagationPolicy"] = options.propagation;
  return body;
}

ResourcePath PodPath(const PodName& pod, std::string subresource) {
  return {kPods, pod.ns, pod.name, std::move(subresource)};
}

}  // namespace

std::string ListQuery(const ListOptions& options) {
  std::string query;
  AddParameter(query, "labelSelector", options.label_selector);
  AddParameter(query, "fieldSelector", options.field_selector);
  if (options.limit > 0) AddParameter(query, "limit", std::to_string(options.limit));
  AddParameter(query, "continue", options.next);
  return query;
}

Call GetCall(const ResourcePath& path) {
  return MakeCall("GET", path);
}

Call ListCall(const Resource& resource, const std::string& ns, const ListOptions& options) {
  Call call = MakeCall("GET", {resource, ns, "", ""});
  call.query = ListQuery(options);
  call.timeout = std::chrono::seconds(60);
  return call;
}

Call CreateCall(const ResourcePath& path, std::string body) {
  return MakeWrite("POST", path, std::move(body), Repeat::kOnlyUnseen);
}

Call UpdateCall(const ResourcePath& path, std::string body) {
  return MakeWrite("PUT", path, std::move(body), Repeat::kHarmless);
}

Call PatchCall(const ResourcePath& path, const PatchOptions& options, std::string body) {
  const bool same_end = options.type == PatchType::kMerge || options.type == PatchType::kApply;
  Call call =
      MakeWrite("PATCH", path, std::move(body), same_end ? Repeat::kHarmless : Repeat::kOnlyUnseen);
  call.content_type = ContentType(options.type);
  AddParameter(call.query, "fieldManager", options.field_manager);
  if (options.force == PatchOptions::Force::kYes) AddParameter(call.query, "force", "true");
  return call;
}

Call DeleteCall(const ResourcePath& path, const DeleteOptions& options) {
  const bool any = options.uid.empty() && options.version.empty();
  const Repeat repeat = any ? Repeat::kOnlyUnseen : Repeat::kHarmless;
  return MakeWrite("DELETE", path, DumpJson(DeleteBody(options)), repeat);
}

Call BindCall(const PodName& pod,
              const std::string& node,
              const std::map<std::string, std::string>& annotations) {
  Json body = {{"kind", "Binding"}, {"apiVersion", "v1"}};
  body["metadata"] = {{"name", pod.name}, {"namespace", pod.ns}};
  if (!pod.uid.empty()) body["metadata"]["uid"] = pod.uid;
  if (!pod.version.empty()) body["metadata"]["resourceVersion"] = pod.version;
  if (!annotations.empty()) body["metadata"]["annotations"] = annotations;
  body["target"] = {{"kind", "Node"}, {"apiVersion", "v1"}, {"name", node}};
  return MakeWrite("POST", PodPath(pod, "binding"), DumpJson(body), Repeat::kOnlyUnseen);
}

Call EvictCall(const PodName& pod, const DeleteOptions& options) {
  Json body = {{"kind", "Eviction"}, {"apiVersion", "policy/v1"}};
  body["metadata"] = {{"name", pod.name}, {"namespace", pod.ns}};
  DeleteOptions inner = options;
  if (inner.uid.empty()) inner.uid = pod.uid;
  body["deleteOptions"] = DeleteBody(inner);
  return MakeWrite("POST", PodPath(pod, "eviction"), DumpJson(body), Repeat::kOnlyUnseen);
}

}  // namespace strata::kube
