#include "objects/storage.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "objects/readers.h"
#include "objects/syntax.h"

namespace strata::objects {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kVolumeModes = {
    {{"Filesystem", "Filesystem"}, {"Block", "Block"}}};

void ReadVolumeMode(const Cursor& at, std::string& out) {
  std::string_view mode = out;
  at.ReadEnum(mode, kVolumeModes);
  out = std::string(mode);
}

void ReadAccessModes(const Cursor& at, std::vector<std::string>& out) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kModes = {
      {{"ReadWriteOnce", "ReadWriteOnce"},
       {"ReadOnlyMany", "ReadOnlyMany"},
       {"ReadWriteMany", "ReadWriteMany"},
       {"ReadWriteOncePod", "ReadWriteOncePod"}}};
  at.ForEach([&](const Cursor& item) {
    std::string_view mode;
    item.ReadEnum(mode, kModes);
    out.emplace_back(mode);
  });
}

}  // namespace

void ReadClaimSpec(const Cursor& at, ClaimSpec& out) {
  ReadAccessModes(at.At("accessModes"), out.access_modes);
  const Cursor resources = at.At("resources");
  const Cursor requests = resources.At("requests");
  requests.At("storage").Read(out.storage);
  at.At("storageClassName").Read(out.storage_class);
  at.At("volumeName").Read(out.volume_name);
  const Cursor selector = at.At("selector");
  if (selector.present()) ReadLabelSelector(selector, out.selector.emplace());
  ReadVolumeMode(at.At("volumeMode"), out.volume_mode);
}

void ReadObject(const Cursor& object, PersistentVolumeClaim& out) {
  ReadClaimSpec(object.At("spec"), out.spec);
  const Cursor status = object.At("status");
  status.At("phase").Read(out.phase);
}

void ReadObject(const Cursor& object, PersistentVolume& out) {
  const Cursor spec = object.At("spec");
  const Cursor capacity = spec.At("capacity");
  capacity.At("storage").Read(out.capacity);
  ReadAccessModes(spec.At("accessModes"), out.access_modes);
  spec.At("storageClassName").Read(out.storage_class);
  const Cursor claim = spec.At("claimRef");
  claim.At("namespace").Read(out.claim_namespace);
  claim.At("name").Read(out.claim_name);
  claim.At("uid").Read(out.claim_uid);
  const Cursor affinity = spec.At("nodeAffinity");
  const Cursor required = affinity.At("required");
  if (required.present()) {
    ReadNodeSelectorTerms(required.At("nodeSelectorTerms").Required(), out.node_affinity.emplace());
  }
  ReadVolumeMode(spec.At("volumeMode"), out.volume_mode);
  const Cursor csi = spec.At("csi");
  csi.At("driver").Read(out.csi_driver);
  csi.At("volumeHandle").Read(out.csi_handle);
  const Cursor status = object.At("status");
  status.At("phase").Read(out.phase);
}

void ReadObject(const Cursor& object, StorageClass& out) {
  constexpr std::array<std::pair<std::string_view, BindingMode>, 2> kModes = {
      {{"Immediate", BindingMode::kImmediate},
       {"WaitForFirstConsumer", BindingMode::kWaitForFirstConsumer}}};
  object.At("provisioner").Required().Read(out.provisioner);
  object.At("volumeBindingMode").ReadEnum(out.binding_mode, kModes);
  object.At("allowedTopologies")
      .ReadList(out.allowed_topologies, [](const Cursor& item, NodeSelectorTerm& term) {
        item.At("matchLabelExpressions")
            .ReadList(term.labels, [](const Cursor& at, Requirement& requirement) {
              at.At("key").Required().Read(requirement.key);
              CheckLabelKey(at.At("key"), requirement.key);
              at.At("values").Required().Read(requirement.values);
              std::sort(requirement.values.begin(), requirement.values.end());
              if (requirement.values.empty()) at.At("values").Fail("want at least one value");
            });
      });
  for (const std::string_view key : {"storageclass.kubernetes.io/is-default-class",
                                     "storageclass.beta.kubernetes.io/is-default-class"}) {
    const std::string* value = Find(out.meta.annotations, key);
    out.is_default = out.is_default || (value != nullptr && *value == "true");
  }
}

void ReadObject(const Cursor& object, CsiNode& out) {
  const Cursor spec = object.At("spec");
  spec.At("drivers").ReadList(out.drivers, [](const Cursor& item, CsiNode::Driver& driver) {
    item.At("name").Required().Read(driver.name);
    item.At("nodeID").Read(driver.node_id);
    item.At("topologyKeys").Read(driver.topology_keys);
    const Cursor allocatable = item.At("allocatable");
    allocatable.At("count").Read(driver.max_volumes, kCount32);
  });
}

}  // namespace strata::objects
