#include "apiserver/store/object_store_impl.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>
#include <string_view>
#include <tuple>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "json/access.h"
#include "json/dump.h"

namespace strata::apiserver {
namespace {

constexpr std::size_t kRoomForMarks = 1024;

// A batch on a full disk. The journal keeps enough space to delete so much at once, and one object
// of the maximum size more.
constexpr std::size_t kMaxSmallBatch = 64;
constexpr std::size_t kMaxSmallBatchBytes = 1 << 20;

std::string Describe(const ObjectKey& key) {
  return key.resource + " " + (key.ns.empty() ? "" : key.ns + "/") + key.name;
}

// The text that is kept: `object` with its version, without what every object of its kind shares.
std::string BodyOf(nlohmann::json object, std::int64_t version) {
  object.erase("apiVersion");
  object.erase("kind");
  nlohmann::json& metadata = object["metadata"];
  if (!metadata.is_object()) metadata = nlohmann::json::object();
  metadata["resourceVersion"] = std::to_string(version);
  std::string body = DumpJson(object);
  body.shrink_to_fit();  // it grew by doubling, and is kept for long
  return body;
}

store::Write ToWrite(const ObjectKey& key, const Change& change, store::Write::Space space) {
  const bool deleted = change.kind == Change::Kind::kDeleted;
  return {.kind = deleted ? store::Write::Kind::kDelete : store::Write::Kind::kPut,
          .space = space,
          .row = {.resource = key.resource,
                  .ns = key.ns,
                  .name = key.name,
                  .version = change.version,
                  .body = change.after->body}};
}

bool TakesSpace(store::Write::Space space) {
  return space == store::Write::Space::kTakes;
}

// What SQLite writes for it, roughly: it overwrites what it deletes.
std::size_t BytesToWrite(const Change& change) {
  return (change.before == nullptr ? 0 : change.before->body.size()) + change.after->body.size();
}

// By a clock that nobody sets.
Duration Elapsed() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<Duration>(now);
}

ObjectRef StateAfter(const Change& change) {
  return change.kind == Change::Kind::kDeleted ? nullptr : change.after;
}

}  // namespace

ObjectStoreImpl::ObjectStoreImpl(HistoryLimits limits, std::int64_t version)
    : limits_(limits),
      // Not 0, which means "any" to clients.
      start_version_(std::max<std::int64_t>(version, 1)),
      published_version_(start_version_),
      last_version_(start_version_) {}

Status ObjectStoreImpl::Restore(const store::Row& row) {
  auto object = std::make_shared<StoredObject>();
  object->ns = row.ns;
  object->name = row.name;
  object->version = row.version;
  object->body = row.body;
  PerResource& resource = Of(std::string(row.resource));
  if (Status indexed = indexer_.Index(resource.paths, *object); !indexed) {
    const ObjectKey key{std::string(row.resource), object->ns, object->name};
    return Fail(Code::kInternal, Describe(key) + ": " + indexed.error().message);
  }
  resource.slots[{object->ns, object->name}] = {.published = object, .latest = object};
  return {};
}

ObjectStoreImpl::PerResource& ObjectStoreImpl::Of(const std::string& resource) {
  const auto found = resources_.find(resource);
  if (found != resources_.end()) return found->second;
  PerResource fresh{
      .paths = {}, .slots = {}, .history = History(limits_, start_version_), .listeners = {}};
  return resources_.emplace(resource, std::move(fresh)).first->second;
}

const ObjectStoreImpl::PerResource* ObjectStoreImpl::Find(const std::string& resource) const {
  const auto found = resources_.find(resource);
  return found == resources_.end() ? nullptr : &found->second;
}

const ObjectStoreImpl::Slot* ObjectStoreImpl::FindSlot(const ObjectKey& key) const {
  const PerResource* const resource = Find(key.resource);
  if (resource == nullptr) return nullptr;
  const auto found = resource->slots.find({key.ns, key.name});
  return found == resource->slots.end() ? nullptr : &found->second;
}

