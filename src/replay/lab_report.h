#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "replay/figures.h"
#include "replay/policies/policy.h"
#include "report/text.h"

// The figures of replays as table, JSON and page. Equal figures give equal bytes.
namespace strata::replay {

// What the figures are about; the same for all runs of one report.
struct LabInput {
  std::string version;
  std::vector<std::string> traces;  // as they were named
  std::string trace_sha256;
  std::string cluster;  // as it was named
  std::string cluster_sha256;
  std::string format;
  std::int64_t jobs = 0;
  std::int64_t gangs = 0;
  std::int64_t left_out = 0;
  std::int64_t nodes = 0;
  std::int64_t gpus = 0;
  std::vector<std::string> tiers;  // "1 (ASW): 29 domains"
  std::int32_t gpus_per_pod = 0;   // of the gang rule; 0: gangs are recorded
  std::string queue;               // fifo, skip, easy
  std::string wish;                // of gangs: soft, none, hard:TIER
  double load = 1;
  double offered_load = 0;  // GPU time asked for, of all GPU time up to the last submission
  double startup_s = 0;
  double crossing_slowdown = 1;
  std::string window;   // "FROM,TO", "" for the whole trace
  std::string tenants;  // the file of cells with its sha256, "" for none
};

struct LabRun {
  std::string policy;
  std::string stands_for;
  std::uint64_t seed = 0;
  bool random = false;
  Figures figures;
  std::vector<std::string> faults;  // of --check
};

struct LabReport {
  LabInput input;
  std::vector<LabRun> runs;  // by policy as it was named, then by seed
};

// The runs of one policy: means over seeds, and half the width of the 95 % interval of the mean.
struct PolicyRow {
  std::string policy;
  std::string stands_for;
  std::size_t seeds = 0;
  Figures figures;  // of the first seed, but for the fields that follow
  double wait_mean_s = 0;
  double wait_mean_interval_s = 0;  // 0 for one seed
  double wait_p95_s = 0;
  double wait_p99_s = 0;
  double gang_wait_mean_s = 0;
  double gang_wait_p95_s = 0;
  double gangs_in_one_leaf = 0;
  double leaves_mean = 0;
  double waiting_gpu_hours = 0;
};
[[nodiscard]] std::vector<PolicyRow> RowsOf(const LabReport& report);

// Half the width of the interval that holds the mean of normal values with 95 %, by Student's t; 0
// for fewer than two values.
[[nodiscard]] double Interval95(const std::vector<double>& values);

// Which policy was better and by how much: one sentence.
[[nodiscard]] std::string Verdict(const std::vector<PolicyRow>& rows);
// What was replayed, and what was assumed: sentences.
[[nodiscard]] std::vector<std::string> DescribeInput(const LabInput& input);

[[nodiscard]] std::string RenderLabTable(const LabReport& report, const TextStyle& style);
[[nodiscard]] std::string RenderLabJson(const LabReport& report);
// Reads what RenderLabJson wrote. kInvalidArgument when `text` is something else.
[[nodiscard]] Result<LabReport> ParseLabJson(std::string_view text);
// One HTML file that opens from disk and loads nothing.
[[nodiscard]] std::string RenderLabPage(const LabReport& report);

}  // namespace strata::replay
