#include "replay/run_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace strata::replay {
namespace {

namespace fs = std::filesystem;

Status WriteText(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  if (file.flush()) return {};
  return Fail(Code::kUnavailable, fmt::format("{}: cannot write", path.string()));
}

std::optional<std::string> ReadText(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// "0-3 7": node numbers as intervals.
std::string Intervals(std::vector<NodeIndex> nodes) {
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  std::string text;
  for (std::size_t i = 0; i < nodes.size();) {
    std::size_t end = i;
    while (end + 1 < nodes.size() && nodes[end + 1] == nodes[end] + 1) ++end;
    if (!text.empty()) text += ' ';
    text += end == i ? fmt::format("{}", nodes[i]) : fmt::format("{}-{}", nodes[i], nodes[end]);
    i = end + 1;
  }
  return text;
}

// A name that a reader of CSV takes as it is.
std::string Plain(std::string_view name) {
  std::string text(name);
  for (char& letter : text) {
    if (letter == ',' || letter == '"' || letter == '\n' || letter == '\r') letter = '_';
  }
  return text;
}

std::string JobLine(const RunToWrite& what, std::size_t index) {
  const Workload::Job& job = what.workload->jobs[index];
  const JobClass& job_class = what.workload->classes[job.job_class];
  const JobRun& run = what.result->runs[index];
  const bool ran = run.end != JobRun::kNever;
  const Millis wait = run.start - job.submit;
  const double stretch = static_cast<double>(run.end - job.submit) /
                         static_cast<double>(std::max<Millis>(run.end - run.start, 1));
  std::string line = fmt::format("{},trace,delay,{},{},{},{},{}",
                                 Plain(what.trace->jobs[index].name),
                                 SecondsText(job.submit),
                                 job_class.pods,
                                 SecondsText(job.walltime),
                                 ran ? 1 : 0,
                                 ran ? "COMPLETED_SUCCESSFULLY" : "REJECTED");
  if (ran) {
    line += fmt::format(",{},{},{},{},{},{:.6f},{},,",
                        SecondsText(run.start),
                        SecondsText(run.end - run.start),
                        SecondsText(run.end),
                        SecondsText(wait),
                        SecondsText(run.end - job.submit),
                        stretch,
                        Intervals(what.result->places[index]));
  } else {
    line += ",,,,,,,,,";
  }
  const auto tier = what.fabric->TierOf(run.level);
  return line + fmt::format(",{},{},{},{},{},{},{}\n",
                            Plain(what.run->policy),
                            what.run->seed,
                            job_class.TotalGpus(),
                            ran ? fmt::format("{}", tier) : "",
                            run.leaves,
                            what.workload->fewest_leaves[job.job_class],
                            run.crossings);
}

// Both reports are about the same jobs on the same cluster.
bool SameInput(const LabInput& a, const LabInput& b) {
  return RenderLabJson({.input = a, .runs = {}}) == RenderLabJson({.input = b, .runs = {}});
}

std::vector<fs::path> SchedulesIn(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  if (fs::exists(folder / "schedule.json", error)) found.push_back(folder / "schedule.json");
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path path = entry->path() / "schedule.json";
    std::error_code ignored;
    if (fs::exists(path, ignored)) found.push_back(path);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

std::string JobsCsv(const RunToWrite& what) {
  std::string out =
      "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,"
      "success,final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,"
      "stretch,allocated_resources,consumed_energy,metadata,policy,seed,gpus,tier,leaves,"
      "fewest_leaves,crossing_ring_edges\n";
  for (std::size_t i = 0; i < what.workload->jobs.size(); ++i) out += JobLine(what, i);
  return out;
}

std::string SeriesCsv(const EngineResult& result) {
  std::string out = "time,gpus_in_use,gpus_stranded,jobs_waiting,gpus_waited_for\n";
  for (const Moment& moment : result.moments) {
    out += fmt::format("{},{},{},{},{}\n",
                       SecondsText(moment.at),
                       moment.held,
                       moment.stranded,
                       moment.waiting,
                       moment.queued);
  }
  return out;
}

Status WriteRun(const std::string& folder, const RunToWrite& what) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return Fail(Code::kUnavailable, fmt::format("{}: {}", folder, error.message()));
  TRY(WriteText(fs::path(folder) / "jobs.csv", JobsCsv(what)));
  TRY(WriteText(fs::path(folder) / "series.csv", SeriesCsv(*what.result)));
  const LabReport report{.input = *what.input, .runs = {*what.run}};
  const fs::path unfinished = fs::path(folder) / "schedule.json.part";
  TRY(WriteText(unfinished, RenderLabJson(report)));
  fs::rename(unfinished, fs::path(folder) / "schedule.json", error);
  if (error) return Fail(Code::kUnavailable, fmt::format("{}: {}", folder, error.message()));
  return {};
}

bool ReadRun(const std::string& folder, const LabInput& input, LabRun& run) {
  const auto text = ReadText(fs::path(folder) / "schedule.json");
  if (!text) return false;
  const auto report = ParseLabJson(*text);
  if (!report || report->runs.size() != 1 || !SameInput(report->input, input)) return false;
  const LabRun& kept = report->runs.front();
  if (kept.policy != run.policy || kept.stands_for != run.stands_for || kept.seed != run.seed) {
    return false;
  }
  run = kept;
  return true;
}

Result<LabReport> ReadRuns(const std::vector<std::string>& folders) {
  LabReport all;
  for (const std::string& folder : folders) {
    const std::vector<fs::path> paths = SchedulesIn(folder);
    if (paths.empty()) {
      return Fail(Code::kNotFound,
                  fmt::format("{}: no schedule.json in it or right below: want a directory of "
                              "strata replay --out",
                              folder));
    }
    for (const fs::path& path : paths) {
      const auto text = ReadText(path);
      auto report = ParseLabJson(text.value_or(""));
      if (!report) {
        return tl::unexpected<Error>(std::move(report.error()).Context(path.string()));
      }
      const LabInput& input = report->input;
      if (all.runs.empty()) all.input = input;
      if (input.trace_sha256 != all.input.trace_sha256 ||
          input.cluster_sha256 != all.input.cluster_sha256 || input.load != all.input.load) {
        return Fail(Code::kInvalidArgument,
                    fmt::format("{}: about other jobs, another cluster or another load than the "
                                "first run: these are not compared in one table",
                                path.string()));
      }
      for (LabRun& run : report->runs) {
        // One column per policy and queue.
        if (input.queue != all.input.queue || input.wish != all.input.wish) {
          run.policy += fmt::format(" ({}, {})", input.queue, input.wish);
        }
        all.runs.push_back(std::move(run));
      }
    }
  }
  return all;
}

}  // namespace strata::replay
