#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "controllers/cache.h"
#include "controllers/plan.h"

// Garbage collection: what is to go because its owners went. For API servers that have nobody else
// for it.
namespace strata::controllers {

struct OwnerSeen {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  bool controls = false;
  bool blocks = false;  // blockOwnerDeletion: the owner waits for this object

  friend bool operator==(const OwnerSeen&, const OwnerSeen&) = default;
};

// An object of the graph.
struct OwnedSeen {
  kube::Resource resource;
  kube::ObjectKey key;
  std::string uid;
  std::string version;
  std::vector<OwnerSeen> owners;
  std::vector<std::string> finalizers;
  bool being_deleted = false;
};

// The owners of objects. Thread-safe.
class OwnerGraph {
 public:
  // Gives the uids that are to be looked at because of the change.
  std::set<std::string> Take(const Cache::Change& change);

  [[nodiscard]] std::optional<OwnedSeen> Find(const std::string& uid) const;
  // By uid.
  [[nodiscard]] std::vector<OwnedSeen> DependentsOf(const std::string& uid) const;

 private:
  void Unlink(const OwnedSeen& object) REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::map<std::string, OwnedSeen> by_uid_ GUARDED_BY(mutex_);
  // Owner to dependents.
  std::map<std::string, std::set<std::string>> dependents_ GUARDED_BY(mutex_);
};

struct GarbageView {
  OwnedSeen object;
  std::vector<OwnedSeen> dependents;
  // Whether an owner is gone for certain: asked of the server, not of the graph.
  std::function<bool(const OwnerSeen&, const std::string& ns)> is_gone;
};

// An object whose owners are all gone goes. One that is being deleted in the foreground takes its
// dependents along and waits for those that block it; one that leaves orphans lets them go first.
[[nodiscard]] Plan CollectGarbage(const GarbageView& view);

}  // namespace strata::controllers
