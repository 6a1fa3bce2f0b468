#pragma once

#include <nlohmann/json.hpp>

namespace strata {

// `map` as an object: an empty one is {}, not null.
template <typename Map, typename ToValue>
[[nodiscard]] nlohmann::ordered_json JsonObject(const Map& map, const ToValue& to_value) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  auto& members = object.get_ref<nlohmann::ordered_json::object_t&>();
  members.reserve(map.size());
  // Not operator[], which looks through all members for the key: keys of a map are distinct.
  for (const auto& [key, value] : map) members.emplace_back(key, to_value(value));
  return object;
}

}  // namespace strata
