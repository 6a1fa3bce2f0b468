#include "apiserver/store/object_store.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "apiserver/store/history.h"
#include "apiserver/store/object_store_factory.h"
#include "apiserver/store/test_support.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::Pair;

std::int64_t VersionOf(const ObjectRef& object) {
  return object == nullptr ? 0 : object->version;
}

// Writes what is there or not, whatever its version. Null when it is not durable yet.
ObjectRef Set(ObjectStore& store, const ObjectKey& key, json object) {
  const auto outcome = std::make_shared<Outcome>();
  const auto done = [outcome](Result<ObjectRef> told) { outcome->Done()(std::move(told)); };
  store.Put(key, VersionOf(store.GetLatest(key)), std::move(object), done);
  return outcome->result.has_value() ? outcome->result->value() : nullptr;
}

std::vector<std::string> Events(const ObjectStore& store, WatchPosition& position) {
  std::vector<std::string> events;
  for (;;) {
    const Result<const Change*> change = store.Next(position);
    if (!change) events.push_back(change.error().message);
    if (!change || *change == nullptr) return events;
    const char* const kinds[] = {"ADDED", "MODIFIED", "DELETED"};
    events.push_back(std::string(kinds[static_cast<int>((*change)->kind)]) + " " +
                     (*change)->after->name + "@" + std::to_string((*change)->version));
  }
}

TEST(ObjectStore, KeepsTheBodyWithItsVersionAndWithoutTheKind) {
  const auto store = MakeMemoryObjectStore();
  json pod = PodNamed("a", "x");
  pod["kind"] = "Pod";
  pod["apiVersion"] = "v1";
  const ObjectRef written = Set(*store, PodKey("a"), pod);
  EXPECT_EQ(written->body,
            R"({"metadata":{"name":"a","resourceVersion":"2","uid":"uid-a"},"spec":{"text":"x"}})");
  EXPECT_EQ(written->uid, "uid-a");
  EXPECT_EQ(store->Get(PodKey("a")), written);
  EXPECT_EQ(store->version(), 2);
}

TEST(ObjectStore, RefusesAWriteThatStartedFromAnotherState) {
  const auto store = MakeMemoryObjectStore();
  Set(*store, PodKey("a"), PodNamed("a"));
  Outcome over_existing;
  store->Put(PodKey("a"), 0, PodNamed("a"), over_existing.Done());
  Outcome of_missing;
  store->Put(PodKey("b"), 2, PodNamed("b"), of_missing.Done());
  Outcome stale;
  store->Delete(PodKey("a"), 1, PodNamed("a"), stale.Done());
  for (const Outcome* outcome : {&over_existing, &of_missing, &stale}) {
    EXPECT_EQ(outcome->result.value().error().code, Code::kConflict);
  }
  EXPECT_EQ(store->version(), 2);
}

TEST(ObjectStore, ListsByNamespaceAndName) {
  const auto store = MakeMemoryObjectStore();
  for (const auto& [ns, name] :
       {std::pair("b", "x"), std::pair("a", "z"), std::pair("ab", "y"), std::pair("a", "b")}) {
    Set(*store, PodKey(name, ns), PodNamed(name));
  }
  std::vector<std::string> all;
  for (const ObjectRef& pod : store->List("pods", "").objects) all.push_back(pod->ns + pod->name);
  EXPECT_THAT(all, ElementsAre("ab", "az", "aby", "bx"));
  EXPECT_EQ(store->List("pods", "a").objects.size(), 2);
  EXPECT_EQ(store->List("nodes", "").objects.size(), 0);
}

TEST(ObjectStore, FindsLabelsAndSelectableFields) {
  const auto store = MakeMemoryObjectStore();
  store->SetSelectableFields("pods", {"status.phase", "spec.nodeName", "spec.hostNetwork", "spec"});
  const ObjectRef pod = Set(*store, PodKey("a"), json::parse(R"({
    "metadata": {"labels": {"b": "2", "a": "1", "bad": 7}},
    "spec": {"nodeName": "n1", "hostNetwork": true}, "status": {"phase": null}})"));
  EXPECT_THAT(pod->labels, ElementsAre(Pair("a", "1"), Pair("b", "2")));
  EXPECT_THAT(pod->fields,
              ElementsAre(Pair("spec.hostNetwork", "true"), Pair("spec.nodeName", "n1")));
}

