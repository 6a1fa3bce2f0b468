#include "apps/completion.h"

#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace strata {
namespace {

// In single quotes, for all three shells.
std::string Quote(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += R"('\'')";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string FishQuote(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

std::vector<std::string> Names(const CommandTree::Flag& flag) {
  std::vector<std::string> names;
  if (!flag.short_name.empty()) names.push_back(flag.short_name);
  if (!flag.long_name.empty()) names.push_back(flag.long_name);
  return names;
}

// What a `case` lists for the commands below the first: "'strata simulate'|'strata queue'".
std::string PathPattern(const CommandTree& tree) {
  std::vector<std::string> paths;
  for (const CommandTree* command : AllCommands(tree)) {
    if (command != &tree) paths.push_back(Quote(command->path));
  }
  return fmt::format("{}", fmt::join(paths, "|"));
}

// What a shell does for the value of a flag; {} is the words, or the kind of the names.
struct Actions {
  std::string_view choices;
  std::string_view files;
  std::string_view names;
};

// The lines of a `case` on "<path> <flag>" that say what may follow the flag.
std::string ValueCases(const CommandTree& tree, const Actions& actions) {
  std::string text;
  for (const CommandTree* command : AllCommands(tree)) {
    for (const CommandTree::Flag& flag : command->flags) {
      if (flag.value.empty()) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : Names(flag)) {
        patterns.push_back(Quote(command->path + " " + name));
      }
      const std::vector<std::string> words = flag.Choices();
      std::string action = "return";
      if (!words.empty()) {
        action = fmt::format(fmt::runtime(actions.choices), fmt::join(words, " ")) + "; return";
      } else if (flag.TakesFile()) {
        action = fmt::format("{}; return", actions.files);
      } else if (!flag.Names().empty()) {
        action = fmt::format(fmt::runtime(actions.names), flag.Names()) + "; return";
      }
      text += fmt::format("    {}) {} ;;\n", fmt::join(patterns, "|"), action);
    }
  }
  return text;
}

// The objects that the arguments of the command name; "" for none.
std::string_view ArgumentNames(const CommandTree& command) {
  return command.arguments.empty() ? std::string_view() : command.arguments.front().Names();
}

// "'simulate:Schedule manifests' ...", for zsh's _describe.
std::string Described(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::vector<std::string> quoted;
  for (const auto& [name, summary] : entries) {
    std::string escaped;
    for (const char c : name) {
      if (c == ':') escaped += '\\';
      escaped += c;
    }
    escaped.append(":").append(summary);
    quoted.push_back(Quote(escaped));
  }
  return fmt::format("{}", fmt::join(quoted, " "));
}

std::string FishFlag(const CommandTree& command, const CommandTree::Flag& flag) {
  std::string line = "complete -c strata -n " + FishQuote("__strata_at '" + command.path + "'");
  if (!flag.short_name.empty()) line += " -s " + flag.short_name.substr(1);
  if (!flag.long_name.empty()) line += " -l " + flag.long_name.substr(2);
  const std::vector<std::string> words = flag.Choices();
  if (!words.empty()) {
    line += fmt::format(" -x -a {}", FishQuote(fmt::format("{}", fmt::join(words, " "))));
  } else if (flag.TakesFile()) {
    line += " -r -F";
  } else if (!flag.Names().empty()) {
    line += fmt::format(" -x -a {}", FishQuote(fmt::format("(__strata_names {})", flag.Names())));
  } else if (!flag.value.empty()) {
    line += " -x";
  }
  return line + " -d " + FishQuote(flag.summary) + "\n";
}

}  // namespace

std::string BashCompletion(const CommandTree& tree) {
  std::string words;
  for (const CommandTree* command : AllCommands(tree)) {
    std::vector<std::string> offered;
    for (const CommandTree& below : command->commands) offered.push_back(below.name);
    for (const CommandTree::Flag& flag : command->flags) offered.push_back(flag.long_name);
    const std::string_view names = ArgumentNames(*command);
    words += fmt::format("    {}) words={}{} ;;\n",
                         Quote(command->path),
                         Quote(fmt::format("{}", fmt::join(offered, " "))),
                         names.empty() ? "" : fmt::format(" names={}", names));
  }
  return fmt::format(
      R"sh(# bash completion for strata; load it with: source <(strata completion bash)
_strata_names() {{
  local names
  names=$("${{COMP_WORDS[0]}}" __complete "$1" -- "${{COMP_WORDS[@]:1:COMP_CWORD}}" 2>/dev/null)
  mapfile -t COMPREPLY < <(compgen -W "$names" -- "$2")
}}
_strata() {{
  local at=strata words= names= i
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at ${{COMP_WORDS[i]}}" in
    {}) at="$at ${{COMP_WORDS[i]}}" ;;
    esac
  done
  case "$at $before" in
{}  esac
  case "$at" in
{}  esac
  if [[ -n $names && $word != -* ]]; then _strata_names "$names" "$word"; return; fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}}
complete -F _strata strata
)sh",
      PathPattern(tree),
      ValueCases(
          tree,
          {.choices = R"sh(mapfile -t COMPREPLY < <(compgen -W '{}' -- "$word"))sh",
           .files = R"sh(compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$word"))sh",
           .names = R"sh(_strata_names {} "$word")sh"}),
      words);
}

