#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "objects/meta.h"

// The command line as values. Only flags.cc knows the library that reads it.
namespace strata {

enum class OutputFormat : std::uint8_t { kTable, kJson, kYaml };

// What `simulate` and its relatives read.
struct InputFlags {
  std::vector<std::string> files;  // -f; at least one
  std::string scheduler_conf;      // "" for the default configuration
  std::optional<Time> now;
};

struct SimulateFlags {
  InputFlags input;
  std::optional<std::int32_t> cycles;
  OutputFormat output = OutputFormat::kTable;
  std::string trace_file;  // "" for none
  bool timings = false;
  std::string explain;  // "ns/job", "" for none
};

struct ExplainFlags {
  InputFlags input;
  std::string job;  // "ns/job"
  OutputFormat output = OutputFormat::kTable;
};

struct TopologyFlags {
  InputFlags input;
  std::optional<objects::ResourceList> pod;  // none: the default shape
  bool as_given = false;                     // before any cycle, not after them
  OutputFormat output = OutputFormat::kTable;
};

struct QueueListFlags {
  InputFlags input;
  OutputFormat output = OutputFormat::kTable;
};

struct DiscoverFlags {
  std::string config;
  std::vector<std::string> sources;   // sources or names; none: all that are enabled
  std::vector<std::string> nodes;     // manifests; none: hosts are taken as they are
  std::vector<std::string> previous;  // manifests
  bool accept_shrink = false;
  bool diff = false;
  OutputFormat output = OutputFormat::kYaml;
};

// What starts an API server; `up` has the same.
struct ApiserverFlags {
  std::string listen = "127.0.0.1:0";
  std::string data_dir;    // "" for memory
  std::string kubeconfig;  // "" for the usual place
  bool plain_http = false;
};

// Nothing to run: text to print (help, version) or one line of bad usage, and the exit status.
struct JustPrint {
  std::string text;
  int exit_code = 0;  // 0: to standard output; 2: bad usage, to standard error
};

using Invocation = std::variant<JustPrint,
                                SimulateFlags,
                                ExplainFlags,
                                TopologyFlags,
                                QueueListFlags,
                                DiscoverFlags,
                                ApiserverFlags>;

[[nodiscard]] Invocation ParseCommandLine(int argc, const char* const* argv);

}  // namespace strata