TEST(ObjectStore, RejectsValuesThatAreNotObjects) {
  const auto store = MakeMemoryObjectStore();
  Outcome list;
  store->Put(PodKey("a"), 0, json::array(), list.Done());
  EXPECT_EQ(list.result.value().error().code, Code::kInvalidArgument);
  Outcome deep;
  json nested = json::object();
  for (int i = 0; i < 2000; ++i) nested = json{{"a", std::move(nested)}};
  store->Put(PodKey("a"), 0, std::move(nested), deep.Done());
  EXPECT_EQ(deep.result.value().error().code, Code::kInvalidArgument);
  EXPECT_EQ(store->GetLatest(PodKey("a")), nullptr);
}

TEST(ObjectStore, ReplacesBytesThatAreNotUtf8) {
  const auto store = MakeMemoryObjectStore();
  const ObjectRef pod = Set(*store, PodKey("a"), PodNamed("a", "\xff"));
  EXPECT_EQ(json::parse(pod->body)["spec"]["text"], "\xef\xbf\xbd");
}

TEST(ObjectStore, AWatcherSeesEverythingAfterItsVersion) {
  const auto store = MakeMemoryObjectStore();
  Set(*store, PodKey("a"), PodNamed("a"));
  WatchPosition from_two = store->WatchFrom("pods", 2).value();
  Set(*store, PodKey("a"), PodNamed("a", "new"));
  Set(*store, {.resource = "nodes", .ns = "", .name = "n"}, PodNamed("n"));
  store->Delete(PodKey("a"), 3, PodNamed("a"), [](const Result<ObjectRef>& deleted) {
    EXPECT_EQ(deleted.value()->version, 5);
  });
  EXPECT_THAT(Events(*store, from_two), ElementsAre("MODIFIED a@3", "DELETED a@5"));
  EXPECT_THAT(Events(*store, from_two), ElementsAre());
  EXPECT_EQ(store->Get(PodKey("a")), nullptr);
}

TEST(ObjectStore, AWatcherFromTheFutureSeesNothingUntilThen) {
  const auto store = MakeMemoryObjectStore();
  WatchPosition future = store->WatchFrom("pods", 3).value();
  for (const char* name : {"a", "b", "c"}) Set(*store, PodKey(name), PodNamed(name));
  EXPECT_THAT(Events(*store, future), ElementsAre("ADDED c@4"));
}

TEST(ObjectStore, HistoryIsBoundedInEvents) {
  const auto store = MakeMemoryObjectStore({.events = 2});
  WatchPosition slow = store->WatchFrom("pods", 1).value();
  for (const char* name : {"a", "b", "c"}) Set(*store, PodKey(name), PodNamed(name));
  EXPECT_THAT(Events(*store, slow), ElementsAre("too old resource version: 1 (2)"));
  EXPECT_EQ(store->WatchFrom("pods", 1).error().code, Code::kGone);
  WatchPosition just = store->WatchFrom("pods", 2).value();
  EXPECT_THAT(Events(*store, just), ElementsAre("ADDED b@3", "ADDED c@4"));
}

