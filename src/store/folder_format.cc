#include "store/folder_format.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "store/row_checksum.h"

namespace strata::store {
namespace {

// 1: without checksums. A form that an older program would misread gets another number.
constexpr std::int64_t kFormat = 2;

constexpr const char* kCounters =
    "CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL);";

constexpr const char* kNew =
    "CREATE TABLE settings ("
    "  name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL DEFAULT 0);"
    "CREATE TABLE objects ("
    "  resource TEXT NOT NULL, ns TEXT NOT NULL, name TEXT NOT NULL,"
    "  version INTEGER NOT NULL, body TEXT NOT NULL, checksum INTEGER NOT NULL DEFAULT 0,"
    "  UNIQUE (resource, ns, name));"
    "INSERT INTO counters (name, value) VALUES ('format', 2);";

constexpr const char* kFrom1 =
    "ALTER TABLE settings ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;"
    "UPDATE settings SET checksum = strata_setting_checksum(name, value);"
    "ALTER TABLE objects ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;"
    "UPDATE objects SET checksum = strata_row_checksum(resource, ns, name, version, body);"
    "UPDATE counters SET value = 2 WHERE name = 'format';";

std::string_view TextOf(sqlite3_value* value) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

void RowChecksum(sqlite3_context* context, int, sqlite3_value** values) {
  const Row row{.resource = TextOf(values[0]),
                .ns = TextOf(values[1]),
                .name = TextOf(values[2]),
                .version = sqlite3_value_int64(values[3]),
                .body = TextOf(values[4])};
  sqlite3_result_int64(context, ChecksumOf(row));
}

void SettingChecksum(sqlite3_context* context, int, sqlite3_value** values) {
  sqlite3_result_int64(context, ChecksumOf(TextOf(values[0]), TextOf(values[1])));
}

Result<std::optional<std::int64_t>> FormatOf(const Database& database) {
  TRY_ASSIGN(Statement read, database.Prepare("SELECT value FROM counters WHERE name = 'format'"));
  TRY_ASSIGN(const Statement::Step step, read.Next());
  if (step == Statement::Step::kDone) return std::optional<std::int64_t>();
  return std::optional<std::int64_t>(read.Number(0));
}

Status Migrate(Database& database) {
  TRY(database.Register("strata_row_checksum", 5, RowChecksum));
  TRY(database.Register("strata_setting_checksum", 2, SettingChecksum));
  return database.Execute(kFrom1);
}

Status PrepareInTransaction(Database& database, const std::string& path) {
  TRY(database.Execute(kCounters));
  TRY_ASSIGN(const std::optional<std::int64_t> format, FormatOf(database));
  if (!format) return database.Execute(kNew);
  if (format == kFormat) return {};
  if (format == 1) return Migrate(database);
  return Fail(Code::kInternal,
              path + ": format " + std::to_string(*format) +
                  ", but this program knows only formats up to " + std::to_string(kFormat));
}

}  // namespace

Status PrepareTables(Database& database, const std::string& path) {
  return database.InTransaction([&] { return PrepareInTransaction(database, path); });
}

}  // namespace strata::store
