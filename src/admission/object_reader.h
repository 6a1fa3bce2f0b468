#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace strata::admission {

using Pairs = std::vector<std::pair<std::string, std::string>>;  // sorted by key

// One state of one object. Immutable, shared by all readers, lists and watches.
struct StoredObject {
  std::string ns;  // "" when cluster-scoped
  std::string name;
  std::string uid;
  std::int64_t version = 0;  // resourceVersion
  Pairs labels;
  Pairs fields;      // the selectable ones of its resource
  std::string body;  // compact JSON without apiVersion and kind: {"metadata":{...},...}
};
using ObjectRef = std::shared_ptr<const StoredObject>;

struct ObjectKey {
  std::string resource;  // ResourceInfo::FullName
  std::string ns;
  std::string name;
  auto operator<=>(const ObjectKey&) const = default;
};

// The other objects of the cluster, as the rules read them: the store of the embedded API server,
// or what the informers of `strata webhooks` have seen.
class ObjectReader {
 public:
  ObjectReader() = default;
  ObjectReader(const ObjectReader&) = delete;
  ObjectReader& operator=(const ObjectReader&) = delete;
  virtual ~ObjectReader() = default;

  // Includes writes that are not durable yet: what a change must start from. nullptr when there is
  // no such object.
  [[nodiscard]] virtual ObjectRef GetLatest(const ObjectKey& key) const = 0;
  // Calls `visit` for each object as GetLatest sees it, in order, until it returns false.
  // `ns` "": every namespace.
  virtual void VisitLatest(const std::string& resource,
                           const std::string& ns,
                           const std::function<bool(const StoredObject&)>& visit) const = 0;
  // A rule refuses because this object was not found. A reader that may be behind can ask for it.
  virtual void Missed(const ObjectKey& /*key*/) const {}
};

}  // namespace strata::admission