TEST(ObjectStore, HistoryIsBoundedInBytes) {
  const auto store = MakeMemoryObjectStore({.bytes = 100'000});
  WatchPosition slow = store->WatchFrom("pods", 1).value();
  for (int i = 0; i < 20; ++i) Set(*store, PodKey("a"), PodNamed("a", std::string(10'000, 'x')));
  EXPECT_EQ(store->Next(slow).error().code, Code::kGone);
  WatchPosition recent = store->WatchFrom("pods", 13).value();
  EXPECT_EQ(Events(*store, recent).size(), 8);
}

TEST(History, IsBoundedInTime) {
  using std::chrono::minutes;
  History history({.age = minutes(10)}, 1);
  const auto append = [&history](std::int64_t version, Duration now) {
    history.Append({.version = version, .after = std::make_shared<StoredObject>()}, now);
  };
  append(2, minutes(0));
  append(3, minutes(8));
  EXPECT_EQ(history.IndexAfter(1).value(), 0U);
  append(4, minutes(11));
  EXPECT_EQ(history.IndexAfter(1).error().code, Code::kGone);
  EXPECT_EQ(history.IndexAfter(2).value(), 1U);
  EXPECT_EQ(history.At(1)->version, 3);
}

TEST(ObjectStore, CallsListenersUntilTheirTokenIsDestroyed) {
  const auto store = MakeMemoryObjectStore();
  int pods = 0;
  int nodes = 0;
  ObjectStore::Token pod_token = store->Subscribe("pods", [&] { ++pods; });
  const ObjectStore::Token node_token = store->Subscribe("nodes", [&] { ++nodes; });
  Set(*store, PodKey("a"), PodNamed("a"));
  pod_token.reset();
  Set(*store, PodKey("b"), PodNamed("b"));
  EXPECT_EQ(pods, 1);
  EXPECT_EQ(nodes, 0);
}

TEST(ObjectStore, AListenerMayEndSubscriptions) {
  const auto store = MakeMemoryObjectStore();
  std::vector<ObjectStore::Token> tokens(3);
  int told = 0;
  for (ObjectStore::Token& token : tokens) {
    token = store->Subscribe("pods", [&] {
      ++told;
      tokens.clear();
    });
  }
  Set(*store, PodKey("a"), PodNamed("a"));
  EXPECT_EQ(told, 1);
}

TEST(DurableStore, ReadersSeeAWriteOnceItIsDurable) {
  FakeDisk disk;
  const auto store = disk.OpenStore({});
  WatchPosition watcher = store->WatchFrom("pods", store->version()).value();
  int told = 0;
  const auto token = store->Subscribe("pods", [&] { ++told; });
  Outcome outcome;
  store->Put(PodKey("a"), 0, PodNamed("a"), outcome.Done());
  EXPECT_EQ(store->Get(PodKey("a")), nullptr);
  EXPECT_EQ(store->version(), 1);
  EXPECT_EQ(VersionOf(store->GetLatest(PodKey("a"))), 2);
  EXPECT_FALSE(outcome.result.has_value());
  disk.Succeed();
  EXPECT_EQ(VersionOf(store->Get(PodKey("a"))), 2);
  EXPECT_THAT(Events(*store, watcher), ElementsAre("ADDED a@2"));
  EXPECT_EQ(told, 1);
  EXPECT_EQ(VersionOf(outcome.result.value().value()), 2);
}

TEST(DurableStore, WritesThatComeDuringACommitShareTheNext) {
  FakeDisk disk;
  const auto store = disk.OpenStore({});
  for (const char* name : {"a", "b", "c"}) Set(*store, PodKey(name), PodNamed(name));
  disk.Succeed();
  EXPECT_EQ(disk.rows().size(), 1);
  disk.Succeed();
  EXPECT_EQ(disk.rows().size(), 3);
  EXPECT_FALSE(disk.busy());
}

TEST(DurableStore, FailedCommitUndoesEverythingThatIsNotDurable) {
  FakeDisk disk;
  const auto store = disk.OpenStore({});
  Outcome first;
  Outcome second;
  std::optional<Status> durable;
  store->Put(PodKey("a"), 0, PodNamed("a"), first.Done());
  store->Put(PodKey("a"), 2, PodNamed("a", "more"), second.Done());
  store->WhenDurable([&](Status status) { durable = std::move(status); });
  disk.Break();
  EXPECT_EQ(first.result.value().error().message, "strata.db: disk I/O error");
  EXPECT_EQ(second.result.value().error().code, Code::kUnavailable);
  EXPECT_FALSE(durable.value());
  EXPECT_EQ(store->GetLatest(PodKey("a")), nullptr);
  EXPECT_FALSE(disk.busy());
  Set(*store, PodKey("a"), PodNamed("a"));
  disk.Succeed();
  EXPECT_EQ(VersionOf(store->Get(PodKey("a"))), 4);
}

TEST(DurableStore, AFullDiskFailsWhatTakesSpaceAndTriesDeletionsAgain) {
  FakeDisk disk;
  const auto store = disk.OpenStore({});
  for (const char* name : {"a", "b"}) Set(*store, PodKey(name), PodNamed(name));
  disk.Succeed();
  disk.Succeed();
  Outcome made;
  Outcome deleted;
  Outcome deleted_after_an_update;
  store->Put(PodKey("c"), 0, PodNamed("c"), made.Done());
  store->Delete(PodKey("a"), 2, PodNamed("a"), deleted.Done());
  Set(*store, PodKey("b"), PodNamed("b", "more"));
  store->Delete(PodKey("b"), 6, PodNamed("b"), deleted_after_an_update.Done());
  disk.Fill();
  EXPECT_EQ(made.result.value().error().message, "strata.db: no space left on device");
  EXPECT_TRUE(store::IsDiskFull(deleted_after_an_update.result.value().error()))
      << "it was made from a state that is not going to be";
  EXPECT_EQ(store->GetLatest(PodKey("c")), nullptr);
  EXPECT_EQ(VersionOf(store->GetLatest(PodKey("b"))), 3);
  EXPECT_FALSE(deleted.result.has_value());
  disk.Succeed();
  EXPECT_EQ(VersionOf(deleted.result.value().value()), 5);
  EXPECT_EQ(disk.rows().size(), 1U);
  EXPECT_FALSE(disk.busy());
}

TEST(DurableStore, AFullDiskStillMarksObjectsAsTerminating) {
  FakeDisk disk;
  const auto store = disk.OpenStore({});
  Set(*store, PodKey("a"), PodNamed("a"));
  disk.Succeed();
  Outcome made;
  Outcome marked;
  Outcome grown;
  json terminating = PodNamed("a");
  terminating["metadata"]["deletionTimestamp"] = "2026-01-02T03:04:05Z";
  store->Put(PodKey("b"), 0, PodNamed("b"), made.Done());
  store->Put(PodKey("a"), 2, terminating, marked.Done());
  terminating["spec"]["text"] = std::string(2'000, 'x');
  store->Put(PodKey("a"), 4, terminating, grown.Done());
  disk.Fill();
  EXPECT_FALSE(made.result.value());
  EXPECT_FALSE(grown.result.value()) << "it takes space";
  EXPECT_EQ(VersionOf(store->GetLatest(PodKey("a"))), 4);
  disk.Succeed();
  EXPECT_EQ(VersionOf(marked.result.value().value()), 4);
}

TEST(DurableStore, AFullDiskDeletesInSmallBatches) {
  FakeDisk disk;
  const auto store = disk.OpenStore({});
  constexpr int kPods = 200;
  for (int i = 0; i < kPods; ++i) Set(*store, PodKey(std::to_string(i)), PodNamed("p"));
  while (disk.busy()) disk.Succeed();
  int deleted = 0;
  std::optional<Status> durable;
  for (int i = 0; i < kPods; ++i) {
    const ObjectKey key = PodKey(std::to_string(i));
    store->Delete(key, store->GetLatest(key)->version, PodNamed("p"), [&](const auto& done) {
      deleted += done ? 1 : 0;
    });
  }
  store->WhenDurable([&](Status status) { durable = std::move(status); });
  disk.Succeed();  // the first
  disk.Fill();     // all others together
  EXPECT_EQ(deleted, 1);
  disk.Succeed();
  EXPECT_EQ(deleted, 65);
  while (disk.busy()) {
    EXPECT_FALSE(durable.has_value());
    disk.Succeed();
  }
  EXPECT_EQ(deleted, kPods);
  EXPECT_TRUE(durable.value());
}

TEST(DurableStore, ADeletionForWhichTheReserveIsTooSmallFails) {
  FakeDisk disk;
  const auto store = disk.OpenStore({});
  Set(*store, PodKey("a"), PodNamed("a"));
  disk.Succeed();
  Outcome deleted;
  store->Delete(PodKey("a"), 2, PodNamed("a"), deleted.Done());
  disk.Fill();
  disk.Fill();
  EXPECT_TRUE(store::IsDiskFull(deleted.result.value().error()));
  EXPECT_FALSE(disk.busy());
  EXPECT_EQ(VersionOf(store->GetLatest(PodKey("a"))), 2);
}

TEST(DurableStore, WhenDurableWaitsForWhatWasWrittenBefore) {
  FakeDisk disk;
  const auto store = disk.OpenStore({});
  int calls = 0;
  const auto count = [&](const Status& status) { calls += status ? 1 : 100; };
  store->WhenDurable(count);
  EXPECT_EQ(calls, 1);
  Set(*store, PodKey("a"), PodNamed("a"));
  store->WhenDurable(count);
  Set(*store, PodKey("b"), PodNamed("b"));
  store->WhenDurable(count);
  EXPECT_EQ(calls, 1);
  disk.Succeed();
  EXPECT_EQ(calls, 2);
  disk.Succeed();
  EXPECT_EQ(calls, 3);
}

TEST(DurableStore, APastIsGoneForWatchersAndIndexedForSelectors) {
  FakeDisk disk;
  const auto before = disk.OpenStore({});
  Set(*before, PodKey("a"), PodNamed("a", "t"));
  disk.Succeed();
  const auto store = disk.OpenStore({});
  store->SetSelectableFields("pods", {"spec.text"});
  EXPECT_THAT(store->Get(PodKey("a"))->fields, ElementsAre(Pair("spec.text", "t")));
  EXPECT_EQ(store->version(), disk.version());
  EXPECT_EQ(store->WatchFrom("pods", 1).error().message, "too old resource version: 1 (2)");
  EXPECT_TRUE(store->WatchFrom("pods", 2));
}

TEST(DurableStore, DestroyedStoreCallsNoCallback) {
  FakeDisk disk;
  auto store = disk.OpenStore({});
  store->Put(PodKey("a"), 0, PodNamed("a"), [](const Result<ObjectRef>&) { FAIL(); });
  store.reset();
  disk.Break();
}

// A folder of the version before, which counted from 1.
class StoredFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string body = R"({"metadata":{"name":"a","uid":"uid-a","resourceVersion":"7"}})";
    const store::Write write{
        .kind = store::Write::Kind::kPut,
        .row = {.resource = "pods", .ns = "default", .name = "a", .version = 7, .body = body}};
    ASSERT_TRUE(store::OpenJournal(folder_).value()->Commit({&write, 1}, 7));
  }
  ~StoredFolder() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<ObjectStore> OpenAt(Time now) {
    return OpenObjectStore(loop_, store::OpenJournal(folder_).value(), now).value();
  }

  const std::string folder_ = ::testing::TempDir() + "stored-" + std::to_string(getpid());
  net::EventLoop loop_;
};

TEST_F(StoredFolder, BeginsBeyondEveryVersionThatWasGivenOutSinceItsBackup) {
  const Time monday{std::chrono::hours(24 * 20'000)};
  const std::int64_t before = OpenAt(monday)->version();
  const std::int64_t given_out = before + 1'000'000;  // and none of them is in the folder
  const auto restored = OpenAt(monday + std::chrono::minutes(1));
  EXPECT_GT(restored->version(), given_out);
  EXPECT_EQ(restored->WatchFrom("pods", given_out).error().code, Code::kGone)
      << "a client must list again";
}

TEST_F(StoredFolder, DoesNotGoBackWithTheClock) {
  EXPECT_EQ(OpenAt(Time())->version(), 7);
}

TEST_F(StoredFolder, KeepsTheVersionsOfItsObjects) {
  const auto store = OpenAt(Time(std::chrono::hours(24 * 20'000)));
  const Snapshot pods = store->List("pods", "");
  ASSERT_EQ(pods.objects.size(), 1U);
  EXPECT_EQ(pods.objects[0]->version, 7);
}

}  // namespace
}  // namespace strata::apiserver
