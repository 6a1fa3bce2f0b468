#include <utility>

#include <nlohmann/json.hpp>

#include "patch/limits.h"
#include "patch/patch.h"

namespace strata::patch {

Result<nlohmann::json> MergePatch(const nlohmann::json& object, const nlohmann::json& patch) {
  if (!patch.is_object()) return Fail(Code::kInvalidArgument, "Invalid JSON Patch");
  TRY(CheckDepth(patch));
  nlohmann::json merged = object;
  merged.merge_patch(patch);
  return merged;
}

}  // namespace strata::patch
