#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"

// Lists in a strategic merge patch.
namespace strata::patch {

enum class ElementKind : std::uint8_t { kScalars, kMaps };

// What both lists hold; kInvalidArgument when that is not one kind, or when it is lists.
[[nodiscard]] Result<ElementKind> KindOfElements(const nlohmann::json& object,
                                                 const nlohmann::json& patch);

// Where in `list` the map is whose `key` is `value`: its size when there is none. kInvalidArgument
// when a map without the key is met first.
[[nodiscard]] Result<std::size_t> FindByKey(const nlohmann::json& list,
                                            const std::string& key,
                                            const nlohmann::json& value);

[[nodiscard]] Status EraseWithKey(nlohmann::json& list,
                                  const std::string& key,
                                  const nlohmann::json& value);

// Leaves the first of equal items.
void DropRepeated(nlohmann::json& list);

// Sorts `merged`: items that `wanted` names in its order, the others in that of `before`, placed
// among the former as they were before. Items are known by `key`, or by value where it is empty.
[[nodiscard]] Status PutInOrder(nlohmann::json& merged,
                                const nlohmann::json& wanted,
                                const nlohmann::json& before,
                                const std::string& key);

// kInvalidArgument: `item` has no `key`.
[[nodiscard]] tl::unexpected<Error> NoMergeKey(const nlohmann::json& item, const std::string& key);

// As Go prints a value with %v: "map[name:a ports:[1 2]]".
[[nodiscard]] std::string GoText(const nlohmann::json& value);

}  // namespace strata::patch
