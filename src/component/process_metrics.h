#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "obs/metric_families.h"

// What every program shows of its own process, under the names that Prometheus' clients have for
// it.
namespace strata {

struct ProcessFigures {
  double cpu_seconds = 0;  // user and system
  std::int64_t resident_bytes = 0;
  std::int64_t virtual_bytes = 0;
  double start_time_seconds = 0;  // since 1970
};

// How the kernel of this machine counts.
struct KernelUnits {
  std::int64_t ticks_per_second = 100;
  std::int64_t page_bytes = 4096;
  std::int64_t boot_seconds = 0;  // since 1970: `btime` of /proc/stat
};

// From the text of /proc/<pid>/stat; none when it is something else. Pure.
[[nodiscard]] std::optional<ProcessFigures> ParseProcessStat(std::string_view stat,
                                                             const KernelUnits& units);
// `btime` of the text of /proc/stat; none when it has none. Pure.
[[nodiscard]] std::optional<std::int64_t> ParseBootTime(std::string_view stat);

// The families process_cpu_seconds_total, process_resident_memory_bytes,
// process_virtual_memory_bytes, process_start_time_seconds, process_open_fds and process_max_fds of
// this process, now. Those that the system does not tell are left out. COST: two small files, and a
// folder with an entry per open file.
[[nodiscard]] obs::Families ProcessMetrics();

}  // namespace strata
