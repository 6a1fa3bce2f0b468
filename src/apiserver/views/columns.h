#pragma once

#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "apiserver/resources/resource.h"
#include "base/clock.h"

// The columns of built-in kinds. A custom kind's come from its definition (table.cc).
namespace strata::apiserver {

using CellsOf = nlohmann::json (*)(const nlohmann::json& object, Time now);

struct KindColumns {
  std::string_view group;
  std::string_view kind;
  std::vector<Column> columns;
  CellsOf cells;
};

// "Name", then the given ones; a name that ends in '+' is shown by -o wide only, one that ends in
// '#' is an integer.
[[nodiscard]] std::vector<Column> NameAnd(std::initializer_list<std::string_view> names);

// The name, and the age of the object.
[[nodiscard]] std::string NameOf(const nlohmann::json& object);
[[nodiscard]] std::string ObjectAge(const nlohmann::json& object, Time now);
// `text`, or "<none>" when it is empty.
[[nodiscard]] std::string OrNone(std::string_view text);

// columns_pod.cc, columns_node.cc, columns_core.cc, columns_storage.cc
[[nodiscard]] nlohmann::json PodCells(const nlohmann::json& object, Time now);
[[nodiscard]] nlohmann::json NodeCells(const nlohmann::json& object, Time now);
[[nodiscard]] std::vector<KindColumns> CoreColumns();
[[nodiscard]] std::vector<KindColumns> StorageColumns();

}  // namespace strata::apiserver