void ObjectStoreImpl::SetSelectableFields(const std::string& resource,
                                          std::vector<std::string> paths) {
  PerResource& of = Of(resource);
  if (of.paths == paths) return;
  of.paths = std::move(paths);
  std::map<ObjectRef, ObjectRef> done;  // one copy of each
  const auto index = [&](ObjectRef& object) {
    if (object == nullptr) return;
    ObjectRef& copy = done[object];
    if (copy == nullptr) {
      auto fresh = std::make_shared<StoredObject>(*object);
      const Status status = indexer_.Index(of.paths, *fresh);
      CHECK(status);  // it could be indexed before
      copy = std::move(fresh);
    }
    object = copy;
  };
  for (auto& [name, slot] : of.slots) {
    index(slot.published);
    index(slot.latest);
  }
  const auto index_batch = [&](Batch& batch) {
    for (Pending& write : batch.writes) {
      if (write.key.resource != resource) continue;
      batch.replaced.push_back(write.change.after);
      index(write.change.before);
      index(write.change.after);
    }
  };
  index_batch(collecting_);
  if (committing_) index_batch(*committing_);
}

ObjectRef ObjectStoreImpl::Get(const ObjectKey& key) const {
  const Slot* const slot = FindSlot(key);
  return slot == nullptr ? nullptr : slot->published;
}

ObjectRef ObjectStoreImpl::GetLatest(const ObjectKey& key) const {
  const Slot* const slot = FindSlot(key);
  return slot == nullptr ? nullptr : slot->latest;
}

Snapshot ObjectStoreImpl::List(const std::string& resource, const std::string& ns) const {
  Snapshot snapshot{.version = published_version_, .objects = {}};
  const PerResource* const of = Find(resource);
  if (of == nullptr) return snapshot;
  if (ns.empty()) snapshot.objects.reserve(of->slots.size());
  for (auto at = of->slots.lower_bound({ns, ""}); at != of->slots.end(); ++at) {
    if (!ns.empty() && at->first.first != ns) break;
    if (at->second.published != nullptr) snapshot.objects.push_back(at->second.published);
  }
  return snapshot;
}

void ObjectStoreImpl::VisitLatest(const std::string& resource,
                                  const std::string& ns,
                                  const std::function<bool(const StoredObject&)>& visit) const {
  const PerResource* const of = Find(resource);
  if (of == nullptr) return;
  for (auto at = of->slots.lower_bound({ns, ""}); at != of->slots.end(); ++at) {
    if (!ns.empty() && at->first.first != ns) return;
    if (at->second.latest != nullptr && !visit(*at->second.latest)) return;
  }
}

Result<ObjectRef> ObjectStoreImpl::Make(const ObjectKey& key, nlohmann::json object) {
  if (!object.is_object()) {
    return Fail(Code::kInvalidArgument, Describe(key) + ": not an object");
  }
  auto made = std::make_shared<StoredObject>();
  made->ns = key.ns;
  made->name = key.name;
  made->version = last_version_ + 1;
  made->body = BodyOf(std::move(object), made->version);
  if (Status indexed = indexer_.Index(Of(key.resource).paths, *made); !indexed) {
    return Fail(indexed.error().code, Describe(key) + ": " + indexed.error().message);
  }
  return ObjectRef(std::move(made));
}

void ObjectStoreImpl::Put(const ObjectKey& key,
                          std::int64_t expected,
                          nlohmann::json object,
                          Done done) {
  ObjectRef before = GetLatest(key);
  const std::int64_t found = before == nullptr ? 0 : before->version;
  if (found != expected) {
    return done(Fail(Code::kConflict,
                     Describe(key) + ": at version " + std::to_string(found) + ", not " +
                         std::to_string(expected)));
  }
  const bool terminates = FindAt(object, {"metadata", "deletionTimestamp"}) != nullptr;
  Result<ObjectRef> made = Make(key, std::move(object));
  if (!made) return done(std::move(made));
  // An object that is too large already may still be marked as terminating.
  const std::size_t max =
      std::max(kMaxObjectBytes, before == nullptr ? 0 : before->body.size() + kRoomForMarks);
  if ((*made)->body.size() > max) {
    return done(Fail(Code::kInvalidArgument, std::string(kObjectTooLarge)));
  }
  const bool gives_back = terminates && before != nullptr &&
                          (*made)->body.size() <= before->body.size() + kRoomForMarks;
  Change change{.kind = before == nullptr ? Change::Kind::kAdded : Change::Kind::kModified,
                .version = (*made)->version,
                .before = std::move(before),
                .after = std::move(*made)};
  Write({.key = key,
         .change = std::move(change),
         .space = gives_back ? store::Write::Space::kGivesBack : store::Write::Space::kTakes,
         .done = std::move(done)});
}

