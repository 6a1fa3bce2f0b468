#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "schema/check.h"
#include "schema/json_node.h"
#include "schema/path.h"
#include "schema/walk.h"

namespace strata::schema {

void UnknownPaths::Add(const Path& path) {
  constexpr std::size_t kMax = 100;
  if (first.size() < kMax) {
    first.push_back(path.ToString());
  } else {
    ++more;
  }
}

UnknownPaths UnknownFields(const Schema& schema, const nlohmann::json& object) {
  UnknownPaths unknown;
  WalkKnown(
      schema,
      JsonNode(object),
      Path(),
      [](const Schema&, const JsonNode&, const Path&) { return true; },
      [&](const Path& path) { unknown.Add(path); });
  return unknown;
}

}  // namespace strata::schema
