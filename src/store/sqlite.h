#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <sqlite3.h>

#include "base/result.h"

// SQLite's C API with owners and Results.
namespace strata::store {

class Database;

// A prepared statement. Reset before it is used again.
class Statement {
 public:
  enum class Step : std::uint8_t { kRow, kDone };

  // Parameters count from 1. The text must live until the statement is reset.
  void Bind(int parameter, std::string_view text);
  void Bind(int parameter, std::int64_t number);

  [[nodiscard]] Result<Step> Next();
  // Next, for what gives no rows; then Reset.
  [[nodiscard]] Status Run();
  void Reset();

  // Columns count from 0. The text lives until Next or Reset.
  [[nodiscard]] std::string_view Text(int column) const;
  [[nodiscard]] std::int64_t Number(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  Statement(const Database& database, sqlite3_stmt* statement)
      : database_(&database), statement_(statement) {}

  const Database* database_;  // for its messages
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// One connection to one file. Stays where it is, since its statements point to it.
class Database {
 public:
  // Makes an empty file if there is none, readable by its owner only.
  [[nodiscard]] static Status MakeFile(const std::string& path);
  // Opens a file that exists. `vfs` is the name of a file system that SQLite knows, null for the
  // machine's.
  [[nodiscard]] static Result<std::unique_ptr<Database>> Open(const std::string& path,
                                                              const char* vfs = nullptr);

  // Statements without parameters and results, divided by ';'.
  [[nodiscard]] Status Execute(const std::string& sql);
  // All of what `body` does, or nothing.
  [[nodiscard]] Status InTransaction(const std::function<Status()>& body);
  [[nodiscard]] Result<Statement> Prepare(std::string_view sql) const;
  // Makes `function` callable from statements, with `arguments` arguments.
  using Function = void (*)(sqlite3_context* context, int arguments, sqlite3_value** values);
  [[nodiscard]] Status Register(const char* name, int arguments, Function function);

  // The last failure, with the file: DiskFull, or "/data/strata.db: disk I/O error".
  [[nodiscard]] Error LastError() const;

 private:
  struct CloseIt {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  };
  explicit Database(std::string path) : path_(std::move(path)) {}

  std::string path_;
  std::unique_ptr<sqlite3, CloseIt> handle_;
};

}  // namespace strata::store
