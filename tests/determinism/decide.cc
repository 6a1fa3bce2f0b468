// Prints what simulate decides about each of the files it is given, and the trace of it:
//
//   strata_decide 1.json 2.json
//
// tools/check-determinism.sh compares what different builds of it print. Every file is run twice,
// with a listener, which makes the search score every node, and without: the decisions are equal.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "objects/load.h"
#include "sched/config.h"
#include "simulate/render_data.h"
#include "simulate/trace_json.h"
#include "whatif/run.h"

namespace strata {
namespace {

Result<std::string> Decide(const objects::ObjectSet& objects, CycleTrace* trace) {
  TRY_ASSIGN(LoadedCluster cluster, BuildCluster(objects));
  RunOptions options;
  options.trace = trace;
  TRY_ASSIGN(const RunResult result, RunCycles(cluster, DefaultSchedulerConfig(), options));
  return RenderJson(result);
}

Status DecideFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) return Fail(Code::kUnavailable, path + ": cannot read");
  TRY_ASSIGN(const objects::ObjectSet objects,
             objects::ParseObjects(std::vector<objects::Source>{{path, std::move(text)}}));
  std::ostringstream records;
  JsonLinesTrace trace(records);
  TRY_ASSIGN(const std::string decisions, Decide(objects, nullptr));
  TRY_ASSIGN(const std::string traced, Decide(objects, &trace));
  if (decisions != traced) return Fail(Code::kInternal, path + ": a listener changes decisions");
  std::cout << "== " << path << '\n' << decisions << records.str();
  return {};
}

}  // namespace
}  // namespace strata

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const strata::Status decided = strata::DecideFile(argv[i]);
    if (decided) continue;
    std::cerr << decided.error().message << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
