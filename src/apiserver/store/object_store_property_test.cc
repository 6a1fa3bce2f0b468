#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "apiserver/store/test_support.h"
#include "tests/support/property.h"

namespace strata::apiserver {
namespace {

using strata::testing::Below;
using strata::testing::CheckProperty;

constexpr std::size_t kKept = 6;  // events of history

// The same as the store, written as plainly as it can be: lists of everything that happened.
struct NaiveChange {
  std::string name;
  std::int64_t version = 0;
  bool deleted = false;
};

struct NaiveWrite {
  NaiveChange change;
  std::shared_ptr<Outcome> outcome;
};

struct NaiveWatcher {
  WatchPosition position;
  std::int64_t seen = 0;
};

class StoreAgainstModel {
 public:
  explicit StoreAgainstModel(bool durable) : durable_(durable) {
    if (durable_) {
      store_ = disk_.OpenStore({.events = kKept});
    } else {
      store_ = std::make_unique<ObjectStoreImpl>(HistoryLimits{.events = kKept}, 0);
    }
    token_ = store_->Subscribe("pods", [this] { ++told_; });
  }

  void Step() {
    switch (*Below(9)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return Write();
      case 4:
        return WriteFromTheWrongState();
      case 5:
        if (disk_.busy()) EndCommit(*Below(8));
        return;
      case 6:
        return Watch();
      case 7:
        return WatchOn();
      default:
        if (durable_ && *Below(4) == 0) Restart();
    }
  }

  void Check() {
    std::map<std::string, std::int64_t> durable;
    for (const NaiveChange& change : past_) Apply(change, durable);
    std::map<std::string, std::int64_t> latest = durable;
    for (const NaiveWrite& write : on_their_way_) Apply(write.change, latest);
    RC_ASSERT(Published() == durable);
    RC_ASSERT(Latest() == latest);
    for (const char* const name : kNames) {
      const ObjectRef object = store_->Get(PodKey(name));
      RC_ASSERT((object == nullptr ? 0 : object->version) == VersionIn(durable, name));
      const ObjectRef last = store_->GetLatest(PodKey(name));
      RC_ASSERT((last == nullptr ? 0 : last->version) == VersionIn(latest, name));
    }
    RC_ASSERT(store_->version() == PublishedVersion());
    for (const NaiveWrite& write : on_their_way_) RC_ASSERT(!write.outcome->result.has_value());
  }

  // Lets every commit end well and every watcher read on.
  void Finish() {
    while (disk_.busy()) EndCommit(kWell);
    Check();
    while (!watchers_.empty()) WatchOn();
  }

 private:
  static constexpr const char* kNames[] = {"a", "b", "c"};
  // How a commit ends; everything else is well, too.
  static constexpr int kBroken = 0;
  static constexpr int kFull = 1;
  static constexpr int kWell = 2;

  static void Apply(const NaiveChange& change, std::map<std::string, std::int64_t>& to) {
    if (change.deleted) {
      to.erase(change.name);
    } else {
      to[change.name] = change.version;
    }
  }
  static std::int64_t VersionIn(const std::map<std::string, std::int64_t>& of, const char* name) {
    const auto found = of.find(name);
    return found == of.end() ? 0 : found->second;
  }

  [[nodiscard]] std::map<std::string, std::int64_t> Published() const {
    std::map<std::string, std::int64_t> found;
    for (const ObjectRef& object : store_->List("pods", "").objects) {
      found[object->name] = object->version;
    }
    return found;
  }
  [[nodiscard]] std::map<std::string, std::int64_t> Latest() const {
    std::map<std::string, std::int64_t> found;
    store_->VisitLatest("pods", "default", [&](const StoredObject& object) {
      found[object.name] = object.version;
      return true;
    });
    return found;
  }
  [[nodiscard]] std::int64_t PublishedVersion() const {
    return past_.empty() ? 1 : past_.back().version;
  }
  // Watchers from before this version cannot know all that they missed.
  [[nodiscard]] std::int64_t Floor() const {
    const std::size_t events = past_.size() - forgotten_;
    if (events <= kKept) return forgotten_version_;
    return past_[past_.size() - kKept - 1].version;
  }

