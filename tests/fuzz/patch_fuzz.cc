// Fuzzes every kind of patch and the record of owners. The input is two JSON values, one after the
// other: an object and a patch.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

#include "patch/field_set.h"
#include "patch/limits.h"
#include "patch/managed_fields.h"
#include "patch/patch.h"
#include "schema/catalog.h"

namespace {

using nlohmann::json;
using strata::Result;
namespace patch = strata::patch;

void Require(bool holds) {
  if (!holds) std::abort();
}

// What was applied once is applied: again changes nothing.
void ApplyTwice(const strata::schema::Schema& schema, const json& live, const json& config) {
  const patch::Writer writer{.manager = "fuzz", .api_version = "v1", .subresource = "", .now = {}};
  const Result<patch::Applied> once =
      patch::ServerSideApply(schema, live, config, writer, patch::OnConflict::kForce);
  if (!once) return;
  const Result<patch::Applied> twice =
      patch::ServerSideApply(schema, once->object, config, writer, patch::OnConflict::kReport);
  Require(twice && twice->conflicts.empty() && twice->object == once->object);
}

void Run(const json& object, const json& change) {
  static const strata::schema::SchemaRef pod = strata::schema::BuiltIn("", "v1", "Pod");
  (void)patch::JsonPatch(object, change);
  (void)patch::MergePatch(object, change);
  (void)patch::StrategicMergePatch(*pod, object, change);
  if (const Result<patch::FieldSet> set = patch::FieldSet::FromJson(change)) {
    Require(patch::FieldSet::FromJson(set->ToJson()).value() == *set);
  }
  if (!object.is_object() || !change.is_object()) return;
  ApplyTwice(*pod, object, change);
  const patch::Writer writer{.manager = "fuzz", .api_version = "v1", .subresource = "", .now = {}};
  json after = change;
  patch::RecordUpdate(*pod, &object, after, writer);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t middle = text.find('\n');
  if (middle == std::string_view::npos) return 0;
  const json object = json::parse(text.substr(0, middle), nullptr, false);
  const json change = json::parse(text.substr(middle + 1), nullptr, false);
  if (object.is_discarded() || change.is_discarded()) return 0;
  if (!patch::CheckDepth(object) || !patch::CheckDepth(change)) return 0;
  Run(object, change);
  return 0;
}
