#pragma once

#include <string>

#include "base/result.h"
#include "store/sqlite.h"

namespace strata::store {

// Makes the tables of a new folder, and brings those of an older version into the present form, in
// one transaction: a process that is killed meanwhile leaves the older form. `path` is for
// messages. kInternal for a form that only a newer program knows.
[[nodiscard]] Status PrepareTables(Database& database, const std::string& path);

}  // namespace strata::store
