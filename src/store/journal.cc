#include "store/journal.h"

#include <algorithm>
#include <utility>

#include "store/disk_space.h"
#include "store/folder_format.h"
#include "store/folder_lock.h"
#include "store/row_checksum.h"
#include "store/sqlite.h"
#include "store/sync_folder.h"

namespace strata::store {
namespace {

// The lock on the folder keeps others out, so SQLite need not share its index of the WAL. FULL:
// the WAL is on the disk before a commit returns.
constexpr const char* kPragmas =
    "PRAGMA locking_mode=EXCLUSIVE;"
    "PRAGMA journal_mode=WAL;"
    "PRAGMA synchronous=FULL;"
    "PRAGMA wal_autocheckpoint=4000;"
    "PRAGMA temp_store=MEMORY;";

constexpr std::string_view kSetCounter =
    "INSERT INTO counters (name, value) VALUES (?1, ?2)"
    " ON CONFLICT (name) DO UPDATE SET value = excluded.value";
constexpr std::string_view kPut =
    "INSERT INTO objects (resource, ns, name, version, body, checksum)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (resource, ns, name) DO UPDATE"
    " SET version = excluded.version, body = excluded.body, checksum = excluded.checksum";
constexpr std::string_view kDelete =
    "DELETE FROM objects WHERE resource = ?1 AND ns = ?2 AND name = ?3";

// What the database leaves of the disk, so that the log can have the largest objects.
constexpr std::int64_t kLogRoom = 8 << 20;

constexpr std::string_view kDiskFull = ": no space left on device";

class SqliteJournal final : public Journal {
 public:
  static Result<std::unique_ptr<Journal>> Open(const std::string& folder) {
    TRY_ASSIGN(FolderLock lock, FolderLock::Take(folder));
    const std::string path = folder + "/strata.db";
    TRY(Database::MakeFile(path));
    // Before SQLite: to close any descriptor of a file ends the locks of its process.
    TRY_ASSIGN(FileSpace space, FileSpace::Of(path));
    TRY_ASSIGN(std::unique_ptr<Database> database, Database::Open(path));
    TRY(database->Execute(kPragmas));
    TRY(PrepareTables(*database, path));
    // SQLite passes over a failure to put the name of its log on the disk.
    TRY(SyncFolder(folder));
    TRY_ASSIGN(Statements statements, Statements::Of(*database));
    std::unique_ptr<SqliteJournal> journal(new SqliteJournal(
        folder, std::move(lock), std::move(space), std::move(database), std::move(statements)));
    TRY_ASSIGN(journal->page_size_, journal->Number(journal->statements_.page_size));
    journal->reserve_.Fill();
    return std::unique_ptr<Journal>(std::move(journal));
  }

  Result<std::int64_t> LastVersion() override {
    TRY_ASSIGN(const std::optional<std::int64_t> version, Counter("version"));
    return version.value_or(0);
  }

  Status Load(const std::function<void(const Row&)>& visit) override {
    TRY_ASSIGN(Statement rows,
               database_->Prepare("SELECT resource, ns, name, version, body, checksum FROM objects"
                                  " ORDER BY resource, ns, name"));
    for (;;) {
      TRY_ASSIGN(const Statement::Step step, rows.Next());
      if (step == Statement::Step::kDone) return {};
      const Row row{.resource = rows.Text(0),
                    .ns = rows.Text(1),
                    .name = rows.Text(2),
                    .version = rows.Number(3),
                    .body = rows.Text(4)};
      if (ChecksumOf(row) != rows.Number(5)) {
        return Damaged(std::string(row.resource) + " " + std::string(row.ns) + "/" +
                       std::string(row.name));
      }
      visit(row);
    }
  }

  Status Commit(std::span<const Write> writes, std::int64_t last_version) override {
    reserve_.Fill();
    const bool gives_back = std::all_of(writes.begin(), writes.end(), [](const Write& write) {
      return write.space == Write::Space::kGivesBack;
    });
    const std::int64_t left = gives_back ? 0 : kLogRoom;
    Status status = CommitOnce(writes, last_version, left);
    if (!FailedForSpace(status)) return status;
    EmptyLog();
    status = CommitOnce(writes, last_version, left);
    if (!FailedForSpace(status) || !gives_back) return status;
    reserve_.Release();
    status = CommitOnce(writes, last_version, left);
    EmptyLog();
    reserve_.Fill();
    return status;
  }

  Result<std::optional<std::string>> Setting(const std::string& name) override {
    TRY_ASSIGN(Statement read,
               database_->Prepare("SELECT value, checksum FROM settings WHERE name = ?1"));
    read.Bind(1, name);
    TRY_ASSIGN(const Statement::Step step, read.Next());
    if (step == Statement::Step::kDone) return std::optional<std::string>();
    if (ChecksumOf(name, read.Text(0)) != read.Number(1)) return Damaged("setting " + name);
    return std::optional<std::string>(read.Text(0));
  }

