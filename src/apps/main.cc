#include <cstdio>
#include <variant>

#include <fmt/format.h>

#include "apps/commands.h"
#include "apps/flags.h"

namespace {

struct Dispatch {
  int operator()(const strata::JustPrint& print) const {
    fmt::print(print.exit_code == 0 ? stdout : stderr, "{}", print.text);
    return print.exit_code;
  }
  int operator()(const strata::SimulateFlags& flags) const { return strata::RunSimulate(flags); }
  int operator()(const strata::ExplainFlags& flags) const { return strata::RunExplain(flags); }
  int operator()(const strata::TopologyFlags& flags) const { return strata::RunTopology(flags); }
  int operator()(const strata::QueueListFlags& flags) const { return strata::RunQueueList(flags); }
  int operator()(const strata::DiscoverFlags& flags) const { return strata::RunDiscover(flags); }
  int operator()(const strata::ApiserverFlags& flags) const { return strata::RunApiserver(flags); }
};

}  // namespace

int main(int argc, char** argv) {
  return std::visit(Dispatch{}, strata::ParseCommandLine(argc, argv));
}