void ObjectStoreImpl::Delete(const ObjectKey& key,
                             std::int64_t expected,
                             nlohmann::json last,
                             Done done) {
  ObjectRef before = GetLatest(key);
  if (before == nullptr) return done(Fail(Code::kNotFound, Describe(key) + ": not there"));
  if (before->version != expected) {
    return done(Fail(Code::kConflict,
                     Describe(key) + ": at version " + std::to_string(before->version) + ", not " +
                         std::to_string(expected)));
  }
  Result<ObjectRef> made = Make(key, std::move(last));
  if (!made) return done(std::move(made));
  Change change{.kind = Change::Kind::kDeleted,
                .version = (*made)->version,
                .before = std::move(before),
                .after = std::move(*made)};
  Write({.key = key,
         .change = std::move(change),
         .space = store::Write::Space::kGivesBack,
         .done = std::move(done)});
}

void ObjectStoreImpl::Write(Pending write) {
  const Change& change = write.change;
  last_version_ = change.version;
  PerResource& of = Of(write.key.resource);
  of.slots[{write.key.ns, write.key.name}].latest = StateAfter(change);
  if (log_ == nullptr) {
    Publish(write.key, change);
    of.listeners.Tell();
    return write.done(std::move(write.change.after));
  }
  collecting_.writes.push_back(std::move(write));
  CommitCollected();
}

// What is durable becomes what readers see.
void ObjectStoreImpl::Publish(const ObjectKey& key, const Change& change) {
  PerResource& of = Of(key.resource);
  // The slot may have gone with an earlier change: deleted, made and deleted again.
  const auto at = of.slots.try_emplace({key.ns, key.name}).first;
  at->second.published = StateAfter(change);
  if (at->second.published == nullptr && at->second.latest == nullptr) of.slots.erase(at);
  of.history.Append(change, Elapsed());
  published_version_ = change.version;
}

void ObjectStoreImpl::CommitCollected() {
  if (committing_ || collecting_.writes.empty()) return;
  committing_ = TakeBatch();
  std::vector<store::Write> writes;
  writes.reserve(committing_->writes.size());
  for (const Pending& write : committing_->writes) {
    writes.push_back(ToWrite(write.key, write.change, write.space));
  }
  const std::int64_t last = committing_->writes.back().change.version;
  log_->Commit(
      std::move(writes), last, [this, alive = std::weak_ptr(alive_)](const Status& status) {
        if (!alive.expired()) OnCommitted(status);
      });
}

// What is committed next: all that was collected, or the first of it.
ObjectStoreImpl::Batch ObjectStoreImpl::TakeBatch() {
  if (!small_batches_) return std::exchange(collecting_, {});
  std::vector<Pending>& writes = collecting_.writes;
  std::size_t count = 0;
  std::size_t bytes = 0;
  while (count < writes.size() && count < kMaxSmallBatch && bytes <= kMaxSmallBatchBytes) {
    bytes += BytesToWrite(writes[count++].change);
  }
  if (count == writes.size()) return std::exchange(collecting_, {});
  const auto end = writes.begin() + static_cast<std::ptrdiff_t>(count);
  Batch batch{.writes = {std::make_move_iterator(writes.begin()), std::make_move_iterator(end)},
              .waiters = {},  // they wait for the rest
              .replaced = collecting_.replaced};
  writes.erase(writes.begin(), end);
  return batch;
}

