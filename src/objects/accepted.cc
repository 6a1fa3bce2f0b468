#include "objects/accepted.h"

#include <optional>

namespace strata::objects {

bool IsAccepted(const Value& object) {
  if (object.type() != Value::Type::kObject) return false;
  const std::optional<Value> meta = object.Find("metadata");
  if (!meta || meta->type() != Value::Type::kObject) return false;
  const std::optional<Value> version = meta->Find("resourceVersion");
  return version && version->type() == Value::Type::kString && !version->AsString().empty();
}

}  // namespace strata::objects
