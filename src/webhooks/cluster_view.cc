#include "webhooks/cluster_view.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <nlohmann/json.hpp>

#include "json/access.h"
#include "json/dump.h"
#include "json/parse.h"

namespace strata::webhooks {
namespace {

using nlohmann::json;

// The part of an object that some rule reads.
json KeptPart(const kube::Resource& resource, const json& object) {
  if (resource == kube::kPodGroups) {
    return {{"spec", {{"queue", TextAt(object, {"spec", "queue"})}}}};
  }
  json kept = {{"metadata", {{"annotations", ObjectAt(object, {"metadata", "annotations"})}}}};
  if (resource != kube::kQueues) return kept;
  kept["metadata"]["name"] = TextAt(object, {"metadata", "name"});
  for (const char* part : {"spec", "status"}) {
    if (const json* found = FindAt(object, {part})) kept[part] = *found;
  }
  return kept;
}

}  // namespace

std::vector<kube::Resource> WatchedBy(std::span<const Webhook* const> webhooks) {
  const auto asked = [&](std::string_view path) {
    return std::any_of(webhooks.begin(), webhooks.end(), [path](const Webhook* webhook) {
      return webhook->path == path;
    });
  };
  std::vector<kube::Resource> watched;
  if (asked("/jobs/mutate") || asked("/jobs/validate") || asked("/podgroups/validate") ||
      asked("/queues/mutate") || asked("/queues/validate")) {
    watched.push_back(kube::kQueues);
  }
  if (asked("/queues/validate")) watched.push_back(kube::kPodGroups);
  if (asked("/podgroups/mutate")) watched.push_back(kube::kNamespaces);
  return watched;
}

std::string FullNameOf(const kube::Resource& resource) {
  std::string name(resource.plural);
  if (!resource.group.empty()) name.append(1, '.').append(resource.group);
  return name;
}

Result<admission::ObjectRef> KeepObject(const kube::Resource& resource,
                                        const admission::ObjectKey& key,
                                        const std::string& text) {
  TRY_ASSIGN(const json object, ParseJson(text));
  auto stored = std::make_shared<admission::StoredObject>();
  stored->ns = key.ns;
  stored->name = key.name;
  stored->uid = TextAt(object, {"metadata", "uid"});
  stored->body = DumpJson(KeptPart(resource, object));
  return Result<admission::ObjectRef>(std::move(stored));
}

ClusterView::ClusterView(std::vector<kube::Resource> watched) : watched_(std::move(watched)) {}

Status ClusterView::Take(const kube::Delta& delta) {
  if (delta.type == kube::Delta::Type::kSynced) {
    ++synced_;
    return {};
  }
  const kube::Resource& resource = watched_[static_cast<std::size_t>(delta.source)];
  const admission::ObjectKey key{FullNameOf(resource), delta.key.ns, delta.key.name};
  objects_.erase(key);
  if (delta.type == kube::Delta::Type::kDeleted) return {};
  TRY_ASSIGN(objects_[key], KeepObject(resource, key, delta.text));
  return {};
}

admission::ObjectRef ClusterView::GetLatest(const admission::ObjectKey& key) const {
  const auto found = objects_.find(key);
  return found == objects_.end() ? nullptr : found->second;
}

void ClusterView::VisitLatest(
    const std::string& resource,
    const std::string& ns,
    const std::function<bool(const admission::StoredObject&)>& visit) const {
  for (auto at = objects_.lower_bound({resource, ns, ""});
       at != objects_.end() && at->first.resource == resource;
       ++at) {
    if (!ns.empty() && at->first.ns != ns) return;
    if (!visit(*at->second)) return;
  }
}

}  // namespace strata::webhooks
