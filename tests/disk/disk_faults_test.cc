#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "store/journal.h"
#include "tests/disk/fault_disk.h"
#include "tests/support/temporary_folder.h"

namespace strata::store {
namespace {

using strata::testing::FaultDisk;
using strata::testing::TemporaryFolder;
using strata::testing::Unsynced;

// What a journal has, or should have.
struct Contents {
  std::map<std::string, std::string> bodies;  // by name
  std::map<std::string, std::string> settings;
  std::int64_t version = 0;

  bool operator==(const Contents& other) const {
    return bodies == other.bodies && settings == other.settings && version == other.version;
  }
};

std::ostream& operator<<(std::ostream& out, const Contents& contents) {
  out << "version " << contents.version << ":";
  for (const auto& [name, body] : contents.bodies) {
    out << " " << name << "=" << body.substr(0, 8) << "(" << body.size() << ")";
  }
  for (const auto& [name, value] : contents.settings) out << " " << name << ":" << value;
  return out;
}

// The user of a journal on a disk that fails. It opens the journal again when it could not be
// opened, and notes what it was told.
class User {
 public:
  explicit User(std::string folder) : folder_(std::move(folder)) {}

  bool Open() {
    if (journal_ != nullptr) return true;
    Result<std::unique_ptr<Journal>> opened = OpenJournal(folder_);
    if (!opened) {
      ExpectAReason(opened.error());
      return false;
    }
    journal_ = std::move(*opened);
    return true;
  }
  void Close() { journal_.reset(); }

  void Put(const std::string& name, const std::string& body) {
    Contents next = told_;
    next.bodies[name] = body;
    Commit(
        std::move(next),
        {.row = {
             .resource = "pods", .ns = "ns", .name = name, .version = ++version_, .body = body}});
  }
  void Delete(const std::string& name) {
    Contents next = told_;
    next.bodies.erase(name);
    Commit(
        std::move(next),
        {.kind = Write::Kind::kDelete,
         .space = Write::Space::kGivesBack,
         .row = {.resource = "pods", .ns = "ns", .name = name, .version = ++version_, .body = ""}});
  }
  void Set(const std::string& name, const std::string& value) {
    Contents next = told_;
    next.settings[name] = value;
    if (Open()) Note(journal_->SetSettings({{name, value}}), std::move(next));
  }

  // What is there while the journal is open is what the user was told.
  void ExpectWhatItWasTold() {
    if (!Open()) return;
    const std::optional<Contents> found = Read();
    EXPECT_EQ(found.value_or(told_), told_);
  }
  // After power was lost, or the journal was closed by a disk that failed, one of the writes that
  // failed last may be there all the same.
  void ExpectNothingLost() {
    ASSERT_TRUE(Open());
    const std::optional<Contents> found = Read();
    ASSERT_TRUE(found);
    const bool in_doubt = std::find(doubtful_.begin(), doubtful_.end(), *found) != doubtful_.end();
    EXPECT_TRUE(*found == told_ || in_doubt) << "there: " << *found << "\ntold:  " << told_;
    told_ = *found;
    doubtful_.clear();
  }

 private:
  void Commit(Contents next, const Write& write) {
    next.version = version_;
    if (Open()) Note(journal_->Commit({&write, 1}, version_), std::move(next));
  }
  void Note(const Status& status, Contents next) {
    if (status) {
      told_ = std::move(next);
      doubtful_.clear();
      return;
    }
    ExpectAReason(status.error());
    doubtful_.push_back(std::move(next));
  }
  // That it says what failed. What the disk cannot read SQLite calls malformed.
  static void ExpectAReason(const Error& error) {
    const bool unread = error.code == Code::kInternal && error.message.ends_with("malformed");
    EXPECT_TRUE(error.code == Code::kUnavailable || unread) << error.message;
  }

  std::optional<Contents> Read() {
    Contents found;
    const Status loaded =
        journal_->Load([&](const Row& row) { found.bodies[std::string(row.name)] = row.body; });
    const Result<std::int64_t> version = journal_->LastVersion();
    if (!loaded || !version) {
      ExpectAReason(!loaded ? loaded.error() : version.error());
      return std::nullopt;
    }
    found.version = *version;
    for (const char* const name : {"ca", "token"}) {
      const Result<std::optional<std::string>> value = journal_->Setting(name);
      if (!value) {
        ExpectAReason(value.error());
        return std::nullopt;
      }
      if (*value) found.settings[name] = **value;
    }
    return found;
  }

