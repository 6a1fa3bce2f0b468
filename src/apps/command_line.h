#pragma once

#include <functional>

namespace CLI {
class App;
}

// The commands of `strata`. Each has a file of its own, with a function that adds it to the tree.
namespace strata {

// What the command that was named does; returns the exit status. Set while the line is read, called
// once all of it is known to be good.
using Run = std::function<int()>;

// The whole tree: what is parsed, and what help, completion and the man page are made from.
// `run` must outlive `app`.
void AddCommands(CLI::App& app, Run& run);

void AddApiserverCommand(CLI::App& app, Run& run);
void AddCompareCommand(CLI::App& app, Run& run);
void AddDefragCommand(CLI::App& app, Run& run);
void AddCompleteCommand(CLI::App& app, Run& run);
void AddCompletionCommand(CLI::App& app, Run& run);
void AddControllersCommand(CLI::App& app, Run& run);
void AddDiscoverCommand(CLI::App& app, Run& run);
void AddExplainCommand(CLI::App& app, Run& run);
void AddManifestsCommand(CLI::App& app, Run& run);
void AddJobCommand(CLI::App& app, Run& run);
void AddEvictionsCommand(CLI::App& app, Run& run);
void AddManCommand(CLI::App& app, Run& run);
void AddPageCommand(CLI::App& app, Run& run);
void AddQueueCommand(CLI::App& app, Run& run);
void AddReplayCommand(CLI::App& app, Run& run);
void AddSchedulerCommand(CLI::App& app, Run& run);
void AddSimulateCommand(CLI::App& app, Run& run);
void AddSnapshotCommand(CLI::App& app, Run& run);
void AddTopCommand(CLI::App& app, Run& run);
void AddTopologyCommand(CLI::App& app, Run& run);
void AddUpCommand(CLI::App& app, Run& run);
void AddVirtualNodesCommand(CLI::App& app, Run& run);
void AddWebhooksCommand(CLI::App& app, Run& run);

// Reads the line and runs what it says; the exit status. Help and version go to standard output;
// bad usage is one line on standard error, and 2.
[[nodiscard]] int RunCommandLine(int argc, const char* const* argv);

}  // namespace strata
