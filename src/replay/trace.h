#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// Job traces: which job came when, how large it was and how long it ran.
namespace strata::replay {

// Moments and spans of virtual time.
using Millis = std::int64_t;

// What a job says about its place in the network. kUnsaid: what the replay is told about gangs.
enum class Wish : std::uint8_t { kUnsaid, kNone, kSoft, kHard };

struct TraceJob {
  std::string name;
  Millis submit = 0;
  Millis duration = 0;
  std::int32_t pods = 1;
  std::int32_t gpus = 0;       // of each pod
  std::int32_t last_gpus = 0;  // of the last pod; equal to `gpus` in gangs of equal pods
  std::int64_t cpu_milli = 0;  // of each pod, as is `memory`
  std::int64_t memory = 0;     // bytes
  std::int32_t priority = 0;
  std::int32_t groups = 1;
  std::int32_t gpu_milli = 1000;  // below 1000: a share of one GPU
  Wish wish = Wish::kUnsaid;
  std::string tier;                     // highestTierAllowed or its name, "" for none
  std::optional<Millis> walltime = {};  // what its user promised
  std::string queue = "default";
  std::string user;
  std::string gpu_model;  // models that it accepts, "A|B"; "" for any
  std::string status;     // as recorded

  [[nodiscard]] std::int64_t TotalGpus() const {
    return std::int64_t{gpus} * (pods - 1) + last_gpus;
  }
  bool operator==(const TraceJob&) const = default;
};

struct Trace {
  std::vector<TraceJob> jobs;           // by submission; at one moment in the order of the files
  std::vector<std::string> provenance;  // the comments of canonical files
  bool gangs_assumed = false;           // pods were made of a number of GPUs: kGangRule
  std::int32_t gpus_per_pod = 8;        // the number of that rule
  std::size_t left_out = 0;             // jobs that never ran, or have no length
  std::string format;                   // of the first file
};

// One file, already read and decompressed.
struct TraceText {
  std::string path;  // for messages, and to tell files apart
  std::string text;
};

struct ReadOptions {
  std::string format;  // one of KnownFormats; "": recognised by the header
  std::int32_t gpus_per_pod =
      8;  // g GPUs are one pod up to this, then pods of it, the last smaller
};

// Reads all files into one trace, in order of submission. Lines of a file may be in any order;
// those of jobs of one moment are in the order in which these wait. Jobs without a name are named
// by their place.
//
// kInvalidArgument with "FILE:LINE:COLUMN: what is wrong, and what was expected" for the first
// thing that is wrong; then nothing is read. Pure. REQUIRES: at least one file.
[[nodiscard]] Result<Trace> ReadTrace(std::span<const TraceText> files, const ReadOptions& options);

// The formats of --from, in the order in which they are listed in messages.
[[nodiscard]] std::vector<std::string_view> KnownFormats();

// The canonical form, which ReadTrace reads into an equal trace: comments, header, one job per
// line, without columns that say nothing.
[[nodiscard]] std::string WriteTrace(const Trace& trace);

// "12.5": the shortest decimal number of seconds.
[[nodiscard]] std::string SecondsText(Millis time);

// Divides the time between submissions by `load`; durations and sizes stay. REQUIRES: load > 0.
void ScaleLoad(Trace& trace, double load);

// Keeps the jobs submitted from `from` (included) to `to` (excluded); times count from `from` then.
void CutWindow(Trace& trace, Millis from, Millis to);

}  // namespace strata::replay
