#include "store/journal.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "tests/support/temporary_folder.h"

namespace strata::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A folder of its own for each test.
class JournalTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<Journal> Open() const {
    Result<std::unique_ptr<Journal>> journal = OpenJournal(folder_);
    EXPECT_TRUE(journal) << journal.error().message;
    return std::move(*journal);
  }

  const strata::testing::TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
};

Write Put(const char* name, std::int64_t version, std::string_view body) {
  return {.kind = Write::Kind::kPut,
          .row = {.resource = "pods", .ns = "ns", .name = name, .version = version, .body = body}};
}

Write Delete(const char* name) {
  return {.kind = Write::Kind::kDelete, .row = {.resource = "pods", .ns = "ns", .name = name}};
}

std::vector<std::string> Rows(Journal& journal) {
  std::vector<std::string> rows;
  const Status loaded = journal.Load([&](const Row& row) {
    rows.push_back(std::string(row.resource) + "/" + std::string(row.ns) + "/" +
                   std::string(row.name) + "@" + std::to_string(row.version) + "=" +
                   std::string(row.body));
  });
  EXPECT_TRUE(loaded);
  return rows;
}

TEST_F(JournalTest, WhatIsCommittedIsThereWhenItIsOpenedAgain) {
  const std::vector<Write> batch = {Put("b", 1, "{1}"), Put("a", 2, "{2}"), Put("b", 3, "{3}")};
  ASSERT_TRUE(Open()->Commit(batch, 3));
  const auto journal = Open();
  EXPECT_THAT(Rows(*journal), ElementsAre("pods/ns/a@2={2}", "pods/ns/b@3={3}"));
  EXPECT_EQ(journal->LastVersion().value(), 3);
}

TEST_F(JournalTest, ADeletionKeepsTheVersionThatItTook) {
  ASSERT_TRUE(Open()->Commit(std::vector<Write>{Put("a", 1, "{}")}, 1));
  ASSERT_TRUE(Open()->Commit(std::vector<Write>{Delete("a")}, 2));
  const auto journal = Open();
  EXPECT_THAT(Rows(*journal), ElementsAre());
  EXPECT_EQ(journal->LastVersion().value(), 2);
}

TEST_F(JournalTest, TextIsKeptByteByByte) {
  const std::string body("{\"a\":\"\0\xc3\xa4'\"}", 12);
  ASSERT_TRUE(Open()->Commit(std::vector<Write>{Put("a", 1, body)}, 1));
  std::string found;
  ASSERT_TRUE(Open()->Load([&](const Row& row) { found = row.body; }));
  EXPECT_EQ(found, body);
}

TEST_F(JournalTest, AFolderHasOneOwner) {
  const auto journal = Open();
  const auto second = OpenJournal(folder_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kConflict);
  EXPECT_EQ(second.error().message,
            folder_ + ": in use by another process (process " + std::to_string(getpid()) + ")");
}

TEST_F(JournalTest, MakesTheFolderForItsOwnerAlone) {
  const std::string folder = folder_ + "/deep/data";
  ASSERT_TRUE(OpenJournal(folder));
  struct stat of_folder {};
  struct stat of_file {};
  ASSERT_EQ(stat(folder.c_str(), &of_folder), 0);
  ASSERT_EQ(stat((folder + "/strata.db").c_str(), &of_file), 0);
  EXPECT_EQ(of_folder.st_mode & 0777, 0700U);
  EXPECT_EQ(of_file.st_mode & 0777, 0600U);
}

TEST_F(JournalTest, KeepsSettings) {
  ASSERT_TRUE(Open()->SetSettings({{"ca", "x"}, {"token", "one"}}));
  ASSERT_TRUE(Open()->SetSettings({{"token", "two"}}));
  EXPECT_EQ(Open()->Setting("ca").value(), "x");
  EXPECT_EQ(Open()->Setting("token").value(), "two");
  EXPECT_EQ(Open()->Setting("key").value(), std::nullopt);
}

TEST_F(JournalTest, AFileThatIsNoDatabaseIsNamed) {
  std::ofstream(folder_ + "/strata.db") << std::string(8192, 'x');
  const auto journal = OpenJournal(folder_);
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().code, Code::kInternal);
  EXPECT_EQ(journal.error().message, folder_ + "/strata.db: file is not a database");
}

TEST_F(JournalTest, AFolderThatCannotBeMadeIsNamed) {
  std::ofstream(folder_ + "/file") << "x";
  const auto journal = OpenJournal(folder_ + "/file/data");
  ASSERT_FALSE(journal);
  EXPECT_THAT(journal.error().message, StartsWith(folder_ + "/file/data: "));
}