  std::string folder_;
  std::unique_ptr<Journal> journal_;
  Contents told_;
  // What there would be if one of the writes since the last success had succeeded.
  std::vector<Contents> doubtful_;
  std::int64_t version_ = 0;
};

// A short history in which everything occurs: a folder is made, settings, objects that need many
// pages, updates, deletions, and a restart with the log moved into the database.
void Live(User& user) {
  user.Open();
  user.Set("ca", "one");
  user.Put("a", "first");
  user.Put("large", std::string(30'000, 'l'));
  user.ExpectWhatItWasTold();
  user.Delete("a");
  user.Put("b", std::string(5'000, 'b'));
  user.Close();
  user.Open();
  user.ExpectWhatItWasTold();
  user.Put("large", std::string(20'000, 'm'));
  user.Set("token", "two");
  user.Delete("b");
  user.Put("c", "last");
  user.ExpectWhatItWasTold();
}

// A folder of its own with a disk of its own.
struct Machine {
  TemporaryFolder folder;
  FaultDisk disk{folder.path()};
  User user{folder.path() + "/deep/data"};
};

int CallsOfTheHistory() {
  Machine machine;
  Live(machine.user);
  return machine.disk.calls();
}

// The user goes on after the fault, and after a restart.
void ExpectThatLifeGoesOn(User& user) {
  user.Put("after", "the fault");
  user.ExpectWhatItWasTold();
  user.Close();
  user.ExpectNothingLost();
  user.Delete("after");
  user.ExpectWhatItWasTold();
}

class EveryCall : public ::testing::TestWithParam<std::pair<int, FaultDisk::Lasts>> {};

TEST_P(EveryCall, ThatFailsLosesNothing) {
  const auto [error, lasts] = GetParam();
  const int calls = CallsOfTheHistory();
  ASSERT_GT(calls, 80);
  for (int call = 1; call <= calls && !HasFailure(); ++call) {
    SCOPED_TRACE("call " + std::to_string(call) + " of " + std::to_string(calls));
    Machine machine;
    machine.disk.FailAt(call, error, lasts);
    Live(machine.user);
    machine.disk.Heal();
    machine.user.ExpectNothingLost();
    ExpectThatLifeGoesOn(machine.user);
  }
}

INSTANTIATE_TEST_SUITE_P(Disk,
                         EveryCall,
                         ::testing::Values(std::pair(EIO, FaultDisk::Lasts::kOneCall),
                                           std::pair(EIO, FaultDisk::Lasts::kUntilHealed),
                                           std::pair(ENOSPC, FaultDisk::Lasts::kOneCall),
                                           std::pair(ENOSPC, FaultDisk::Lasts::kUntilHealed)));

// The power goes before the call, and what was not synced is lost, kept, or some of both.
void LosePowerAt(int call, Unsynced unsynced, std::uint64_t seed) {
  SCOPED_TRACE("call " + std::to_string(call) + ", seed " + std::to_string(seed));
  Machine machine;
  Random random(seed);
  machine.disk.CutPowerAt(call);
  Live(machine.user);
  machine.user.Close();
  machine.disk.RestorePower(unsynced, random);
  machine.user.ExpectNothingLost();
  ExpectThatLifeGoesOn(machine.user);
}

TEST(PowerLoss, AtAnyCallLosesNothingThatWasCommitted) {
  const int calls = CallsOfTheHistory();
  for (int call = 1; call <= calls + 1 && !::testing::Test::HasFailure(); ++call) {
    LosePowerAt(call, Unsynced::kLost, 0);
    LosePowerAt(call, Unsynced::kKept, 0);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) LosePowerAt(call, Unsynced::kByChance, seed);
  }
}

// What the system could not sync it never writes: a later success says nothing about it.
TEST(PowerLoss, AfterASyncThatFailedLosesNothingThatWasCommitted) {
  const int calls = CallsOfTheHistory();
  for (int call = 1; call <= calls && !::testing::Test::HasFailure(); ++call) {
    SCOPED_TRACE("call " + std::to_string(call));
    for (const int more : {7, 1000}) {
      Machine machine;
      Random random(static_cast<std::uint64_t>(call));
      machine.disk.FailAt(call, EIO, FaultDisk::Lasts::kOneCall);
      machine.disk.CutPowerAt(std::min(call + more, calls + 1));
      Live(machine.user);
      machine.user.Close();
      machine.disk.RestorePower(Unsynced::kLost, random);
      machine.user.ExpectNothingLost();
      ExpectThatLifeGoesOn(machine.user);
    }
  }
}

// The power goes a second time, while what the first loss left is repaired.
TEST(PowerLoss, DuringTheRepairLosesNothing) {
  const int calls = CallsOfTheHistory();
  for (int call = 1; call <= calls && !::testing::Test::HasFailure(); call += 7) {
    for (int again = 1; again <= 40; again += 3) {
      SCOPED_TRACE("call " + std::to_string(call) + ", then " + std::to_string(again));
      Machine machine;
      Random random(static_cast<std::uint64_t>(call * 100 + again));
      machine.disk.CutPowerAt(call);
      Live(machine.user);
      machine.user.Close();
      machine.disk.RestorePower(Unsynced::kByChance, random);
      machine.disk.CutPowerAt(machine.disk.calls() + again);
      machine.user.Open();
      machine.user.Close();
      machine.disk.RestorePower(Unsynced::kByChance, random);
      machine.user.ExpectNothingLost();
      ExpectThatLifeGoesOn(machine.user);
    }
  }
}

// That the disk of these tests takes away what was not synced.
TEST(FaultDisk, LosesWhatWasNotSynced) {
  Machine machine;
  Random random(1);
  const std::string path = machine.folder.path() + "/file";
  const int file = open(path.c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(pwrite(file, "one", 3, 0), 3);
  ASSERT_EQ(fsync(file), 0);
  const int folder = open(machine.folder.path().c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(fsync(folder), 0);
  ASSERT_EQ(pwrite(file, "two", 3, 0), 3);
  close(folder);
  close(file);
  machine.disk.RestorePower(Unsynced::kLost, random);
  std::ifstream left(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(left), {}), "one");
}

TEST(FaultDisk, LosesANameWhoseFolderWasNotSynced) {
  Machine machine;
  Random random(1);
  const std::string path = machine.folder.path() + "/file";
  const int file = open(path.c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(fsync(file), 0);
  close(file);
  machine.disk.RestorePower(Unsynced::kLost, random);
  struct stat found {};
  EXPECT_NE(stat(path.c_str(), &found), 0);
}

}  // namespace
}  // namespace strata::store
