#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace strata {

// Milliseconds, summed over the cycles.
struct RunTimings {
  double load_ms = 0;
  double open_ms = 0;
  double actions_ms = 0;
  double close_ms = 0;

  bool operator==(const RunTimings&) const = default;
};

// What `strata simulate -o json` prints, as values, under the same names. Everything but `timings`
// is a function of the input.
struct RunResult {
  struct Job {
    std::string phase;
    std::string allocated_hypernode;  // "" if none or the virtual top
    std::int32_t tier = 0;            // 0 if none
    std::string reason;               // why it is not placed: a word of docs/reasons.md
    std::string message;              // and the sentence

    bool operator==(const Job&) const = default;
  };
  struct HyperNode {
    std::int32_t tier = 0;
    std::string parent;  // "" for a root
    std::size_t nodes = 0;
    bool ready = true;
    std::string reason;

    bool operator==(const HyperNode&) const = default;
  };
  struct Warning {
    std::string object;  // "PodGroup ns/pg"
    std::string reason;
    std::string message;

    auto operator<=>(const Warning&) const = default;
  };
  // Pods that went so that one job could start.
  struct Evictions {
    struct Victim {
      std::string job;                // "ns/podgroup"
      bool whole_gang = false;        // else surplus pods alone
      std::vector<std::string> pods;  // "ns/pod", ascending
      std::string queue = {};
      std::int32_t priority = 0;
      std::vector<std::string> nodes = {};  // of the pods, ascending, each once
      // Seconds, of the pod that runs longest; none: unknown.
      std::optional<std::int64_t> runs_for = {};
      std::int32_t grace_seconds = 0;  // of the pod that may take longest to stop

      bool operator==(const Victim&) const = default;
    };
    std::int32_t cycle = 0;  // counted from 1
    std::string action;
    std::string claimant;   // "ns/podgroup" of the job that gets their room
    std::string hypernode;  // where its gang fits then; "" for the cluster as a whole
    std::int32_t tier = 0;
    std::vector<Victim> victims;  // ascending by job

    // An incomplete gang is taken back: the claimant itself, which gets no room.
    [[nodiscard]] bool TakesBack() const {
      return victims.size() == 1 && victims.front().job == claimant && victims.front().whole_gang;
    }
    bool operator==(const Evictions&) const = default;
  };
  using Timings = RunTimings;
  using Devices = std::map<std::string, std::vector<std::string>>;  // container -> GPU uuids

  std::map<std::string, std::string> binds;      // "ns/pod" -> node, of the whole run
  std::map<std::string, std::string> pipelined;  // likewise, of the last cycle
  std::vector<std::string> evicted;              // "ns/pod", ascending
  std::vector<Evictions> evictions;              // in decision order
  std::map<std::string, Devices> devices;        // by "ns/pod", where GPUs were chosen
  std::map<std::string, Job> jobs;               // by "ns/podgroup"
  // By queue: the jobs that wait there at the end, in the order in which they get their turn.
  std::map<std::string, std::vector<std::string>> lines;
  std::map<std::string, HyperNode> hypernodes;
  bool topology_ready = true;
  std::vector<Warning> warnings;  // ascending, each once
  std::int32_t cycles = 0;
  std::int64_t seconds = 0;          // of simulated time, with RunOptions::play_grace
  std::optional<Timings> timings;    // only when they were asked for
  std::vector<std::string> explain;  // lines of --explain; left out when empty

  bool operator==(const RunResult&) const = default;
};

}  // namespace strata
