#pragma once

#include "apps/flags.h"

// One function per subcommand: runs it and returns the exit status.
namespace strata {

[[nodiscard]] int RunSimulate(const SimulateFlags& flags);
[[nodiscard]] int RunExplain(const ExplainFlags& flags);
[[nodiscard]] int RunTopology(const TopologyFlags& flags);
[[nodiscard]] int RunQueueList(const QueueListFlags& flags);
[[nodiscard]] int RunDiscover(const DiscoverFlags& flags);
[[nodiscard]] int RunApiserver(const ApiserverFlags& flags);

}  // namespace strata
