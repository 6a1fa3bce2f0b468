#pragma once

#include <span>
#include <string>
#include <vector>

namespace strata {

// What people type who know kubectl, vcctl or Slurm, and the words of ours that mean it.
struct Alias {
  const char* typed;  // "get jobs"
  const char* meant;  // "job list"
};
[[nodiscard]] std::span<const Alias> Aliases();

// The words of a command line, without the program: aliases at their beginning, or behind `help`,
// become the words of ours. The longest alias counts. A plural before a further word names the
// command itself: `jobs describe` is `job describe`.
[[nodiscard]] std::vector<std::string> ExpandAliases(std::vector<std::string> words);

}  // namespace strata
