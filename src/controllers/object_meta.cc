#include "controllers/object_meta.h"

#include <nlohmann/json.hpp>

#include "json/access.h"

namespace strata::controllers {

using nlohmann::json;

bool IsBeingDeleted(const json& object) {
  return FindAt(object, {"metadata", "deletionTimestamp"}) != nullptr;
}

const std::string& ControllerUidOf(const json& object) {
  static const std::string none;
  for (const json& owner : ListAt(object, {"metadata", "ownerReferences"})) {
    if (BoolAt(owner, {"controller"})) return TextAt(owner, {"uid"});
  }
  return none;
}

}  // namespace strata::controllers