std::string ZshCompletion(const CommandTree& tree) {
  std::string offers;
  for (const CommandTree* command : AllCommands(tree)) {
    std::vector<std::pair<std::string, std::string>> commands;
    std::vector<std::pair<std::string, std::string>> flags;
    for (const CommandTree& below : command->commands) {
      commands.emplace_back(below.name, below.summary);
    }
    for (const CommandTree::Flag& flag : command->flags) {
      for (const std::string& name : Names(flag)) flags.emplace_back(name, flag.summary);
    }
    const std::string_view names = ArgumentNames(*command);
    offers += fmt::format("    {}) commands=({}) flags=({}){} ;;\n",
                          Quote(command->path),
                          Described(commands),
                          Described(flags),
                          names.empty() ? "" : fmt::format(" names={}", names));
  }
  return fmt::format(
      R"sh(#compdef strata
# zsh completion for strata; load it with: source <(strata completion zsh)
_strata_names() {{
  compadd -- ${{(f)"$($words[1] __complete $1 -- "${{(@)words[2,CURRENT]}}" 2>/dev/null)"}}
}}
_strata() {{
  local at=strata names= word before=$words[CURRENT-1]
  local -a commands flags
  for word in ${{words[2,CURRENT-1]}}; do
    case "$at $word" in
    {}) at="$at $word" ;;
    esac
  done
  case "$at $before" in
{}  esac
  case "$at" in
{}  esac
  [[ -n $names ]] && _strata_names $names
  (( $#commands )) && _describe command commands
  _describe flag flags
}}
compdef _strata strata
)sh",
      PathPattern(tree),
      ValueCases(tree,
                 {.choices = "compadd -- {}", .files = "_files", .names = "_strata_names {}"}),
      offers);
}

std::string FishCompletion(const CommandTree& tree) {
  std::vector<std::string> paths;
  std::string lines;
  for (const CommandTree* command : AllCommands(tree)) {
    if (command != &tree) paths.push_back(FishQuote(command->path));
    for (const CommandTree& below : command->commands) {
      lines += fmt::format("complete -c strata -n {} -f -a {} -d {}\n",
                           FishQuote("__strata_at '" + command->path + "'"),
                           below.name,
                           FishQuote(below.summary));
    }
    const std::string_view names = ArgumentNames(*command);
    if (!names.empty()) {
      lines += fmt::format("complete -c strata -n {} -f -a {}\n",
                           FishQuote("__strata_at '" + command->path + "'"),
                           FishQuote(fmt::format("(__strata_names {})", names)));
    }
    for (const CommandTree::Flag& flag : command->flags) lines += FishFlag(*command, flag);
  }
  return fmt::format(
      R"sh(# fish completion for strata; load it with: strata completion fish | source
function __strata_at
  set -l at strata
  for word in (commandline -opc)[2..-1]
    if contains -- "$at $word" {}
      set at "$at $word"
    end
  end
  test "$at" = "$argv[1]"
end
function __strata_names
  set -l words (commandline -opc)
  $words[1] __complete $argv[1] -- $words[2..-1] (commandline -ct) 2>/dev/null
end
complete -c strata -f
{})sh",
      fmt::join(paths, " "),
      lines);
}

}  // namespace strata
