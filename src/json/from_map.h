#pragma once

#include <nlohmann/json.hpp>

namespace strata {

// An object with the keys of `map` in their order; {} for an empty map, not null.
template <typename Map, typename ToValue>
[[nodiscard]] nlohmann::ordered_json JsonFromMap(const Map& map, const ToValue& to_value) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  auto& members = object.get_ref<nlohmann::ordered_json::object_t&>();
  members.reserve(map.size());
  // Not operator[], which would search all members for each key: the keys of a map are distinct.
  for (const auto& [key, value] : map) members.emplace_back(key, to_value(value));
  return object;
}

}  // namespace strata
