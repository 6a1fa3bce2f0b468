#include "discovery/infiniband_names.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace strata::discovery {

std::string_view NextLine(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool NamesItsMaker(std::string_view description) {
  return description.find("Mellanox Technologies") != std::string_view::npos;
}

std::string SwitchName(std::string_view description, const std::string& id) {
  std::string_view name = description;
  if (NamesItsMaker(name)) return id;
  const std::size_t semicolon = name.find(';');
  if (semicolon != std::string_view::npos) {
    name.remove_prefix(semicolon + 1);
    name = name.substr(0, name.find(':'));
  }
  return name.empty() ? id : std::string(name);
}

std::optional<Adapter> AdapterOf(std::string_view description) {
  constexpr std::string_view kBlank = " \t";
  std::vector<std::string> words;
  while (true) {
    const std::size_t begin = description.find_first_not_of(kBlank);
    if (begin == std::string_view::npos) break;
    description.remove_prefix(begin);
    const std::size_t length = std::min(description.find_first_of(kBlank), description.size());
    words.emplace_back(description.substr(0, length));
    description.remove_prefix(length);
  }
  // "MT4129 ConnectX7   Mellanox Technologies": no host name was set.
  if (words.empty() || words.size() > 2 || words.front() == "Mellanox") return std::nullopt;
  return Adapter{words.front(), words.size() == 2 ? words.back() : ""};
}

bool IsAggregationNode(std::string_view description) {
  return description.find("Aggregation Node") != std::string_view::npos;
}

}  // namespace strata::discovery
