#pragma once

#include <string>
#include <utility>

#include "admission/test_rules.h"
#include "apiserver/resources/resource.h"

// Rows without schemas, for tests of what is made from rows.
namespace strata::apiserver {

using admission::J;
using admission::kTestNow;

inline Resource TestRow(std::string group, std::string kind, std::string plural) {
  Resource row;
  static_cast<admission::ResourceInfo&>(row) =
      admission::TestRow(std::move(group), std::move(kind), std::move(plural));
  return row;
}

}  // namespace strata::apiserver
