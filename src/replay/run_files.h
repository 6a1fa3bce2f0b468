#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "replay/engine.h"
#include "replay/fabric.h"
#include "replay/lab_report.h"
#include "replay/trace.h"
#include "replay/workload.h"

// The folder of one run: jobs.csv, series.csv, and schedule.json, which is written last and says
// that the others are complete.
namespace strata::replay {

// What a run is about; nothing is null.
struct RunToWrite {
  const LabInput* input = nullptr;
  const LabRun* run = nullptr;
  const Trace* trace = nullptr;
  const Workload* workload = nullptr;
  const Fabric* fabric = nullptr;
  const EngineResult* result = nullptr;  // with places
};

[[nodiscard]] Status WriteRun(const std::string& folder, const RunToWrite& what);

// Fills in the figures of `run` when the folder has them, for the same input, policy and seed.
[[nodiscard]] bool ReadRun(const std::string& folder, const LabInput& input, LabRun& run);

// The runs in the folders and right below them, by folder name. kInvalidArgument when a folder has
// none, or when two runs are not about the same jobs on the same cluster.
[[nodiscard]] Result<LabReport> ReadRuns(const std::vector<std::string>& folders);

// The files as text. Columns of jobs.csv are Batsim's 17 in its order, then ours.
[[nodiscard]] std::string JobsCsv(const RunToWrite& what);
[[nodiscard]] std::string SeriesCsv(const EngineResult& result);

}  // namespace strata::replay
