#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/result.h"
#include "schema/schema.h"

namespace strata::patch {

// Who writes, as metadata.managedFields records it.
struct Writer {
  std::string manager;      // "kubectl-client-side-apply"
  std::string api_version;  // "v1"
  std::string subresource;  // "" or "status"
  Time now;
};

struct ApplyConflict {
  std::string manager;  // who owns the field
  std::string field;    // ".spec.replicas", as kubectl prints it
};

struct Applied {
  nlohmann::json object;                 // with metadata.managedFields
  std::vector<ApplyConflict> conflicts;  // not empty: `object` is not to be stored
};

enum class OnConflict : std::uint8_t { kReport, kForce };

// Server-side apply: `config` becomes what `writer` wants of the object. Fields it applied before
// and no longer mentions go, unless somebody else owns them too; a field that another manager owns
// with another value is a conflict. `live` is absent when the object is to be created.
[[nodiscard]] Result<Applied> ServerSideApply(const schema::Schema& schema,
                                              const std::optional<nlohmann::json>& live,
                                              const nlohmann::json& config,
                                              const Writer& writer,
                                              OnConflict on_conflict);

// Records in `after`'s metadata.managedFields that `writer` made it of `before` (absent: created)
// by any other kind of write. What is unchanged keeps its owner; times change only with the set.
void RecordUpdate(const schema::Schema& schema,
                  const nlohmann::json* before,
                  nlohmann::json& after,
                  const Writer& writer);

}  // namespace strata::patch
