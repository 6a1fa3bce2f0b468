#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "model/volume_rules.h"
#include "objects/object_set.h"

namespace strata {

// Compiles what the volumes of pods demand, from the claims, volumes, storage classes and CSINodes
// of one set of objects, or of those put in one by one.
//
// A claim that the set does not hold but a controller would make (of an ephemeral volume, or of a
// Job that was expanded) is taken as made, and as bound in time if its class does not wait for the
// first pod. Each claim that waits is looked at by itself: that two of them want the one volume
// that is left is not seen.
class VolumeRulesReader {
 public:
  VolumeRulesReader() = default;
  // REQUIRES: `objects` outlives this.
  explicit VolumeRulesReader(const objects::ObjectSet& objects);

  // Objects are looked at where they are: each must stay there unchanged until it is dropped.
  // REQUIRES of Put: none of that name is in; of Drop: this one is.
  void Put(const objects::PersistentVolumeClaim& claim);
  void Put(const objects::PersistentVolume& volume);
  void Put(const objects::StorageClass& storage);
  void Put(const objects::CsiNode& node);
  void Drop(const objects::PersistentVolumeClaim& claim);
  void Drop(const objects::PersistentVolume& volume);
  void Drop(const objects::StorageClass& storage);
  void Drop(const objects::CsiNode& node);

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
  void FindDefaultClass();
  void CountLimits(const objects::CsiNode& node, int sign);
  // The class by name, or the default one; null when there is none. A name that no class has is a
  // refusal.
  [[nodiscard]] const objects::StorageClass* ClassOf(const Claim& claim, VolumeRules& out) const;

  template <typename T>
  using ByName = std::map<std::string, const T*, std::less<>>;

  ByName<objects::PersistentVolumeClaim> claims_;  // "namespace/name"
  ByName<objects::PersistentVolume> volumes_;
  ByName<objects::StorageClass> classes_;
  ByName<objects::CsiNode> csi_nodes_;
  const objects::StorageClass* default_class_ = nullptr;
  std::map<std::string, std::size_t, std::less<>> limited_;  // drivers, by how many CSINodes limit
};

}  // namespace strata
