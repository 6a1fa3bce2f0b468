#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/store/commit.h"
#include "apiserver/store/history.h"
#include "apiserver/store/index.h"
#include "apiserver/store/listeners.h"
#include "apiserver/store/object_store.h"

namespace strata::apiserver {

// The store, over whatever commits. Two states of each object: the one that is durable, which
// readers and watchers see, and the latest, which writers start from. Without a log both are
// always the same.
class ObjectStoreImpl final : public ObjectStore {
 public:
  // `version` is that of the last write of the past, 0 when there is no past.
  ObjectStoreImpl(HistoryLimits limits, std::int64_t version);
  // Puts in an object of the past. Before any write.
  [[nodiscard]] Status Restore(const store::Row& row);
  // From here on writes are durable when `log` says so. Before any write.
  void CommitBy(std::unique_ptr<CommitLog> log) { log_ = std::move(log); }

  void SetSelectableFields(const std::string& resource, std::vector<std::string> paths) override;
  [[nodiscard]] std::int64_t version() const override { return published_version_; }
  [[nodiscard]] ObjectRef Get(const ObjectKey& key) const override;
  [[nodiscard]] ObjectRef GetLatest(const ObjectKey& key) const override;
  [[nodiscard]] Snapshot List(const std::string& resource, const std::string& ns) const override;
  void VisitLatest(const std::string& resource,
                   const std::string& ns,
                   const std::function<bool(const StoredObject&)>& visit) const override;
  void Put(const ObjectKey& key, std::int64_t expected, nlohmann::json object, Done done) override;
  void Delete(const ObjectKey& key, std::int64_t expected, nlohmann::json last, Done done) override;
  void WhenDurable(std::function<void(Status)> done) override;
  [[nodiscard]] Result<WatchPosition> WatchFrom(const std::string& resource,
                                                std::int64_t version) const override;
  [[nodiscard]] Result<const Change*> Next(WatchPosition& position) const override;
  [[nodiscard]] Token Subscribe(const std::string& resource,
                                std::function<void()> listener) override;

 private:
  struct Slot {
    ObjectRef published;  // null: not there, for readers
    ObjectRef latest;     // null: not there, for writers
  };
  using Slots = std::map<std::pair<std::string, std::string>, Slot>;  // by namespace and name
  struct PerResource {
    std::vector<std::string> paths;
    Slots slots;
    History history;
    Listeners listeners;
  };
  struct Pending {
    ObjectKey key;
    Change change;
    store::Write::Space space;
    Done done;
  };
  struct Batch {
    std::vector<Pending> writes;
    std::vector<std::function<void(Status)>> waiters;
    std::vector<ObjectRef> replaced;  // texts that a commit under way may still read
  };

  [[nodiscard]] PerResource& Of(const std::string& resource);
  [[nodiscard]] const PerResource* Find(const std::string& resource) const;
  [[nodiscard]] const Slot* FindSlot(const ObjectKey& key) const;
  [[nodiscard]] Result<ObjectRef> Make(const ObjectKey& key, nlohmann::json object);
  void Write(Pending write);
  void Publish(const ObjectKey& key, const Change& change);
  void CommitCollected();
  void OnCommitted(const Status& status);
  void OnDiskFull(Batch batch, const Error& error);
  void FailPending(const Batch& lost, Batch kept, const Error& error);
  [[nodiscard]] Batch TakeBatch();
  static void Append(Batch more, Batch& to);

  HistoryLimits limits_;
  std::int64_t start_version_;
  std::int64_t published_version_;
  std::int64_t last_version_;  // given to a write, durable or not
  std::map<std::string, PerResource> resources_;
  ObjectIndexer indexer_;
  Batch collecting_;
  std::optional<Batch> committing_;
  bool small_batches_ = false;  // since the disk was full, until something is written again
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // gone when this is
  std::unique_ptr<CommitLog> log_;  // last, so that it is destroyed first: it reads committing_
};

}  // namespace strata::apiserver
