#include "convert/volume_rules.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "objects/pod.h"

namespace strata {
namespace {

constexpr std::string_view kNoProvisioner = "kubernetes.io/no-provisioner";
constexpr std::string_view kExclusiveMode = "ReadWriteOncePod";

// Each label of a zone, and its older or newer name.
constexpr std::array<std::pair<const char*, const char*>, 4> kZoneLabels = {{
    {"topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"},
    {"topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"},
    {"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
    {"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"},
}};

void Refuse(VolumeRules& out, std::string why) {
  if (out.refusal.empty()) out.refusal = std::move(why);
}

// "a__b" means zone a or b.
std::vector<std::string> SplitZones(std::string_view text) {
  constexpr std::string_view kBetween = "__";
  std::vector<std::string> zones;
  while (true) {
    const std::size_t end = text.find(kBetween);
    zones.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + kBetween.size());
  }
  std::sort(zones.begin(), zones.end());
  return zones;
}

std::vector<VolumeRules::AnyOf> ZonesOf(const objects::PersistentVolume& volume) {
  std::vector<VolumeRules::AnyOf> zones;
  for (const auto& [label, other_name] : kZoneLabels) {
    const std::string* value = objects::Find(volume.meta.labels, label);
    if (value == nullptr) continue;
    VolumeRules::AnyOf terms;
    for (const char* key : {label, other_name}) {
      terms.push_back({.labels = {{key, SelectorOp::kIn, SplitZones(*value)}}, .fields = {}});
    }
    zones.push_back(std::move(terms));
  }
  return zones;
}

bool HasMode(const std::vector<std::string>& modes, std::string_view mode) {
  return std::find(modes.begin(), modes.end(), mode) != modes.end();
}

// A volume that nobody has and the claim could have.
bool Suits(const objects::PersistentVolume& volume,
           const objects::ClaimSpec& claim,
           std::string_view full_name,
           const std::string& storage_class) {
  if (!volume.claim_name.empty() && volume.claim_namespace + "/" + volume.claim_name != full_name) {
    return false;
  }
  if (volume.storage_class != storage_class || volume.volume_mode != claim.volume_mode) {
    return false;
  }
  if (volume.capacity < claim.storage) return false;
  if (claim.selector && !claim.selector->Matches(volume.meta.labels)) return false;
  return std::all_of(claim.access_modes.begin(),
                     claim.access_modes.end(),
                     [&](const std::string& mode) { return HasMode(volume.access_modes, mode); });
}

template <typename T, typename Map>
const T* FindIn(const Map& map, std::string_view name) {
  const auto it = map.find(name);
  return it == map.end() ? nullptr : it->second;
}

template <typename T>
void SortUnique(std::vector<T>& items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

}  // namespace

VolumeRulesReader::VolumeRulesReader(const objects::ObjectSet& objects) {
  for (const auto& claim : objects.claims) Put(claim);
  for (const auto& volume : objects.volumes) Put(volume);
  for (const auto& storage : objects.storage_classes) Put(storage);
  for (const auto& node : objects.csi_nodes) Put(node);
}

void VolumeRulesReader::Put(const objects::PersistentVolumeClaim& claim) {
  claims_[objects::NamespacedName(claim.meta)] = &claim;
}

void VolumeRulesReader::Put(const objects::PersistentVolume& volume) {
  volumes_[volume.meta.name] = &volume;
}

void VolumeRulesReader::Put(const objects::StorageClass& storage) {
  classes_[storage.meta.name] = &storage;
  FindDefaultClass();
}

void VolumeRulesReader::Put(const objects::CsiNode& node) {
  csi_nodes_[node.meta.name] = &node;
  CountLimits(node, +1);
}

void VolumeRulesReader::Drop(const objects::PersistentVolumeClaim& claim) {
  claims_.erase(objects::NamespacedName(claim.meta));
}

void VolumeRulesReader::Drop(const objects::PersistentVolume& volume) {
  volumes_.erase(volume.meta.name);
}

void VolumeRulesReader::Drop(const objects::StorageClass& storage) {
  classes_.erase(storage.meta.name);
  FindDefaultClass();
}

void VolumeRulesReader::Drop(const objects::CsiNode& node) {
  csi_nodes_.erase(node.meta.name);
  CountLimits(node, -1);
}

void VolumeRulesReader::FindDefaultClass() {
  default_class_ = nullptr;
  for (const auto& [name, storage] : classes_) {
    // Among several defaults Kubernetes takes the newest, then the lower name.
    if (!storage->is_default) continue;
    if (default_class_ == nullptr || storage->meta.created > default_class_->meta.created) {
      default_class_ = storage;
    }
  }
}

void VolumeRulesReader::CountLimits(const objects::CsiNode& node, int sign) {
  for (const auto& driver : node.drivers) {
    if (!driver.max_volumes) continue;
    const auto limited = limited_.try_emplace(driver.name, 0).first;
    limited->second += static_cast<std::size_t>(sign);
    if (limited->second == 0) limited_.erase(limited);
  }
}

VolumeLimits VolumeRulesReader::LimitsOf(std::string_view node) const {
  VolumeLimits limits;
  if (const auto* known = FindIn<objects::CsiNode>(csi_nodes_, node)) {
    for (const auto& driver : known->drivers) {
      if (driver.max_volumes) limits[driver.name] = *driver.max_volumes;
    }
  }
  return limits;
}

VolumeRules VolumeRulesReader::RulesOf(const objects::Pod& pod) const {
  VolumeRules rules;
  for (const objects::Volume& volume : pod.spec.volumes) AddVolume(pod, volume, rules);
  SortUnique(rules.attached);
  SortUnique(rules.exclusive);
  return rules;
}

void VolumeRulesReader::AddVolume(const objects::Pod& pod,
                                  const objects::Volume& volume,
                                  VolumeRules& out) const {
  Claim claim;
  claim.name = objects::ClaimNameOf(pod, volume);
  if (claim.name.empty()) return;
  claim.full_name = pod.meta.ns + "/" + claim.name;
  const auto* known = FindIn<objects::PersistentVolumeClaim>(claims_, claim.full_name);
  if (known == nullptr && !volume.ephemeral) {
    return Refuse(out, fmt::format("persistentvolumeclaim \"{}\" not found", claim.name));
  }
  claim.spec = known == nullptr ? &*volume.ephemeral : &known->spec;
  claim.given = known != nullptr && !known->meta.source.empty();
  if (known != nullptr && known->meta.deleted) {
    return Refuse(out, fmt::format("persistentvolumeclaim \"{}\" is being deleted", claim.name));
  }
  if (known != nullptr && known->phase == "Lost") {
    return Refuse(
        out,
        fmt::format("persistentvolumeclaim \"{}\" bound to non-existent persistentvolume \"{}\"",
                    claim.name,
                    known->spec.volume_name));
  }
  AddClaim(claim, out);
}

void VolumeRulesReader::AddClaim(const Claim& claim, VolumeRules& out) const {
  if (HasMode(claim.spec->access_modes, kExclusiveMode)) out.exclusive.push_back(claim.full_name);
  claim.spec->volume_name.empty() ? AddUnbound(claim, out) : AddBound(claim, out);
}

void VolumeRulesReader::AddBound(const Claim& claim, VolumeRules& out) const {
  const auto* volume = FindIn<objects::PersistentVolume>(volumes_, claim.spec->volume_name);
  if (volume == nullptr) {
    return Refuse(out, "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)");
  }
  if (volume->node_affinity) out.bound.push_back(*volume->node_affinity);
  for (VolumeRules::AnyOf& terms : ZonesOf(*volume)) out.zones.push_back(std::move(terms));
  Attach(volume->csi_driver, volume->csi_handle, out);
}

const objects::StorageClass* VolumeRulesReader::ClassOf(const Claim& claim,
                                                        VolumeRules& out) const {
  if (!claim.spec->storage_class) return default_class_;
  if (claim.spec->storage_class->empty()) return nullptr;
  const auto* storage = FindIn<objects::StorageClass>(classes_, *claim.spec->storage_class);
  if (storage == nullptr) {
    Refuse(out,
           fmt::format("storageclass.storage.k8s.io \"{}\" not found", *claim.spec->storage_class));
  }
  return storage;
}

void VolumeRulesReader::AddUnbound(const Claim& claim, VolumeRules& out) const {
  const objects::StorageClass* storage = ClassOf(claim, out);
  if (storage != nullptr && storage->binding_mode == objects::BindingMode::kWaitForFirstConsumer) {
    return AddWaiting(claim, *storage, out);
  }
  if (claim.given) Refuse(out, "pod has unbound immediate PersistentVolumeClaims");
}

void VolumeRulesReader::AddWaiting(const Claim& claim,
                                   const objects::StorageClass& storage,
                                   VolumeRules& out) const {
  const bool provisions = storage.provisioner != kNoProvisioner;
  if (provisions) Attach(storage.provisioner, claim.full_name, out);
  if (provisions && storage.allowed_topologies.empty()) return;
  VolumeRules::AnyOf places;
  if (provisions) places = storage.allowed_topologies;
  for (const auto& [name, volume] : volumes_) {
    if (!Suits(*volume, *claim.spec, claim.full_name, storage.meta.name)) continue;
    if (!volume->node_affinity) return;  // reached from every node
    places.insert(places.end(), volume->node_affinity->begin(), volume->node_affinity->end());
  }
  SortUnique(places);
  out.waiting.push_back(std::move(places));
}

void VolumeRulesReader::Attach(const std::string& driver,
                               const std::string& handle,
                               VolumeRules& out) const {
  if (limited_.contains(driver)) out.attached.push_back({driver, handle});
}

}  // namespace strata