  void Write() {
    const std::string name = kNames[*Below(3)];
    const ObjectRef before = store_->GetLatest(PodKey(name));
    const bool remove = before != nullptr && *Below(3) == 0;
    const auto outcome = std::make_shared<Outcome>();
    const std::int64_t expected = before == nullptr ? 0 : before->version;
    if (remove) {
      store_->Delete(PodKey(name), expected, PodNamed(name), outcome->Done());
    } else {
      store_->Put(PodKey(name), expected, PodNamed(name), outcome->Done());
    }
    on_their_way_.push_back(
        {.change = {.name = name, .version = ++last_version_, .deleted = remove},
         .outcome = outcome});
    if (durable_) {
      if (committing_ == 0) committing_ = 1;
      RC_ASSERT(disk_.busy());
    } else {
      committing_ = 1;
      Acknowledge();
    }
  }

  void WriteFromTheWrongState() {
    const std::string name = kNames[*Below(3)];
    const ObjectRef before = store_->GetLatest(PodKey(name));
    const std::int64_t expected = before == nullptr ? last_version_ : before->version - 1;
    Outcome put;
    store_->Put(PodKey(name), expected, PodNamed(name), put.Done());
    RC_ASSERT(put.result.value().error().code == Code::kConflict);
    Outcome removed;
    store_->Delete(PodKey(name), expected, PodNamed(name), removed.Done());
    const Code code = before == nullptr ? Code::kNotFound : Code::kConflict;
    RC_ASSERT(removed.result.value().error().code == code);
  }

  void EndCommit(int how) {
    const int told_before = told_;
    if (how == kFull) return FillDisk();
    if (how == kBroken) {
      disk_.Break();
      for (const NaiveWrite& write : on_their_way_) {
        RC_ASSERT(write.outcome->result.value().error().code == Code::kUnavailable);
      }
      on_their_way_.clear();
      committing_ = 0;
      RC_ASSERT(!disk_.busy());
      RC_ASSERT(told_ == told_before);
      return;
    }
    disk_.Succeed();
    Acknowledge();
    RC_ASSERT(told_ == told_before + 1);
    // What was collected meanwhile is being committed now.
    committing_ = on_their_way_.size();
    RC_ASSERT(disk_.busy() == (committing_ > 0));
  }

  // Only deletions are left, of objects of which no other write was undone, and all of them are
  // tried together: three names have no 64 of them. Nothing is left if there were only such
  // already.
  void FillDisk() {
    const int told_before = told_;
    const auto end = on_their_way_.begin() + static_cast<std::ptrdiff_t>(committing_);
    const bool takes = std::any_of(
        on_their_way_.begin(), end, [](const NaiveWrite& write) { return !write.change.deleted; });
    disk_.Fill();
    std::set<std::string> undone;
    std::vector<NaiveWrite> kept;
    for (const NaiveWrite& write : on_their_way_) {
      const bool keep =
          (takes || !small_) && write.change.deleted && !undone.contains(write.change.name);
      if (keep) {
        kept.push_back(write);
        continue;
      }
      undone.insert(write.change.name);
      RC_ASSERT(write.outcome->result.value().error().code == Code::kUnavailable);
    }
    on_their_way_ = std::move(kept);
    committing_ = on_their_way_.size();
    small_ = true;
    RC_ASSERT(disk_.busy() == (committing_ > 0));
    RC_ASSERT(told_ == told_before);
  }

  // The first `committing_` writes are durable, and were told so.
  void Acknowledge() {
    for (; committing_ > 0; --committing_) {
      const NaiveWrite& write = on_their_way_.front();
      RC_ASSERT(write.outcome->result.value().value()->version == write.change.version);
      past_.push_back(write.change);
      if (!write.change.deleted) small_ = false;
      on_their_way_.erase(on_their_way_.begin());
    }
  }

