#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

// The commands as values: what completion and the man page are made from, so that they say what
// the parser takes.
namespace strata {

struct CommandTree {
  struct Flag {
    std::string short_name;  // "-o", "" for none
    std::string long_name;   // "--output", "" for an argument without dashes
    std::string value;       // "FILE", "table|json"; "" for a switch
    std::string summary;

    // The words of a value like "table|json"; none where it is anything else.
    [[nodiscard]] std::vector<std::string> Choices() const;
    [[nodiscard]] bool TakesFile() const;
    // Which objects of the running cluster the value names, as `strata __complete` calls them:
    // "jobs", "queues", "nodes", "hypernodes", "namespaces"; "" for none.
    [[nodiscard]] std::string_view Names() const;
  };

  std::string path;  // "strata queue list"
  std::string name;  // "list"
  std::string summary;
  std::string footer;
  std::vector<Flag> flags;
  std::vector<Flag> arguments;  // named by their value
  std::vector<CommandTree> commands;
};

[[nodiscard]] CommandTree ReadCommandTree(const CLI::App& app);

// The tree and all below it, each before its own.
[[nodiscard]] std::vector<const CommandTree*> AllCommands(const CommandTree& tree);

}  // namespace strata
