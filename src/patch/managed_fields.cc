#include "patch/managed_fields.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/timestamp.h"
#include "json/access.h"
#include "json/dump.h"
#include "json/parse.h"
#include "patch/field_set.h"
#include "patch/field_walk.h"
#include "patch/limits.h"
#include "patch/managers.h"
#include "schema/check.h"

namespace strata::patch {
namespace {

using Json = nlohmann::json;
using schema::Schema;

constexpr std::size_t kMaxConflicts = 100;
// The one manager that takes over what `kubectl apply` recorded in its annotation.
constexpr const char* kKubectl = "kubectl";
constexpr const char* kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

Manager EntryOf(const Writer& writer, const char* operation) {
  return {.name = writer.manager,
          .operation = operation,
          .api_version = writer.api_version,
          .subresource = writer.subresource,
          .time = FormatTimestamp(std::chrono::floor<std::chrono::seconds>(writer.now))};
}

// Takes from every manager but `writer` what changed without them.
void Disown(const Comparison& comparison, const Manager& writer, Managers& managers) {
  for (Manager& manager : managers) {
    if (manager.IsSameAs(writer)) continue;
    manager.fields = manager.fields.Difference(comparison.changed).Difference(comparison.removed);
  }
}

// The owner of an object that was never applied and whose writers were not recorded.
Managers BeforeFirstApply(const Schema& schema, const Json& live, const Writer& writer) {
  Manager entry = EntryOf(writer, "Update");
  entry.name = "before-first-apply";
  entry.subresource.clear();
  entry.fields = Compare(schema, nullptr, live).changed;
  return {std::move(entry)};
}

// nullptr without the annotation.
const Json* LastApplied(const Json& object) {
  const Json* found = FindAt(object, {"metadata", "annotations", kLastApplied});
  return found != nullptr && found->is_string() ? found : nullptr;
}

// What kubectl itself applied on the client's side: no reason for a conflict with kubectl.
FieldSet TakenOver(const Schema& schema, const Json& live, const Writer& writer) {
  if (writer.manager != kKubectl) return {};
  const Json* text = LastApplied(live);
  if (text == nullptr) return {};
  const Json config = ParseJsonOrNull(text->get_ref<const std::string&>());
  if (!config.is_object() || !CheckDepth(config)) return {};
  return FieldsOf(schema, config).value_or(FieldSet());
}

std::string Describe(const Manager& manager) {
  std::string text = "conflict with \"" + manager.name + "\"";
  if (!manager.subresource.empty()) text += " with subresource \"" + manager.subresource + "\"";
  if (!manager.Applies()) text += " using " + manager.api_version;
  return text;
}

// Adds to `out` what others own of `changed`.
void FindConflicts(const Managers& managers,
                   const Manager& writer,
                   const FieldSet& changed,
                   Applied& out) {
  for (const Manager& manager : managers) {
    if (manager.IsSameAs(writer)) continue;
    const FieldSet contested = manager.fields.Intersection(changed);
    std::vector<std::string> paths = contested.Paths(kMaxConflicts - out.conflicts.size());
    out.more_conflicts += contested.Count() - paths.size();
    for (std::string& path : paths) {
      out.conflicts.push_back(
          {.manager = manager.name, .field = std::move(path), .message = Describe(manager)});
    }
  }
}

// The merged object without what `former` owned and nobody owns any more.
void Prune(const Schema& schema,
           const FieldSet& former,
           const Managers& managers,
           const FieldSet& wanted,
           Json& merged) {
  FieldSet owned;
  for (const Manager& manager : managers) owned.Add(manager.fields);
  owned.Below("f:metadata").AddSelf();  // it has a name, even where nobody owns anything in it
  const FieldSet gone = WithParents(&schema, former).Difference(WithParents(&schema, owned));
  RemoveFields(&schema, gone, &wanted, merged);
}

// kubectl keeps the annotation of its client-side apply in step where there is one.
void RenewLastApplied(const Writer& writer, const Json& config, Json& object) {
  if (writer.manager != kKubectl || LastApplied(object) == nullptr) return;
  object["metadata"]["annotations"][kLastApplied] = DumpJson(config) + "\n";
}

Status CheckConfig(const Json& config) {
  if (!config.is_object()) {
    return Fail(Code::kInvalidArgument, "the configuration is not an object");
  }
  TRY(CheckDepth(config));
  const auto metadata = config.find("metadata");
  if (metadata != config.end() && metadata->is_object() && metadata->contains("managedFields") &&
      !(*metadata)["managedFields"].is_null()) {
    return Fail(Code::kInvalidArgument, "metadata.managedFields must be nil");
  }
  return {};
}

// Those of the request where it has any that can be read (a client may edit them), or those of the
// stored object. A subresource never changes them.
Managers Known(const Json& before, const Json& after, const Writer& writer) {
  if (writer.subresource.empty()) {
    std::optional<Managers> sent = ReadManagers(after);
    if (sent && !sent->empty()) return *std::move(sent);
  }
  return ReadManagers(before).value_or(Managers());
}

}  // namespace

Result<Applied> ServerSideApply(const Schema& schema,
                                const std::optional<Json>& live,
                                const Json& config,
                                const Writer& writer,
                                OnConflict on_conflict) {
  TRY(CheckConfig(config));
  Json wanted = config;
  schema::DropNulls(wanted);
  RemoveManagedFields(wanted);
  Manager entry = EntryOf(writer, "Apply");
  TRY_ASSIGN(entry.fields, FieldsOf(schema, wanted));

  Json before = live.value_or(Json::object());
  Managers managers = ReadManagers(before).value_or(Managers());
  RemoveManagedFields(before);
  if (live && managers.empty()) managers = BeforeFirstApply(schema, before, writer);

  Manager former = entry;
  former.fields = FieldSet();
  Manager* own = FindManager(managers, entry);
  if (own != nullptr) {
    former = *own;
    *own = entry;
  } else {
    managers.push_back(entry);
  }
  Json merged = Merge(&schema, before, wanted);
  Prune(schema, former.fields, managers, entry.fields, merged);
  const Comparison comparison = Compare(schema, live ? &before : nullptr, merged);
  if (on_conflict == OnConflict::kReport) {
    const FieldSet contested = comparison.changed.Difference(TakenOver(schema, before, writer));
    Applied refused;
    FindConflicts(managers, entry, contested, refused);
    if (!refused.conflicts.empty()) {
      refused.object = std::move(before);
      return refused;
    }
  }
  Disown(comparison, entry, managers);
  if (live) RenewLastApplied(writer, config, merged);
  const bool is_same =
      merged == before && former.fields == entry.fields && former.api_version == entry.api_version;
  if (is_same) FindManager(managers, entry)->time = former.time;
  WriteManagers(std::move(managers), merged);
  return Applied{.object = std::move(merged)};
}

void RecordUpdate(const Schema& schema, const Json* before, Json& after, const Writer& writer) {
  if (AsksForReset(after)) return RemoveManagedFields(after);
  Managers managers;
  if (before != nullptr) {
    managers = Known(*before, after, writer);
    // Nobody has asked to be recorded since they were forgotten; the next apply starts anew.
    if (managers.empty()) return RemoveManagedFields(after);
  }
  Comparison comparison = Compare(schema, before, after);
  Manager entry = EntryOf(writer, "Update");
  Disown(comparison, entry, managers);
  Manager* own = FindManager(managers, entry);
  if (own != nullptr) {
    if (!comparison.changed.IsEmpty()) own->time = entry.time;
    own->fields = own->fields.Difference(comparison.removed);
    own->fields.Add(std::move(comparison.changed));
  } else {
    entry.fields = std::move(comparison.changed);
    managers.push_back(std::move(entry));
  }
  MergeOldest(managers);
  WriteManagers(std::move(managers), after);
}

}  // namespace strata::patch
