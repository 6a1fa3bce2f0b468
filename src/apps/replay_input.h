#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "replay/fabric.h"
#include "replay/lab_report.h"
#include "replay/policies/policy.h"
#include "replay/trace.h"
#include "replay/workload.h"

namespace CLI {
class App;
}

// What `strata replay` is told about its input, and what it reads from it.
namespace strata {

struct ReplayInputFlags {
  std::vector<std::string> traces;
  std::string format;  // "": recognised
  std::int32_t gpus_per_pod = 8;
  std::string cluster;
  std::int32_t node_gpus = 8;  // of hosts in a file that does not say it
  std::string gangs = "soft";  // soft, none, hard:TIER
  double load = 1;
  std::string window;   // "FROM,TO" in seconds; "": all of it
  std::string tenants;  // the file of --tenants
};
// TRACE, --from and --pods-of.
void AddTraceFlags(CLI::App& command, ReplayInputFlags& flags);
// --cluster, --gpus, --gangs, --load and --window.
void AddReplayClusterFlags(CLI::App& command, ReplayInputFlags& flags);

struct ReplayInput {
  replay::Trace trace;
  replay::Fabric fabric;
  replay::Workload workload;
  std::vector<replay::TenantCells> tenants;
  replay::LabInput described;  // but for what the engine is told
};

// Errors are one line that names the file, here and below.
//
// Files as text, decompressed, "-" for standard input.
[[nodiscard]] Result<std::vector<replay::TraceText>> ReadTexts(
    const std::vector<std::string>& paths);

struct NamedFabric {
  replay::Fabric fabric;
  std::string sha256;
};
// What --cluster names.
[[nodiscard]] Result<NamedFabric> ReadFabric(const ReplayInputFlags& flags);

[[nodiscard]] Result<replay::Trace> ReadTraceFiles(const ReplayInputFlags& flags);
[[nodiscard]] Result<ReplayInput> ReadReplayInput(const ReplayInputFlags& flags);

// A policy by its name; reads the file of `conf:FILE`.
[[nodiscard]] Result<replay::PolicyChoice> ReadPolicy(const std::string& name);
// The same without reading a file.
[[nodiscard]] Status CheckPolicyName(const std::string& name);

}  // namespace strata
