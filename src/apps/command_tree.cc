#include "apps/command_tree.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

namespace strata {
namespace {

CommandTree::Flag ReadFlag(const CLI::Option& option) {
  CommandTree::Flag flag;
  if (!option.get_snames().empty()) flag.short_name = "-" + option.get_snames().front();
  if (!option.get_lnames().empty()) flag.long_name = "--" + option.get_lnames().front();
  // Switches have a type, too, but take no value.
  if (option.get_items_expected_max() > 0) flag.value = option.get_type_name();
  flag.summary = option.get_description();
  return flag;
}

CommandTree ReadBelow(const CLI::App& app, const std::string& parent) {
  CommandTree tree;
  tree.name = app.get_name();
  tree.path = parent.empty() ? tree.name : parent + " " + tree.name;
  tree.summary = app.get_description();
  tree.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options()) {
    CommandTree::Flag flag = ReadFlag(*option);
    (option->get_positional() ? tree.arguments : tree.flags).push_back(std::move(flag));
  }
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    // Commands without a group are for scripts, not for people.
    if (!command->get_group().empty()) tree.commands.push_back(ReadBelow(*command, tree.path));
  }
  return tree;
}

bool IsWord(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || c == '-';
  });
}

}  // namespace

std::vector<std::string> CommandTree::Flag::Choices() const {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= value.size();) {
    const std::size_t end = std::min(value.find('|', begin), value.size());
    words.push_back(value.substr(begin, end - begin));
    if (!IsWord(words.back())) return {};
    begin = end + 1;
  }
  return words;
}

bool CommandTree::Flag::TakesFile() const {
  return value.find("FILE") != std::string::npos || value.find("DIR") != std::string::npos;
}

std::string_view CommandTree::Flag::Names() const {
  if (value == "[NS/]JOB" || value == "[NS/]NAME") return "jobs";
  if (value == "QUEUE") return "queues";
  if (value == "NODE") return "nodes";
  if (value == "HYPERNODE") return "hypernodes";
  if (value == "NAMESPACE") return "namespaces";
  return "";
}

CommandTree ReadCommandTree(const CLI::App& app) {
  return ReadBelow(app, "");
}

std::vector<const CommandTree*> AllCommands(const CommandTree& tree) {
  std::vector<const CommandTree*> all = {&tree};
  for (const CommandTree& command : tree.commands) {
    const std::vector<const CommandTree*> below = AllCommands(command);
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

}  // namespace strata
