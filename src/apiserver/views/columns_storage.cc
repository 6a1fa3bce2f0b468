#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "apiserver/views/columns.h"
#include "json/access.h"
#include "json/dump.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

std::string AccessModes(const json& modes) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kShort = {
      {{"ReadWriteOnce", "RWO"},
       {"ReadOnlyMany", "ROX"},
       {"ReadWriteMany", "RWX"},
       {"ReadWriteOncePod", "RWOP"}}};
  std::string all;
  for (const auto& [mode, word] : kShort) {
    for (const json& entry : modes) {
      if (entry != mode) continue;
      all += (all.empty() ? "" : ",") + std::string(word);
      break;
    }
  }
  return all;
}

std::string Storage(const json& amounts) {
  const json* storage = FindAt(amounts, {"storage"});
  if (storage == nullptr) return {};
  return storage->is_string() ? storage->get<std::string>() : DumpJson(*storage);
}

std::string OrUnset(const std::string& text) {
  return text.empty() ? "<unset>" : text;
}

std::string PhaseOf(const json& object) {
  if (FindAt(object, {"metadata", "deletionTimestamp"}) != nullptr) return "Terminating";
  return TextAt(object, {"status", "phase"});
}

json VolumeCells(const json& object, Time now) {
  const json& spec = ObjectAt(object, {"spec"});
  const json* claim = FindAt(spec, {"claimRef"});
  return {NameOf(object),
          Storage(ObjectAt(spec, {"capacity"})),
          AccessModes(ListAt(spec, {"accessModes"})),
          TextAt(spec, {"persistentVolumeReclaimPolicy"}),
          PhaseOf(object),
          claim == nullptr ? "" : TextAt(*claim, {"namespace"}) + "/" + TextAt(*claim, {"name"}),
          TextAt(spec, {"storageClassName"}),
          OrUnset(TextAt(spec, {"volumeAttributesClassName"})),
          TextAt(object, {"status", "reason"}),
          ObjectAge(object, now),
          OrUnset(TextAt(spec, {"volumeMode"}))};
}

json ClaimCells(const json& object, Time now) {
  const json& spec = ObjectAt(object, {"spec"});
  const std::string& volume = TextAt(spec, {"volumeName"});
  const json& status = ObjectAt(object, {"status"});
  // What it requested is not its capacity yet.
  return {NameOf(object),
          PhaseOf(object),
          volume,
          volume.empty() ? "" : Storage(ObjectAt(status, {"capacity"})),
          volume.empty() ? "" : AccessModes(ListAt(status, {"accessModes"})),
          TextAt(spec, {"storageClassName"}),
          OrUnset(TextAt(spec, {"volumeAttributesClassName"})),
          ObjectAge(object, now),
          OrUnset(TextAt(spec, {"volumeMode"}))};
}

json StorageClassCells(const json& object, Time now) {
  std::string name = NameOf(object);
  for (const std::string_view key : {"storageclass.kubernetes.io/is-default-class",
                                     "storageclass.beta.kubernetes.io/is-default-class"}) {
    if (TextAt(object, {"metadata", "annotations", key}) != "true") continue;
    name += " (default)";
    break;
  }
  return {std::move(name),
          TextAt(object, {"provisioner"}),
          TextAt(object, {"reclaimPolicy"}),
          TextAt(object, {"volumeBindingMode"}),
          BoolAt(object, {"allowVolumeExpansion"}),
          ObjectAge(object, now)};
}

json CsiNodeCells(const json& object, Time now) {
  return {NameOf(object), ListAt(object, {"spec", "drivers"}).size(), ObjectAge(object, now)};
}

json CreatedAtCells(const json& object, Time /*now*/) {
  return {NameOf(object), TextAt(object, {"metadata", "creationTimestamp"})};
}

}  // namespace

std::vector<KindColumns> StorageColumns() {
  std::vector<Column> created = NameAnd({"Created At"});
  created.back().type = "date";
  return {
      {"",
       "PersistentVolume",
       NameAnd({"Capacity",
                "Access Modes",
                "Reclaim Policy",
                "Status",
                "Claim",
                "StorageClass",
                "VolumeAttributesClass",
                "Reason",
                "Age",
                "VolumeMode+"}),
       VolumeCells},
      {"",
       "PersistentVolumeClaim",
       NameAnd({"Status",
                "Volume",
                "Capacity",
                "Access Modes",
                "StorageClass",
                "VolumeAttributesClass",
                "Age",
                "VolumeMode+"}),
       ClaimCells},
      {"storage.k8s.io",
       "StorageClass",
       NameAnd(
           {"Provisioner", "ReclaimPolicy", "VolumeBindingMode", "AllowVolumeExpansion", "Age"}),
       StorageClassCells},
      {"storage.k8s.io", "CSINode", NameAnd({"Drivers#", "Age"}), CsiNodeCells},
      {"apiextensions.k8s.io", "CustomResourceDefinition", created, CreatedAtCells},
  };
}

}  // namespace strata::apiserver