  Status SetSettings(const std::map<std::string, std::string>& settings) override {
    TRY_ASSIGN(Statement write,
               database_->Prepare("INSERT INTO settings (name, value, checksum) VALUES (?1, ?2, ?3)"
                                  " ON CONFLICT (name) DO UPDATE"
                                  " SET value = excluded.value, checksum = excluded.checksum"));
    return database_->InTransaction([&]() -> Status {
      for (const auto& [name, value] : settings) {
        write.Bind(1, name);
        write.Bind(2, value);
        write.Bind(3, ChecksumOf(name, value));
        TRY(write.Run());
      }
      return {};
    });
  }

 private:
  struct Statements {
    Statement put;
    Statement remove;
    Statement set_counter;
    Statement page_size;
    Statement page_count;

    static Result<Statements> Of(const Database& database) {
      TRY_ASSIGN(Statement put, database.Prepare(kPut));
      TRY_ASSIGN(Statement remove, database.Prepare(kDelete));
      TRY_ASSIGN(Statement set_counter, database.Prepare(kSetCounter));
      TRY_ASSIGN(Statement page_size, database.Prepare("PRAGMA page_size"));
      TRY_ASSIGN(Statement page_count, database.Prepare("PRAGMA page_count"));
      return Statements{.put = std::move(put),
                        .remove = std::move(remove),
                        .set_counter = std::move(set_counter),
                        .page_size = std::move(page_size),
                        .page_count = std::move(page_count)};
    }
  };

  SqliteJournal(const std::string& folder,
                FolderLock lock,
                FileSpace space,
                std::unique_ptr<Database> database,
                Statements statements)
      : path_(folder + "/strata.db"),
        lock_(std::move(lock)),
        space_(std::move(space)),
        database_(std::move(database)),
        statements_(std::move(statements)),
        reserve_(folder + "/reserve") {}

  static bool FailedForSpace(const Status& status) { return !status && IsDiskFull(status.error()); }

  // Leaves so many bytes of the disk to the log.
  Status CommitOnce(std::span<const Write> writes, std::int64_t last_version, std::int64_t left) {
    return database_->InTransaction([&]() -> Status {
      for (const Write& write : writes) TRY(Apply(write));
      TRY(SetCounter("version", last_version));
      // What the database grows by is written into it only when the log is emptied, and then there
      // must be room.
      TRY_ASSIGN(const std::int64_t pages, Number(statements_.page_count));
      return space_.Take(pages * page_size_, left);
    });
  }

  // Moves what the log has into the database, and the space of the log to the disk. If it cannot,
  // the log keeps it.
  void EmptyLog() { (void)database_->Execute("PRAGMA wal_checkpoint(TRUNCATE)"); }

  // The one number that the statement gives.
  static Result<std::int64_t> Number(Statement& statement) {
    const Result<Statement::Step> step = statement.Next();
    if (!step) {
      statement.Reset();
      return tl::unexpected(step.error());
    }
    const std::int64_t number = statement.Number(0);
    statement.Reset();
    return number;
  }

  [[nodiscard]] tl::unexpected<Error> Damaged(const std::string& what) const {
    return Fail(Code::kInternal,
                path_ + ": " + what +
                    ": damaged, its checksum does not match; restore the folder from a backup");
  }

  Result<std::optional<std::int64_t>> Counter(const std::string& name) {
    TRY_ASSIGN(Statement read, database_->Prepare("SELECT value FROM counters WHERE name = ?1"));
    read.Bind(1, name);
    TRY_ASSIGN(const Statement::Step step, read.Next());
    if (step == Statement::Step::kDone) return std::optional<std::int64_t>();
    return std::optional<std::int64_t>(read.Number(0));
  }

  Status SetCounter(std::string_view name, std::int64_t value) {
    statements_.set_counter.Bind(1, name);
    statements_.set_counter.Bind(2, value);
    return statements_.set_counter.Run();
  }

  Status Apply(const Write& write) {
    Statement& statement = write.kind == Write::Kind::kPut ? statements_.put : statements_.remove;
    statement.Bind(1, write.row.resource);
    statement.Bind(2, write.row.ns);
    statement.Bind(3, write.row.name);
    if (write.kind == Write::Kind::kPut) {
      statement.Bind(4, write.row.version);
      statement.Bind(5, write.row.body);
      statement.Bind(6, ChecksumOf(write.row));
    }
    return statement.Run();
  }

  std::string path_;
  FolderLock lock_;
  FileSpace space_;  // before database_, which closes the file first
  std::unique_ptr<Database> database_;
  Statements statements_;
  Reserve reserve_;
  std::int64_t page_size_ = 0;
};

}  // namespace

Error DiskFull(const std::string& path) {
  return Error{Code::kUnavailable, path + std::string(kDiskFull)};
}

bool IsDiskFull(const Error& error) {
  return error.code == Code::kUnavailable && error.message.ends_with(kDiskFull);
}

Result<std::unique_ptr<Journal>> OpenJournal(const std::string& folder) {
  return SqliteJournal::Open(folder);
}

}  // namespace strata::store
