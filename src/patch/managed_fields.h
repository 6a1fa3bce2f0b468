#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/result.h"
#include "schema/schema.h"

namespace strata::patch {

// The writer, as metadata.managedFields records it.
struct Writer {
  std::string manager;      // "kubectl-client-side-apply"
  std::string api_version;  // "v1"
  std::string subresource;  // "" or "status"
  Time now;
};

struct ApplyConflict {
  std::string manager;  // who owns the field
  std::string field;    // ".spec.replicas", as kubectl prints it
  std::string message;  // "conflict with \"kubectl-edit\" using v1": the cause in a Status
};

struct Applied {
  nlohmann::json object = {};  // with metadata.managedFields
  // The first hundred; not empty: `object` is not to be stored.
  std::vector<ApplyConflict> conflicts = {};
  std::size_t more_conflicts = 0;  // beside these
};

enum class OnConflict : std::uint8_t { kReport, kForce };

// Server-side apply: `config` becomes what `writer` wants of the object. Fields it applied before
// and no longer mentions go, unless somebody else owns them too; a field that another manager owns
// with another value is a conflict. `live` is absent when the object is to be created. Applying the
// same again gives the same object, times included. An object without owners is first given to
// "before-first-apply". The manager "kubectl" takes over what its client-side apply owns, without a
// conflict, and renews that annotation.
//
// kInvalidArgument, worded as a server's, for a configuration with metadata.managedFields, or with
// list items that lack a key or have it twice. Pure.
[[nodiscard]] Result<Applied> ServerSideApply(const schema::Schema& schema,
                                              const std::optional<nlohmann::json>& live,
                                              const nlohmann::json& config,
                                              const Writer& writer,
                                              OnConflict on_conflict);

// Records in `after`'s metadata.managedFields that `writer` made it of `before` (absent: created)
// by any other kind of write. What is unchanged keeps its owner; an entry has the time of the last
// change by its manager. `after` may come with the managedFields of the request: a client may edit
// them (not through a subresource), leave them out, or have them forgotten by [{}]. While nobody is
// known to own anything of an existing object, updates are not recorded, as in Kubernetes.
//
// Fields of metadata that servers set (name, uid, resourceVersion, ...) have no owner. At most ten
// entries of updates are kept; beyond that the oldest become one, "ancient-changes".
void RecordUpdate(const schema::Schema& schema,
                  const nlohmann::json* before,
                  nlohmann::json& after,
                  const Writer& writer);

}  // namespace strata::patch
