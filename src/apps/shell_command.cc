#include <CLI/CLI.hpp>
#include <string>

#include "apps/command_line.h"
#include "apps/command_tree.h"
#include "apps/completion.h"
#include "apps/input.h"
#include "apps/man_page.h"

// What shells and readers of manuals get: made from the tree of commands itself.
namespace strata {
namespace {

constexpr const char* kCompletionFooter = R"(
Examples:
  source <(strata completion bash)              for this shell
  strata completion bash > ~/.local/share/bash-completion/completions/strata
  strata completion zsh > "${fpath[1]}/_strata"
  strata completion fish > ~/.config/fish/completions/strata.fish)";

constexpr const char* kManFooter = R"(
Examples:
  strata man | man -l -
  strata man > ~/.local/share/man/man1/strata.1)";

struct Shell {
  const char* name;
  const char* what;
  std::string (*script)(const CommandTree& tree);
};
constexpr Shell kShells[] = {{"bash", "Completion for bash", BashCompletion},
                             {"zsh", "Completion for zsh", ZshCompletion},
                             {"fish", "Completion for fish", FishCompletion}};

}  // namespace

void AddCompletionCommand(CLI::App& app, Run& run) {
  CLI::App& completion = *app.add_subcommand("completion", "Print a completion script for a shell");
  completion.require_subcommand(1);
  completion.footer(kCompletionFooter);
  for (const Shell& shell : kShells) {
    CLI::App& command = *completion.add_subcommand(shell.name, shell.what);
    command.footer(kCompletionFooter);
    command.callback([&app, &run, script = shell.script] {
      run = [&app, script] { return PrintResult(script(ReadCommandTree(app)), {}); };
    });
  }
}

void AddManCommand(CLI::App& app, Run& run) {
  CLI::App& command = *app.add_subcommand("man", "Print the manual page, strata(1)");
  command.footer(kManFooter);
  command.callback([&app, &run] {
    run = [&app] { return PrintResult(ManPage(ReadCommandTree(app), STRATA_VERSION), {}); };
  });
}

}  // namespace strata
