#include "controllers/cache.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <nlohmann/json.hpp>

#include "controllers/object_meta.h"
#include "json/access.h"
#include "json/parse.h"
#include "objects/pod_group.h"

namespace strata::controllers {
namespace {

using nlohmann::json;

json MetadataOnly(const json& object) {
  json kept = json::object();
  for (const char* key : {"apiVersion", "kind", "metadata"}) {
    if (const json* value = FindAt(object, {key})) kept[key] = *value;
  }
  return kept;
}

// Without what changes with every heartbeat; with what garbage collection looks at.
json NodeOnly(const json& node) {
  json meta = json::object();
  for (const char* key :
       {"name", "uid", "labels", "ownerReferences", "finalizers", "deletionTimestamp"}) {
    if (const json* value = FindAt(node, {"metadata", key})) meta[key] = *value;
  }
  return {{"metadata", std::move(meta)},
          {"status", {{"addresses", ListAt(node, {"status", "addresses"})}}}};
}

void DropManagedFields(json& object) {
  if (const auto meta = object.find("metadata"); meta != object.end() && meta->is_object()) {
    meta->erase("managedFields");
  }
}

bool HasGroup(const json& pod) {
  return !TextAt(pod, {"metadata", "annotations", objects::kGroupNameAnnotation}).empty();
}

}  // namespace

std::uint64_t VersionOf(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

Cache::Cache(std::vector<Watched> watched)
    : watched_(std::move(watched)), tables_(watched_.size()) {}

Cache::Change Cache::Take(const kube::Delta& delta) {
  const auto source = static_cast<std::size_t>(delta.source);
  const Watched& watched = watched_[source];
  Change change{.type = delta.type,
                .source = delta.source,
                .resource = &watched.spec.resource,
                .key = delta.key,
                .uid = delta.uid,
                .version = delta.version,
                .seen = nullptr,
                .same = false,
                .pod = nullptr};
  if (delta.type == kube::Delta::Type::kSynced) return change;
  json object = ParseJsonOrNull(delta.text);  // outside of the lock
  const WriterLock lock(mutex_);
  Table& table = tables_[source];
  table.newest = std::max(table.newest, VersionOf(delta.version));
  if (delta.type == kube::Delta::Type::kDeleted) {
    if (const auto found = table.objects.find(delta.key); found != table.objects.end()) {
      change.seen = found->second;
      table.objects.erase(found);
    }
    if (watched.keep == Keep::kPod) ForgetPod(delta.key, change);
    if (object.is_object()) change.seen = std::make_shared<const json>(std::move(object));
    return change;
  }
  if (!object.is_object()) return change;
  if (watched.keep == Keep::kPod) {
    TakePod(delta, object, change);
    DropManagedFields(object);
  }
  const bool lone_pod = watched.keep == Keep::kPod && !HasGroup(object);
  if (watched.keep == Keep::kWhole || lone_pod) {
    change.seen = std::make_shared<const json>(std::move(object));
    table.objects[delta.key] = change.seen;
  } else {
    change.seen = std::make_shared<const json>(watched.keep == Keep::kNode ? NodeOnly(object)
                                                                           : MetadataOnly(object));
    if (watched.keep == Keep::kPod) {
      table.objects.erase(delta.key);
    } else {
      ObjectRef& kept = table.objects[delta.key];
      change.same = kept != nullptr && *kept == *change.seen;
      kept = change.seen;
    }
  }
  return change;
}

void Cache::TakePod(const kube::Delta& delta, const json& object, Change& change) {
  PodSeen seen = SeePod(object);
  if (watched_[static_cast<std::size_t>(change.source)].pod_labels) {
    for (const auto& [key, value] : ObjectAt(object, {"metadata", "labels"}).items()) {
      if (value.is_string()) seen.labels[key] = value.get<std::string>();
    }
  }
  change.pod = std::make_shared<const PodSeen>(std::move(seen));
  PodRef& known = pods_[delta.key];
  if (known != nullptr) pods_of_[known->owner_uid].erase(delta.key);
  known = change.pod;
  pods_of_[known->owner_uid].insert(delta.key);
}

void Cache::ForgetPod(const kube::ObjectKey& key, Change& change) {
  const auto found = pods_.find(key);
  if (found == pods_.end()) return;
  change.pod = found->second;
  const auto owned = pods_of_.find(found->second->owner_uid);
  owned->second.erase(key);
  if (owned->second.empty()) pods_of_.erase(owned);
  pods_.erase(found);
}

const Cache::Table* Cache::TableOf(const kube::Resource& resource) const {
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    const kube::WatchSpec& spec = watched_[i].spec;
    if (spec.resource == resource && spec.field_selector.empty()) return &tables_[i];
  }
  return nullptr;
}

ObjectRef Cache::Find(const kube::Resource& resource, const kube::ObjectKey& key) const {
  const ReaderLock lock(mutex_);
  const Table* table = TableOf(resource);
  if (table == nullptr) return nullptr;
  const auto found = table->objects.find(key);
  return found == table->objects.end() ? nullptr : found->second;
}

std::vector<ObjectRef> Cache::All(const kube::Resource& resource) const {
  const ReaderLock lock(mutex_);
  std::vector<ObjectRef> all;
  const Table* table = TableOf(resource);
  if (table == nullptr) return all;
  all.reserve(table->objects.size());
  for (const auto& [key, object] : table->objects) all.push_back(object);
  return all;
}

std::vector<PodSeen> Cache::PodsOf(const std::string& owner_uid) const {
  const ReaderLock lock(mutex_);
  std::vector<PodSeen> pods;
  const auto owned = pods_of_.find(owner_uid);
  if (owned == pods_of_.end()) return pods;
  for (const kube::ObjectKey& key : owned->second) pods.push_back(*pods_.find(key)->second);
  return pods;
}

std::vector<PodSeen> Cache::PodsIn(const std::string& ns) const {
  const ReaderLock lock(mutex_);
  std::vector<PodSeen> pods;
  for (auto it = pods_.lower_bound({ns, ""}); it != pods_.end() && it->first.ns == ns; ++it) {
    pods.push_back(*it->second);
  }
  return pods;
}

std::vector<PodSeen> Cache::PodsOn(const std::string& node) const {
  const ReaderLock lock(mutex_);
  std::vector<PodSeen> pods;
  for (const auto& [key, pod] : pods_) {
    if (pod->node == node) pods.push_back(*pod);
  }
  return pods;
}

bool Cache::HasSeen(const Expectation& expectation) const {
  const ReaderLock lock(mutex_);
  const Table* table = TableOf(expectation.resource);
  if (table == nullptr) return true;
  if (expectation.version > 0) return table->newest >= expectation.version;
  const auto found = table->objects.find(expectation.key);
  return found == table->objects.end() ||
         TextAt(*found->second, {"metadata", "uid"}) != expectation.uid;
}

}  // namespace strata::controllers
