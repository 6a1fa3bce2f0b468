#include "patch/managers.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

#include "json/access.h"
#include "patch/limits.h"

namespace strata::patch {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxUpdaters = 10;
constexpr std::string_view kOldest = "ancient-changes";

const Json* ManagedFields(const Json& object) {
  const auto metadata = object.find("metadata");
  if (metadata == object.end() || !metadata->is_object()) return nullptr;
  const auto fields = metadata->find("managedFields");
  return fields == metadata->end() ? nullptr : &*fields;
}

std::optional<Manager> ReadManager(const Json& entry) {
  if (!entry.is_object()) return std::nullopt;
  Manager manager{.name = TextAt(entry, {"manager"}),
                  .operation = TextAt(entry, {"operation"}),
                  .api_version = TextAt(entry, {"apiVersion"}),
                  .subresource = TextAt(entry, {"subresource"}),
                  .time = TextAt(entry, {"time"})};
  if (manager.operation != "Apply" && manager.operation != "Update") return std::nullopt;
  if (manager.api_version.empty() || TextAt(entry, {"fieldsType"}) != "FieldsV1") {
    return std::nullopt;
  }
  const auto fields = entry.find("fieldsV1");
  if (fields == entry.end()) return manager;
  Result<FieldSet> set = FieldSet::FromJson(*fields);
  if (!set) return std::nullopt;
  manager.fields = *std::move(set);
  return manager;
}

Json WriteManager(const Manager& manager) {
  Json entry = {{"apiVersion", manager.api_version},
                {"fieldsType", "FieldsV1"},
                {"manager", manager.name},
                {"operation", manager.operation}};
  entry["fieldsV1"] = manager.fields.ToJson();
  if (!manager.subresource.empty()) entry["subresource"] = manager.subresource;
  if (!manager.time.empty()) entry["time"] = manager.time;
  return entry;
}

bool ComesFirst(const Manager& a, const Manager& b) {
  return std::tie(a.operation, a.time, a.name, a.api_version, a.subresource) <
         std::tie(b.operation, b.time, b.name, b.api_version, b.subresource);
}

}  // namespace

bool Manager::IsSameAs(const Manager& other) const {
  if (std::tie(name, operation, subresource) !=
      std::tie(other.name, other.operation, other.subresource)) {
    return false;
  }
  return Applies() || api_version == other.api_version;
}

std::optional<Managers> ReadManagers(const Json& object) {
  Managers managers;
  const Json* entries = ManagedFields(object);
  if (entries == nullptr || entries->is_null()) return managers;
  if (!entries->is_array() || entries->size() > kMaxManagers) return std::nullopt;
  for (const Json& entry : *entries) {
    std::optional<Manager> manager = ReadManager(entry);
    if (!manager) return std::nullopt;
    Manager* same = FindManager(managers, *manager);
    if (same != nullptr) {
      same->fields.Add(std::move(manager->fields));
    } else {
      managers.push_back(*std::move(manager));
    }
  }
  return managers;
}

bool AsksForReset(const Json& object) {
  const Json* entries = ManagedFields(object);
  return entries != nullptr && entries->is_array() && entries->size() == 1 &&
         entries->front().is_object() && entries->front().empty();
}

void WriteManagers(Managers managers, Json& object) {
  managers.erase(std::remove_if(managers.begin(),
                                managers.end(),
                                [](const Manager& manager) { return manager.fields.IsEmpty(); }),
                 managers.end());
  if (managers.empty()) return RemoveManagedFields(object);
  std::sort(managers.begin(), managers.end(), ComesFirst);
  Json entries = Json::array();
  for (const Manager& manager : managers) entries.push_back(WriteManager(manager));
  Json& metadata = object["metadata"];
  if (!metadata.is_object()) metadata = Json::object();
  metadata["managedFields"] = std::move(entries);
}

void RemoveManagedFields(Json& object) {
  const auto metadata = object.find("metadata");
  if (metadata != object.end() && metadata->is_object()) metadata->erase("managedFields");
}

Manager* FindManager(Managers& managers, const Manager& writer) {
  const auto found = std::find_if(managers.begin(), managers.end(), [&writer](const Manager& one) {
    return one.IsSameAs(writer);
  });
  return found == managers.end() ? nullptr : &*found;
}

void MergeOldest(Managers& managers) {
  std::vector<Manager> updaters;
  Managers kept;
  for (Manager& manager : managers) {
    (manager.Applies() ? kept : updaters).push_back(std::move(manager));
  }
  std::sort(updaters.begin(), updaters.end(), ComesFirst);
  std::map<std::string, std::size_t> bucket_of;  // by version, a place in `kept`
  std::size_t left = updaters.size();
  for (Manager& updater : updaters) {
    const auto bucket = bucket_of.find(updater.api_version);
    if (left <= kMaxUpdaters || bucket == bucket_of.end()) {
      bucket_of.emplace(updater.api_version, kept.size());
      kept.push_back(std::move(updater));
      continue;
    }
    Manager& merged = kept[bucket->second];
    merged.name = kOldest;
    merged.subresource.clear();
    merged.fields.Add(std::move(updater.fields));
    merged.time = updater.time;
    --left;
  }
  managers = std::move(kept);
}

}  // namespace strata::patch
