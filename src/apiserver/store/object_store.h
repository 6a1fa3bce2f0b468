#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "admission/object_reader.h"
#include "base/result.h"

namespace strata::apiserver {

using admission::ObjectKey;
using admission::ObjectReader;
using admission::ObjectRef;
using admission::Pairs;
using admission::StoredObject;

// One event of the history of a resource.
struct Change {
  enum class Kind : std::uint8_t { kAdded, kModified, kDeleted };
  Kind kind = Kind::kAdded;
  std::int64_t version = 0;
  ObjectRef before;  // null when added
  ObjectRef after;   // when deleted: the last state, with the version of the deletion
};

struct Snapshot {
  std::int64_t version = 0;        // the store's, when it was taken
  std::vector<ObjectRef> objects;  // by namespace and name
};

// Where a watcher is in the history of one resource.
struct WatchPosition {
  std::string resource;
  std::uint64_t next = 0;  // index of the next change in the resource's history
  std::int64_t seen = 0;   // everything up to this version is known; may be in the future
};

// The most that one object may take as text, and what a Put of more fails with (kInvalidArgument).
inline constexpr std::size_t kMaxObjectBytes = 3145728;
inline constexpr std::string_view kObjectTooLarge = "object is larger than 3145728 bytes";

// All objects in memory, and on disk where it was opened with a folder: what is acknowledged is
// there after kill -9 (writes of one moment share one commit). One thread, the loop's. Readers and
// watchers see only what is durable.
//
// Versions come from one counter and grow by at least one per write, over restarts too, and when a
// folder is restored from a backup (FirstVersion).
class ObjectStore : public ObjectReader {
 public:
  using Done = std::function<void(Result<ObjectRef>)>;

  // Which fields (JSON paths such as "spec.nodeName") objects of a resource keep for selectors.
  // Must come before its objects are written; objects read from disk are indexed anew.
  virtual void SetSelectableFields(const std::string& resource, std::vector<std::string> paths) = 0;

  [[nodiscard]] virtual std::int64_t version() const = 0;
  // Once it is durable; nullptr when there is none.
  [[nodiscard]] virtual ObjectRef Get(const ObjectKey& key) const = 0;
  // `ns` "": every namespace.
  [[nodiscard]] virtual Snapshot List(const std::string& resource, const std::string& ns) const = 0;

  // Writes `object` (with or without apiVersion and kind), with its new version put into
  // metadata.resourceVersion. `expected` is the version of GetLatest that it was made from, 0 for
  // none; kConflict when it is another by now (impossible for a caller that does not leave the loop
  // in between); kObjectTooLarge when it has grown above the limit. `done` is called on the loop
  // once it is durable, possibly before Put returns.
  virtual void Put(const ObjectKey& key,
                   std::int64_t expected,
                   nlohmann::json object,
                   Done done) = 0;
  // Removes it; `last` is the state that the DELETED event carries.
  virtual void Delete(const ObjectKey& key,
                      std::int64_t expected,
                      nlohmann::json last,
                      Done done) = 0;
  // Calls `done` once everything written so far is durable: for answers that write nothing but
  // show what others wrote.
  virtual void WhenDurable(std::function<void(Status)> done) = 0;

  // A watcher that has seen everything up to `version`. kGone when the history does not reach back
  // that far, with Kubernetes' message.
  [[nodiscard]] virtual Result<WatchPosition> WatchFrom(const std::string& resource,
                                                        std::int64_t version) const = 0;
  // The next change, null when there is none yet; `position` moves on behind it. Good until the
  // store changes. kGone when the watcher was so slow that it is no longer kept (the history is
  // bounded, in events and in bytes).
  [[nodiscard]] virtual Result<const Change*> Next(WatchPosition& position) const = 0;

  // Calls `listener` on the loop, once per batch of changes of the resource that became visible.
  // Unsubscribes when the token is destroyed.
  using Token = std::shared_ptr<void>;
  [[nodiscard]] virtual Token Subscribe(const std::string& resource,
                                        std::function<void()> listener) = 0;
};

}  // namespace strata::apiserver
