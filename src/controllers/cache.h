#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/mutex.h"
#include "controllers/pod_seen.h"
#include "kube/delta.h"
#include "kube/reflector_state.h"
#include "kube/resource.h"

namespace strata::controllers {

using ObjectRef = std::shared_ptr<const nlohmann::json>;
using PodRef = std::shared_ptr<const PodSeen>;

// What the controllers have seen of the cluster, one table for each informer. Thread-safe; what is
// given out stays as it is.
class Cache {
 public:
  enum class Keep : std::uint8_t {
    kWhole,
    kPod,       // PodSeen; whole only while it has no PodGroup
    kMetadata,  // apiVersion, kind and metadata
    kNode,      // name, uid, labels, addresses, owners, and whether it is being deleted
  };
  struct Watched {
    kube::WatchSpec spec;
    Keep keep = Keep::kWhole;
    bool pod_labels = false;  // of pods: PodSeen::labels, too
  };
  // Deltas of source i are of watched[i]. A table that has a part of a collection only is left out
  // of what is asked by resource.
  explicit Cache(std::vector<Watched> watched);

  // What one delta changed. `seen` is the object as it is now, or as it was last seen; null when
  // that is not known.
  struct Change {
    kube::Delta::Type type = kube::Delta::Type::kSynced;
    int source = 0;
    const kube::Resource* resource = nullptr;
    kube::ObjectKey key;
    std::string uid;
    std::string version;
    ObjectRef seen;
    bool same = false;  // what is kept of the object is as it was
    PodRef pod;         // of pods: as it is now, or as it was last seen
  };
  [[nodiscard]] Change Take(const kube::Delta& delta);

  // nullptr when there is none.
  [[nodiscard]] ObjectRef Find(const kube::Resource& resource, const kube::ObjectKey& key) const;
  // By namespace and name.
  [[nodiscard]] std::vector<ObjectRef> All(const kube::Resource& resource) const;
  // Pods that the owner controls, by namespace and name.
  [[nodiscard]] std::vector<PodSeen> PodsOf(const std::string& owner_uid) const;

  // All pods of a namespace, by name.
  [[nodiscard]] std::vector<PodSeen> PodsIn(const std::string& ns) const;

  // All pods that have this node. COST: a look at every pod.
  [[nodiscard]] std::vector<PodSeen> PodsOn(const std::string& node) const;

  // Whether what a write left has been seen.
  struct Expectation {
    kube::Resource resource;
    kube::ObjectKey key;
    std::string uid;
    std::uint64_t version = 0;  // 0: the object is gone
  };
  [[nodiscard]] bool HasSeen(const Expectation& expectation) const;

  [[nodiscard]] const std::vector<Watched>& watched() const { return watched_; }

 private:
  struct Table {
    std::map<kube::ObjectKey, ObjectRef> objects;
    std::uint64_t newest = 0;  // version
  };

  [[nodiscard]] const Table* TableOf(const kube::Resource& resource) const REQUIRES_SHARED(mutex_);
  void TakePod(const kube::Delta& delta, const nlohmann::json& object, Change& change)
      REQUIRES(mutex_);
  void ForgetPod(const kube::ObjectKey& key, Change& change) REQUIRES(mutex_);

  const std::vector<Watched> watched_;
  mutable SharedMutex mutex_;
  std::vector<Table> tables_ GUARDED_BY(mutex_);
  std::map<kube::ObjectKey, PodRef> pods_ GUARDED_BY(mutex_);
  std::map<std::string, std::set<kube::ObjectKey>> pods_of_ GUARDED_BY(mutex_);
};

// A resourceVersion as the number it is; 0 for anything else.
[[nodiscard]] std::uint64_t VersionOf(const std::string& text);

}  // namespace strata::controllers
