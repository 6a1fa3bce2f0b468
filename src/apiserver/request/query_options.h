#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "apiserver/request/api_error.h"
#include "apiserver/request/query.h"

namespace strata::apiserver {

// The options of a request, read and validated as Kubernetes does: a wrong one
// is 422 and names the options as an object, `CreateOptions.meta.k8s.io "" is invalid: ...`.

struct ListOptions {
  std::string label_selector;
  std::string field_selector;
  std::string resource_version;
  std::string resource_version_match;  // "", "Exact", "NotOlderThan"
  std::string continue_token;
  std::int64_t limit = 0;  // 0: all
  bool watch = false;
  bool bookmarks = false;
  std::optional<bool> send_initial_events;
  std::optional<std::int64_t> timeout_seconds;
};
[[nodiscard]] ApiResult<ListOptions> ReadListOptions(const Query& query);

enum class FieldValidation : std::uint8_t { kIgnore, kWarn, kStrict };

struct WriteOptions {
  bool dry_run = false;
  std::string field_manager;  // "" when the client gave none
  FieldValidation field_validation = FieldValidation::kWarn;
  bool force = false;
};
// `options` is "CreateOptions", "UpdateOptions" or "PatchOptions".
[[nodiscard]] ApiResult<WriteOptions> ReadWriteOptions(const Query& query,
                                                       std::string_view options);
// The rules that PatchOptions have besides.
enum class PatchIs : std::uint8_t { kApply, kOther };
[[nodiscard]] ApiResult<void> CheckPatchOptions(const Query& query,
                                                const WriteOptions& options,
                                                PatchIs what);

enum class Propagation : std::uint8_t { kDefault, kBackground, kForeground, kOrphan };

struct DeleteOptions {
  bool dry_run = false;
  std::optional<std::int64_t> grace_seconds;
  Propagation propagation = Propagation::kDefault;
  // Its namespace or definition is deleted: no rule of its kind (admission) may prevent the
  // deletion.
  bool with_its_home = false;
  std::string uid;  // preconditions; "" for none
  std::string resource_version;
};
// How an object is deleted with its namespace or definition: its dependents afterwards.
[[nodiscard]] DeleteOptions WithItsHome();
// From the body when there is one (`body` is its JSON), else from the query.
[[nodiscard]] ApiResult<DeleteOptions> ReadDeleteOptions(const Query& query,
                                                         const nlohmann::json& body);

}  // namespace strata::apiserver
