#pragma once

#include <optional>
#include <string>
#include <string_view>

// What descriptions of switches and adapters say, in any form of ibnetdiscover's output and UFM's.
namespace strata::discovery {

// The next line of `rest`, which is moved behind it; without its end.
[[nodiscard]] std::string_view NextLine(std::string_view& rest);

// A default of the maker, which names nobody.
[[nodiscard]] bool NamesItsMaker(std::string_view description);

// "MF0;leaf-04:MQM8700/U1" is leaf-04; a maker's default names nobody, so that it is `id`.
[[nodiscard]] std::string SwitchName(std::string_view description, const std::string& id);

struct Adapter {
  std::string host;
  std::string device;  // "" when it is not there
};
// "node-01 mlx5_0"; none when it carries no host's name.
[[nodiscard]] std::optional<Adapter> AdapterOf(std::string_view description);

// SHARP: a part of a switch that looks like an adapter.
[[nodiscard]] bool IsAggregationNode(std::string_view description);

}  // namespace strata::discovery
