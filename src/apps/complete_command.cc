#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "apps/command_line.h"
#include "apps/input.h"
#include "inspect/known_names.h"

// What completion scripts ask: the names of objects of the running cluster.
namespace strata {
namespace {

// A shell that waits for names must not hang: a cluster that does not answer by then has none.
constexpr unsigned kPatienceSeconds = 2;

// Says nothing and fails in no way: the shell then offers nothing.
int PrintNames(const std::string& kind, const std::vector<std::string>& words) {
  std::signal(SIGALRM, [](int) { _exit(0); });
  alarm(kPatienceSeconds);
  const inspect::NamesQuery query = inspect::ReadNamesQuery(words);
  const auto cluster = inspect::LiveCluster::Open(query.connection, kube::SystemSurroundings());
  if (!cluster) return 0;
  const std::string ns = query.ns.empty() ? (*cluster)->ns() : query.ns;
  const auto names = inspect::KnownNames(**cluster, kind, ns, query.word);
  if (!names) return 0;
  std::string text;
  for (const std::string& name : *names) text += name + "\n";
  return WriteOut(text) ? 0 : 1;
}

}  // namespace

void AddCompleteCommand(CLI::App& app, Run& run) {
  struct Asked {
    std::string kind;
    std::vector<std::string> words;
  };
  CLI::App& command = *app.add_subcommand("__complete", "Print names for a completion script");
  command.group("");  // for scripts, not for people
  const auto asked = std::make_shared<Asked>();
  command.add_option("kind", asked->kind, "jobs, queues, nodes, hypernodes or namespaces")
      ->required();
  command.add_option("words", asked->words, "After --: the words of the line so far");
  command.callback(
      [asked, &run] { run = [asked] { return PrintNames(asked->kind, asked->words); }; });
}

}  // namespace strata