  void Watch() {
    const std::int64_t version = *Below(static_cast<int>(last_version_) + 2);
    const Result<WatchPosition> position = store_->WatchFrom("pods", version);
    RC_ASSERT(position.has_value() == (version >= Floor()));
    if (!position) {
      RC_ASSERT(position.error().code == Code::kGone);
      return;
    }
    watchers_.push_back({.position = *position, .seen = version});
  }

  // One watcher reads up to five changes, or everything.
  void WatchOn() {
    if (watchers_.empty()) return;
    const std::size_t which = static_cast<std::size_t>(*Below(static_cast<int>(watchers_.size())));
    NaiveWatcher& watcher = watchers_[which];
    const int max = *Below(6) == 0 ? 1'000'000 : *Below(5) + 1;
    for (int i = 0; i < max; ++i) {
      const auto expected =
          std::find_if(past_.begin(), past_.end(), [&](const NaiveChange& change) {
            return change.version > watcher.seen;
          });
      const Result<const Change*> next = store_->Next(watcher.position);
      // A watcher that lacks nothing may be told that it is too slow only if it lacked something.
      const bool lost = expected != past_.end() && expected->version <= Floor();
      RC_ASSERT(next.has_value() == !lost);
      if (lost) {
        RC_ASSERT(next.error().code == Code::kGone);
        break;
      }
      if (expected == past_.end()) {
        RC_ASSERT(*next == nullptr);
        if (max <= 5) return;
        break;
      }
      RC_ASSERT(*next != nullptr);
      RC_ASSERT((*next)->version == expected->version);
      RC_ASSERT((*next)->after->name == expected->name);
      RC_ASSERT(((*next)->kind == Change::Kind::kDeleted) == expected->deleted);
      watcher.seen = expected->version;
      if (i + 1 == max) return;
    }
    watchers_.erase(watchers_.begin() + static_cast<std::ptrdiff_t>(which));
  }

  // kill -9: what was told is there, and versions do not go back.
  void Restart() {
    watchers_.clear();
    store_.reset();
    disk_.Forget();
    store_ = disk_.OpenStore({.events = kKept});
    RC_ASSERT(store_->version() == PublishedVersion());
    token_ = store_->Subscribe("pods", [this] { ++told_; });
    on_their_way_.clear();
    committing_ = 0;
    small_ = false;
    last_version_ = store_->version();
    forgotten_ = past_.size();
    forgotten_version_ = store_->version();
  }

  bool durable_;
  FakeDisk disk_;
  std::unique_ptr<ObjectStoreImpl> store_;
  ObjectStore::Token token_;
  int told_ = 0;
  std::int64_t last_version_ = 1;
  std::vector<NaiveChange> past_;         // everything that became durable
  std::size_t forgotten_ = 0;             // how much of it was before the last restart
  std::int64_t forgotten_version_ = 1;    // and its last version
  std::vector<NaiveWrite> on_their_way_;  // everything else
  std::size_t committing_ = 0;            // how many of those the disk has
  bool small_ = false;                    // the disk was full, and nothing was written since
  std::vector<NaiveWatcher> watchers_;
};

void Play(bool durable) {
  StoreAgainstModel world(durable);
  const int steps = *Below(120);
  for (int i = 0; i < steps; ++i) {
    world.Step();
    world.Check();
  }
  world.Finish();
}

TEST(ObjectStoreProperty, InMemoryItIsTheNaiveModel) {
  CheckProperty(300, [] { Play(false); });
}

TEST(ObjectStoreProperty, WithLateAndFailingCommitsItIsTheNaiveModel) {
  CheckProperty(500, [] { Play(true); });
}

}  // namespace
}  // namespace strata::apiserver
