#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/constraints.h"
#include "model/selector.h"
#include "objects/meta.h"

// Volumes: what the volume predicates and the volume limits look at.
namespace strata::objects {

enum class BindingMode : std::uint8_t { kImmediate, kWaitForFirstConsumer };

// The spec of a PersistentVolumeClaim, also inside an ephemeral volume of a pod.
struct ClaimSpec {
  std::vector<std::string> access_modes;
  Quantity storage;                          // resources.requests.storage
  std::optional<std::string> storage_class;  // none: the default class; "": no class
  std::string volume_name;                   // the PersistentVolume it is bound to, or wants
  std::optional<LabelSelector> selector;
  std::string volume_mode = "Filesystem";
};

// v1 PersistentVolumeClaim.
struct PersistentVolumeClaim {
  Metadata meta;
  ClaimSpec spec;
  std::string phase;  // "Pending", "Bound", "Lost"; "" when the object has no status
};

// v1 PersistentVolume.
struct PersistentVolume {
  Metadata meta;
  Quantity capacity;  // capacity.storage
  std::vector<std::string> access_modes;
  std::string storage_class;
  std::string claim_namespace;  // claimRef; "" when free
  std::string claim_name;
  std::string claim_uid;
  std::optional<std::vector<NodeSelectorTerm>> node_affinity;  // required terms, any of them
  std::string volume_mode = "Filesystem";
  std::string csi_driver;  // "" when it is not a CSI volume
  std::string csi_handle;
  std::string phase;
};

// storage.k8s.io/v1 StorageClass.
struct StorageClass {
  Metadata meta;
  std::string provisioner;
  BindingMode binding_mode = BindingMode::kImmediate;
  std::vector<NodeSelectorTerm> allowed_topologies;  // any of them; empty: everywhere
  bool is_default = false;
};

// storage.k8s.io/v1 CSINode.
struct CsiNode {
  struct Driver {
    std::string name;
    std::string node_id;
    std::vector<std::string> topology_keys;
    std::optional<std::int32_t> max_volumes;  // allocatable.count; none: unlimited
  };

  Metadata meta;  // its name is the node's
  std::vector<Driver> drivers;
};

}  // namespace strata::objects
