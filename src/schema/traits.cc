#include "schema/traits.h"

#include <algorithm>

namespace strata::schema {

void SetTraits(Schema& schema) {
  const auto below = [&](bool Schema::*trait) {
    return (schema.items != nullptr && (*schema.items).*trait) ||
           std::any_of(schema.fields.begin(), schema.fields.end(), [&](const Field& field) {
             return (*field.schema).*trait;
           });
  };
  schema.may_normalize = schema.type == Type::kQuantity || schema.type == Type::kTime ||
                         schema.type == Type::kMicroTime || below(&Schema::may_normalize);
  schema.may_have_rules = !schema.rules.empty() || below(&Schema::may_have_rules);
}

}  // namespace strata::schema
