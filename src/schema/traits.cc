#include "schema/traits.h"

#include <algorithm>

namespace strata::schema {

void SetTraits(Schema& schema) {
  schema.may_normalize =
      schema.type == Type::kQuantity || schema.type == Type::kTime ||
      schema.type == Type::kMicroTime || (schema.items != nullptr && schema.items->may_normalize) ||
      std::any_of(schema.fields.begin(), schema.fields.end(), [](const Field& field) {
        return field.schema->may_normalize;
      });
}

}  // namespace strata::schema
