#include "store/journal.h"

#include <utility>

#include "store/folder_format.h"
#include "store/folder_lock.h"
#include "store/row_checksum.h"
#include "store/sqlite.h"

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

class SqliteJournal final : public Journal {
 public:
  static Result<std::unique_ptr<Journal>> Open(const std::string& folder) {
    TRY_ASSIGN(FolderLock lock, FolderLock::Take(folder));
    const std::string path = folder + "/strata.db";
    TRY_ASSIGN(std::unique_ptr<Database> database, Database::Open(path));
    TRY(database->Execute(kPragmas));
    TRY(PrepareTables(*database, path));
    TRY_ASSIGN(Statement put, database->Prepare(kPut));
    TRY_ASSIGN(Statement remove, database->Prepare(kDelete));
    TRY_ASSIGN(Statement set_counter, database->Prepare(kSetCounter));
    return std::unique_ptr<Journal>(new SqliteJournal(std::move(lock),
                                                      std::move(database),
                                                      path,
                                                      std::move(put),
                                                      std::move(remove),
                                                      std::move(set_counter)));
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
    return database_->InTransaction([&]() -> Status {
      for (const Write& write : writes) TRY(Apply(write));
      return SetCounter("version", last_version);
    });
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
  SqliteJournal(FolderLock lock,
                std::unique_ptr<Database> database,
                std::string path,
                Statement put,
                Statement remove,
                Statement set_counter)
      : lock_(std::move(lock)),
        database_(std::move(database)),
        path_(std::move(path)),
        put_(std::move(put)),
        delete_(std::move(remove)),
        set_counter_(std::move(set_counter)) {}

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
      statement.Bind(6, ChecksumOf(write.row));
    }
    return statement.Run();
  }

  FolderLock lock_;
  std::unique_ptr<Database> database_;
  std::string path_;
  Statement put_;
  Statement delete_;
  Statement set_counter_;
};

}  // namespace

Result<std::unique_ptr<Journal>> OpenJournal(const std::string& folder) {
  return SqliteJournal::Open(folder);
}

}  // namespace strata::store
