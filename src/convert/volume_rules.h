#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "model/volume_rules.h"
#include "objects/object_set.h"

namespace strata {

// Compiles what the volumes of pods demand, from the claims, volumes, storage classes and CSINodes
// of one set of objects.
//
// A claim that the set does not hold but a controller would make (of an ephemeral volume, or of a
// Job that was expanded) is taken as made, and as bound in time if its class does not wait for the
// first pod. Each claim that waits is looked at by itself: that two of them want the one volume
// that is left is not seen.
class VolumeRulesReader {
 public:
  // REQUIRES: `objects` outlives this.
  explicit VolumeRulesReader(const objects::ObjectSet& objects);

  [[nodiscard]] VolumeRules RulesOf(const objects::Pod& pod) const;
  [[nodiscard]] VolumeLimits LimitsOf(std::string_view node) const;

 private:
  // One claim, given or to be made.
  struct Claim {
    std::string name;       // of the object
    std::string full_name;  // with its namespace
    const objects::ClaimSpec* spec = nullptr;
    bool given = true;
  };

  void AddVolume(const objects::Pod& pod, const objects::Volume& volume, VolumeRules& out) const;
  void AddClaim(const Claim& claim, VolumeRules& out) const;
  void AddBound(const Claim& claim, VolumeRules& out) const;
  void AddUnbound(const Claim& claim, VolumeRules& out) const;
  void AddWaiting(const Claim& claim, const objects::StorageClass& storage, VolumeRules& out) const;
  void Attach(const std::string& driver, const std::string& handle, VolumeRules& out) const;
  // The class by name, or the default one; null when there is none. A name that nobody bears is a
  // refusal.
  [[nodiscard]] const objects::StorageClass* ClassOf(const Claim& claim, VolumeRules& out) const;

  template <typename T>
  using ByName = std::map<std::string, const T*, std::less<>>;

  ByName<objects::PersistentVolumeClaim> claims_;  // "namespace/name"
  ByName<objects::PersistentVolume> volumes_;
  ByName<objects::StorageClass> classes_;
  ByName<objects::CsiNode> csi_nodes_;
  const objects::StorageClass* default_class_ = nullptr;
  std::set<std::string, std::less<>> limited_;  // drivers that a CSINode limits
};

}  // namespace strata
