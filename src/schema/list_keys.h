#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "schema/schema.h"

namespace strata::schema {

// What identifies an item of a list of type map.
// REQUIRES: `item` is an object.
[[nodiscard]] inline nlohmann::json KeysOf(const Schema& schema, const nlohmann::json& item) {
  nlohmann::json keys = nlohmann::json::object();
  for (const std::string& key : schema.list_map_keys) {
    if (const auto found = item.find(key); found != item.end()) keys[key] = *found;
  }
  return keys;
}

}  // namespace strata::schema
