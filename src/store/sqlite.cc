#include "store/sqlite.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "store/journal.h"
#include "store/sync_folder.h"
#include "store/system_failure.h"

namespace strata::store {
namespace {

// What is about the file's content will not go away by trying again.
Code CodeOf(int sqlite_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_SCHEMA:
    case SQLITE_MISMATCH:
    case SQLITE_ERROR:
    case SQLITE_MISUSE:
    case SQLITE_CONSTRAINT:
      return Code::kInternal;
    default:
      return Code::kUnavailable;
  }
}

}  // namespace

void Statement::Bind(int parameter, std::string_view text) {
  // A null pointer would bind NULL.
  const char* const data = text.empty() ? "" : text.data();
  sqlite3_bind_text64(statement_.get(), parameter, data, text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

void Statement::Bind(int parameter, std::int64_t number) {
  sqlite3_bind_int64(statement_.get(), parameter, number);
}

Result<Statement::Step> Statement::Next() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return Step::kRow;
  if (code == SQLITE_DONE) return Step::kDone;
  return tl::unexpected(database_->LastError());
}

Status Statement::Run() {
  const Result<Step> step = Next();
  Reset();
  if (!step) return tl::unexpected(step.error());
  return {};
}

void Statement::Reset() {
  sqlite3_reset(statement_.get());
}

std::string_view Statement::Text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

std::int64_t Statement::Number(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

// SQLite would make it readable by everyone whom the umask lets.
Status Database::MakeFile(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kOwnerOnly);
  if (file < 0) return errno == EEXIST ? Status() : Status(SystemFailure(path));
  close(file);
  return SyncFolder(std::filesystem::path(path).parent_path());
}

Result<std::unique_ptr<Database>> Database::Open(const std::string& path, const char* vfs) {
  std::unique_ptr<Database> database(new Database(path));
  sqlite3* raw = nullptr;
  // The owner sees to it that one thread at a time is in here.
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
  const int code = sqlite3_open_v2(path.c_str(), &raw, flags, vfs);
  database->handle_.reset(raw);
  if (code != SQLITE_OK) return tl::unexpected(database->LastError());
  sqlite3_extended_result_codes(raw, 1);
  return database;
}

Status Database::Execute(const std::string& sql) {
  if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return tl::unexpected(LastError());
}

Result<Statement> Database::Prepare(std::string_view sql) const {
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v3(handle_.get(),
                                      sql.data(),
                                      static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT,
                                      &raw,
                                      nullptr);
  if (code != SQLITE_OK) return tl::unexpected(LastError());
  return Statement(*this, raw);
}

Status Database::Register(const char* name, int arguments, Function function) {
  const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;
  const int code = sqlite3_create_function(
      handle_.get(), name, arguments, flags, nullptr, function, nullptr, nullptr);
  return code == SQLITE_OK ? Status() : Status(tl::unexpected(LastError()));
}

Status Database::InTransaction(const std::function<Status()>& body) {
  Status status = Execute("BEGIN IMMEDIATE");
  if (status) status = body();
  if (status) status = Execute("COMMIT");
  if (status) return status;
  // SQLite rolls back by itself after some failures; then there is nothing to roll back.
  (void)Execute("ROLLBACK");
  return status;
}

Error Database::LastError() const {
  if (handle_ == nullptr) return Error{Code::kUnavailable, path_ + ": out of memory"};
  const int code = sqlite3_extended_errcode(handle_.get());
  const bool io_error = (code & 0xff) == SQLITE_IOERR;
  if (code == SQLITE_FULL || (io_error && IsDiskFull(sqlite3_system_errno(handle_.get())))) {
    return DiskFull(path_);
  }
  return Error{CodeOf(code), path_ + ": " + sqlite3_errmsg(handle_.get())};
}

}  // namespace strata::store