// The database, as another program sees it while no journal is open.
void Change(const std::string& folder, const char* statements) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((folder + "/strata.db").c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, statements, nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database);
  sqlite3_close(database);
}

TEST_F(JournalTest, NamesARowThatIsDamaged) {
  for (const char* const damage : {"UPDATE objects SET body = '{2}'",
                                   "UPDATE objects SET version = 2",
                                   "UPDATE objects SET name = 'b'"}) {
    ASSERT_TRUE(Open()->Commit(std::vector<Write>{Put("a", 1, "{1}")}, 1));
    Change(folder_, damage);
    const Status loaded = Open()->Load([](const Row&) {});
    ASSERT_FALSE(loaded) << damage;
    EXPECT_EQ(loaded.error().code, Code::kInternal);
    EXPECT_THAT(loaded.error().message, StartsWith(folder_ + "/strata.db: pods ns/"));
    EXPECT_THAT(loaded.error().message, HasSubstr("damaged, its checksum does not match"));
    Change(folder_, "DELETE FROM objects");
  }
}

TEST_F(JournalTest, NamesASettingThatIsDamaged) {
  ASSERT_TRUE(Open()->SetSettings({{"token", "one"}}));
  Change(folder_, "UPDATE settings SET value = 'two'");
  const auto setting = Open()->Setting("token");
  ASSERT_FALSE(setting);
  EXPECT_THAT(setting.error().message, HasSubstr("strata.db: setting token: damaged"));
}

TEST_F(JournalTest, AFolderOfFormat1GetsChecksums) {
  Change(folder_,
         "CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL);"
         "INSERT INTO counters VALUES ('format', 1), ('version', 7);"
         "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);"
         "INSERT INTO settings VALUES ('token', 'one');"
         "CREATE TABLE objects (resource TEXT NOT NULL, ns TEXT NOT NULL, name TEXT NOT NULL,"
         "  version INTEGER NOT NULL, body TEXT NOT NULL, UNIQUE (resource, ns, name));"
         "INSERT INTO objects VALUES ('pods', 'ns', 'a', 7, '{7}');");
  EXPECT_THAT(Rows(*Open()), ElementsAre("pods/ns/a@7={7}"));
  EXPECT_EQ(Open()->Setting("token").value(), "one");
  EXPECT_EQ(Open()->LastVersion().value(), 7);
  Change(folder_, "UPDATE objects SET body = '{8}'");
  EXPECT_FALSE(Open()->Load([](const Row&) {}));
}

TEST_F(JournalTest, AFolderOfANewerProgramIsNotOpened) {
  ASSERT_TRUE(OpenJournal(folder_));
  Change(folder_, "UPDATE counters SET value = 3 WHERE name = 'format'");
  const auto journal = OpenJournal(folder_);
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().message,
            folder_ + "/strata.db: format 3, but this program knows only formats up to 2");
}

TEST_F(JournalTest, AFolderThatOthersMayWriteIsNotOpened) {
  ASSERT_TRUE(OpenJournal(folder_));
  for (const char* const name : {"", "/strata.db"}) {
    for (const mode_t right : {0020U, 0002U}) {
      const std::string path = folder_ + name;
      ASSERT_EQ(chmod(path.c_str(), 0700U | right), 0);
      const auto journal = OpenJournal(folder_);
      ASSERT_FALSE(journal) << path;
      EXPECT_EQ(journal.error().code, Code::kInvalidArgument);
      EXPECT_THAT(journal.error().message, StartsWith(path + ": other users may write to it"));
      ASSERT_EQ(chmod(path.c_str(), 0700U), 0);
    }
  }
  EXPECT_TRUE(OpenJournal(folder_));
}

// A limit on the size of files is a full disk that needs no disk.
TEST_F(JournalTest, AFullDiskFailsTheBatchAndNothingElse) {
  const auto journal = Open();
  ASSERT_TRUE(journal->Commit(std::vector<Write>{Put("a", 1, "{}")}, 1));
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 128 * 1024, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string large(1 << 20, 'x');
  const Status full = journal->Commit(std::vector<Write>{Put("b", 2, large)}, 2);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, Code::kUnavailable);
  EXPECT_THAT(full.error().message, HasSubstr(folder_ + "/strata.db: "));
  EXPECT_EQ(journal->LastVersion().value(), 1);
  ASSERT_TRUE(journal->Commit(std::vector<Write>{Put("c", 3, "{}")}, 3));
  EXPECT_THAT(Rows(*journal), ElementsAre("pods/ns/a@1={}", "pods/ns/c@3={}"));
}

}  // namespace
}  // namespace strata::store