void ObjectStoreImpl::Append(Batch more, Batch& to) {
  const auto move_all = [](auto& from, auto& into) {
    into.insert(
        into.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  move_all(more.writes, to.writes);
  move_all(more.waiters, to.waiters);
  move_all(more.replaced, to.replaced);
}

void ObjectStoreImpl::OnCommitted(const Status& status) {
  Batch batch = std::move(*committing_);
  committing_.reset();
  if (!status) {
    if (store::IsDiskFull(status.error())) return OnDiskFull(std::move(batch), status.error());
    // What was collected was made from states that are not going to be.
    Append(std::exchange(collecting_, {}), batch);
    return FailPending(batch, {}, status.error());
  }
  std::set<std::string> touched;
  for (const Pending& write : batch.writes) {
    Publish(write.key, write.change);
    touched.insert(write.key.resource);
    if (TakesSpace(write.space)) small_batches_ = false;
  }
  CommitCollected();  // the disk works while the answers are made
  const auto alive = std::weak_ptr(alive_);
  for (const std::string& resource : touched) {
    Of(resource).listeners.Tell();
    if (alive.expired()) return;
  }
  for (Pending& write : batch.writes) write.done(std::move(write.change.after));
  for (const auto& waiter : batch.waiters) waiter({});
}

// Fails what takes space, and tries the rest again, in small batches: deletions go on.
void ObjectStoreImpl::OnDiskFull(Batch batch, const Error& error) {
  const bool was_small = std::exchange(small_batches_, true);
  const bool takes = std::any_of(batch.writes.begin(),
                                 batch.writes.end(),
                                 [](const Pending& write) { return TakesSpace(write.space); });
  const bool keeps = takes || !was_small;
  Append(std::exchange(collecting_, {}), batch);
  Batch lost;
  Batch kept{.writes = {}, .waiters = {}, .replaced = std::move(batch.replaced)};
  std::set<std::tuple<std::string, std::string, std::string>> undone;
  for (Pending& write : batch.writes) {
    const std::tuple key(write.key.resource, write.key.ns, write.key.name);
    const bool keep = keeps && !TakesSpace(write.space) && !undone.contains(key);
    if (!keep) undone.insert(key);
    (keep ? kept : lost).writes.push_back(std::move(write));
  }
  (lost.writes.empty() ? kept : lost).waiters = std::move(batch.waiters);
  FailPending(lost, std::move(kept), error);
}

// As if the writes of `lost` had never been asked for; those of `kept` follow what is durable.
void ObjectStoreImpl::FailPending(const Batch& lost, Batch kept, const Error& error) {
  for (const Pending& write : lost.writes) {
    Slots& slots = Of(write.key.resource).slots;
    const auto at = slots.find({write.key.ns, write.key.name});
    if (at == slots.end()) continue;  // given back already
    at->second.latest = at->second.published;
    if (at->second.latest == nullptr) slots.erase(at);
  }
  for (const Pending& write : kept.writes) {
    Of(write.key.resource).slots[{write.key.ns, write.key.name}].latest = StateAfter(write.change);
  }
  collecting_ = std::move(kept);
  CommitCollected();
  for (const Pending& write : lost.writes) write.done(tl::unexpected(error));
  for (const auto& waiter : lost.waiters) waiter(tl::unexpected(error));
}

void ObjectStoreImpl::WhenDurable(std::function<void(Status)> done) {
  if (!collecting_.writes.empty()) {
    collecting_.waiters.push_back(std::move(done));
  } else if (committing_) {
    committing_->waiters.push_back(std::move(done));
  } else {
    done({});
  }
}

Result<WatchPosition> ObjectStoreImpl::WatchFrom(const std::string& resource,
                                                 std::int64_t version) const {
  const PerResource* const of = Find(resource);
  const History nothing(limits_, start_version_);
  const History& history = of == nullptr ? nothing : of->history;
  TRY_ASSIGN(const std::uint64_t next, history.IndexAfter(version));
  return WatchPosition{.resource = resource, .next = next, .seen = version};
}

Result<const Change*> ObjectStoreImpl::Next(WatchPosition& position) const {
  const PerResource* const of = Find(position.resource);
  if (of == nullptr) return nullptr;
  const History& history = of->history;
  for (;;) {
    if (!history.Reaches(position.next)) {
      // It has missed something, unless it waits for a version of the future.
      TRY_ASSIGN(position.next, history.IndexAfter(position.seen));
    }
    const Change* const change = history.At(position.next);
    if (change == nullptr) return nullptr;
    ++position.next;
    if (change->version <= position.seen) continue;
    position.seen = change->version;
    return change;
  }
}

ObjectStore::Token ObjectStoreImpl::Subscribe(const std::string& resource,
                                              std::function<void()> listener) {
  return Of(resource).listeners.Add(std::move(listener));
}

std::unique_ptr<ObjectStore> MakeMemoryObjectStore(HistoryLimits limits) {
  return std::make_unique<ObjectStoreImpl>(limits, 0);
}

std::int64_t FirstVersion(std::int64_t stored, Time now) {
  const auto age = std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch());
  return std::max<std::int64_t>(stored, age.count());
}

Result<std::unique_ptr<ObjectStore>> OpenObjectStore(net::EventLoop& loop,
                                                     std::unique_ptr<store::Journal> journal,
                                                     Time now,
                                                     HistoryLimits limits) {
  store::Journal& rows = *journal;
  TRY_ASSIGN(const std::int64_t version, rows.LastVersion());
  auto store = std::make_unique<ObjectStoreImpl>(limits, FirstVersion(version, now));
  Status restored;
  TRY(rows.Load([&](const store::Row& row) {
    if (restored) restored = store->Restore(row);
  }));
  TRY(restored);
  store->CommitBy(MakeCommitThread(loop, std::move(journal)));
  return Result<std::unique_ptr<ObjectStore>>(std::move(store));
}

}  // namespace strata::apiserver
