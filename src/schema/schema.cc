#include "schema/schema.h"

#include <algorithm>

namespace strata::schema {

const Field* Schema::Find(std::string_view name) const {
  const auto found = std::lower_bound(
      fields.begin(), fields.end(), name, [](const Field& field, std::string_view wanted) {
        return field.name < wanted;
      });
  return found != fields.end() && found->name == name ? &*found : nullptr;
}

}  // namespace strata::schema
