#include "store/journal.h"

#include <utility>

#include "store/folder_lock.h"
#include "store/sqlite.h"

namespace strata::store {
namespace {

// Written into the file, by kTables; a format that an older program would misread gets another
// number.
constexpr std::int64_t kFormat = 1;

// The lock on the folder keeps others out, so SQLite need not share its index of the WAL. FULL:
// the WAL is on the disk before a commit returns.
constexpr const char* kPragmas =
    "PRAGMA locking_mode=EXCLUSIVE;"
    "PRAGMA journal_mode=WAL;"
    "PRAGMA synchronous=FULL;"
    "PRAGMA wal_autocheckpoint=4000;"
    "PRAGMA temp_store=MEMORY;";

// In one transaction: each would cost a few milliseconds of its own.
constexpr const char* kTables =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL);"
    "INSERT INTO counters (name, value) VALUES ('format', 1) ON CONFLICT DO NOTHING;"
    "CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE TABLE IF NOT EXISTS objects ("
    "  resource TEXT NOT NULL, ns TEXT NOT NULL, name TEXT NOT NULL,"
    "  version INTEGER NOT NULL, body TEXT NOT NULL, UNIQUE (resource, ns, name));"
    "COMMIT;";

constexpr std::string_view kSetCounter =
    "INSERT INTO counters (name, value) VALUES (?1, ?2)"
    " ON CONFLICT (name) DO UPDATE SET value = excluded.value";
constexpr std::string_view kPut =
    "INSERT INTO objects (resource, ns, name, version, body) VALUES (?1, ?2, ?3, ?4, ?5)"
    " ON CONFLICT (resource, ns, name)"
    " DO UPDATE SET version = excluded.version, body = excluded.body";
constexpr std::string_view kDelete =
    "DELETE FROM objects WHERE resource = ?1 AND ns = ?2 AND name = ?3";

class SqliteJournal final : public Journal {
 public:
  static Result<std::unique_ptr<Journal>> Open(const std::string& folder) {
    TRY_ASSIGN(FolderLock lock, FolderLock::Take(folder));
    TRY_ASSIGN(std::unique_ptr<Database> database, Database::Open(folder + "/strata.db"));
    TRY(database->Execute(kPragmas));
    TRY(database->Execute(kTables));
    TRY_ASSIGN(Statement put, database->Prepare(kPut));
    TRY_ASSIGN(Statement remove, database->Prepare(kDelete));
    TRY_ASSIGN(Statement set_counter, database->Prepare(kSetCounter));
    std::unique_ptr<SqliteJournal> journal(new SqliteJournal(std::move(lock),
                                                             std::move(database),
                                                             std::move(put),
                                                             std::move(remove),
                                                             std::move(set_counter)));
    TRY(journal->CheckFormat(folder));
    return Result<std::unique_ptr<Journal>>(std::move(journal));
  }

  Result<std::int64_t> LastVersion() override {
    TRY_ASSIGN(const std::optional<std::int64_t> version, Counter("version"));
    return version.value_or(0);
  }

  Status Load(const std::function<void(const Row&)>& visit) override {
    TRY_ASSIGN(Statement rows,
               database_->Prepare("SELECT resource, ns, name, version, body FROM objects"
                                  " ORDER BY resource, ns, name"));
    for (;;) {
      TRY_ASSIGN(const Statement::Step step, rows.Next());
      if (step == Statement::Step::kDone) return {};
      visit({.resource = rows.Text(0),
             .ns = rows.Text(1),
             .name = rows.Text(2),
             .version = rows.Number(3),
             .body = rows.Text(4)});
    }
  }

  Status Commit(std::span<const Write> writes, std::int64_t last_version) override {
    return InTransaction([&]() -> Status {
      for (const Write& write : writes) TRY(Apply(write));
      return SetCounter("version", last_version);
    });
  }

  Result<std::optional<std::string>> Setting(const std::string& name) override {
    TRY_ASSIGN(Statement read, database_->Prepare("SELECT value FROM settings WHERE name = ?1"));
    read.Bind(1, name);
    TRY_ASSIGN(const Statement::Step step, read.Next());
    if (step == Statement::Step::kDone) return std::optional<std::string>();
    return std::optional<std::string>(read.Text(0));
  }

  Status SetSettings(const std::map<std::string, std::string>& settings) override {
    TRY_ASSIGN(Statement write,
               database_->Prepare("INSERT INTO settings (name, value) VALUES (?1, ?2)"
                                  " ON CONFLICT (name) DO UPDATE SET value = excluded.value"));
    return InTransaction([&]() -> Status {
      for (const auto& [name, value] : settings) {
        write.Bind(1, name);
        write.Bind(2, value);
        TRY(write.Run());
      }
      return {};
    });
  }

 private:
  SqliteJournal(FolderLock lock,
                std::unique_ptr<Database> database,
                Statement put,
                Statement remove,
                Statement set_counter)
      : lock_(std::move(lock)),
        database_(std::move(database)),
        put_(std::move(put)),
        delete_(std::move(remove)),
        set_counter_(std::move(set_counter)) {}

  Status CheckFormat(const std::string& folder) {
    TRY_ASSIGN(const std::optional<std::int64_t> format, Counter("format"));
    if (format == kFormat) return {};
    return Fail(Code::kInternal,
                folder + "/strata.db: format " + std::to_string(format.value_or(0)) +
                    ", but this program knows only " + std::to_string(kFormat));
  }

  Result<std::optional<std::int64_t>> Counter(const std::string& name) {
    TRY_ASSIGN(Statement read, database_->Prepare("SELECT value FROM counters WHERE name = ?1"));
    read.Bind(1, name);
    TRY_ASSIGN(const Statement::Step step, read.Next());
    if (step == Statement::Step::kDone) return std::optional<std::int64_t>();
    return std::optional<std::int64_t>(read.Number(0));
  }

  Status SetCounter(std::string_view name, std::int64_t value) {
    set_counter_.Bind(1, name);
    set_counter_.Bind(2, value);
    return set_counter_.Run();
  }

  Status Apply(const Write& write) {
    Statement& statement = write.kind == Write::Kind::kPut ? put_ : delete_;
    statement.Bind(1, write.row.resource);
    statement.Bind(2, write.row.ns);
    statement.Bind(3, write.row.name);
    if (write.kind == Write::Kind::kPut) {
      statement.Bind(4, write.row.version);
      statement.Bind(5, write.row.body);
    }
    return statement.Run();
  }

  template <typename Body>
  Status InTransaction(const Body& body) {
    TRY(database_->Execute("BEGIN IMMEDIATE"));
    Status status = body();
    if (status) status = database_->Execute("COMMIT");
    // SQLite rolls back by itself after some failures; then there is nothing to roll back.
    if (!status) (void)database_->Execute("ROLLBACK");
    return status;
  }

  FolderLock lock_;
  std::unique_ptr<Database> database_;
  Statement put_;
  Statement delete_;
  Statement set_counter_;
};

}  // namespace

Result<std::unique_ptr<Journal>> OpenJournal(const std::string& folder) {
  return SqliteJournal::Open(folder);
}

}  // namespace strata::store
