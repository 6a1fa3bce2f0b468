#include "component/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace strata {
namespace {

// Positions behind the name of the program, which may hold spaces and is in parentheses: proc(5)
// counts the field after it as the third.
constexpr std::size_t kUserTicks = 14 - 3;
constexpr std::size_t kSystemTicks = 15 - 3;
constexpr std::size_t kStartTicks = 22 - 3;
constexpr std::size_t kVirtualBytes = 23 - 3;
constexpr std::size_t kResidentPages = 24 - 3;

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", begin), text.size());
    if (end > begin) words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::optional<std::int64_t> Number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string ReadText(const char* path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Without the entry of the folder that is being read.
std::optional<std::int64_t> CountOpenFiles() {
  std::error_code error;
  std::int64_t count = -1;
  for (std::filesystem::directory_iterator at("/proc/self/fd", error), end; at != end;
       at.increment(error)) {
    if (error) return std::nullopt;
    ++count;
  }
  if (error || count < 0) return std::nullopt;
  return count;
}

std::optional<std::int64_t> MaxOpenFiles() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return static_cast<std::int64_t>(limit.rlim_cur);
}

std::optional<ProcessFigures> ReadOwnFigures() {
  const std::optional<std::int64_t> boot = ParseBootTime(ReadText("/proc/stat"));
  if (!boot) return std::nullopt;
  return ParseProcessStat(ReadText("/proc/self/stat"),
                          {.ticks_per_second = sysconf(_SC_CLK_TCK),
                           .page_bytes = sysconf(_SC_PAGESIZE),
                           .boot_seconds = *boot});
}

void Add(obs::Families& families, prometheus::MetricFamily family, double value) {
  obs::AddSample(family, {}, value);
  families.push_back(std::move(family));
}

}  // namespace

std::optional<ProcessFigures> ParseProcessStat(std::string_view stat, const KernelUnits& units) {
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  const std::vector<std::string_view> words = Words(stat.substr(name_end + 1));
  if (words.size() <= kResidentPages || units.ticks_per_second <= 0) return std::nullopt;
  const auto user = Number(words[kUserTicks]);
  const auto system = Number(words[kSystemTicks]);
  const auto start = Number(words[kStartTicks]);
  const auto virtual_bytes = Number(words[kVirtualBytes]);
  const auto pages = Number(words[kResidentPages]);
  if (!user || !system || !start || !virtual_bytes || !pages) return std::nullopt;
  const auto ticks = static_cast<double>(units.ticks_per_second);
  return ProcessFigures{.cpu_seconds = static_cast<double>(*user + *system) / ticks,
                        .resident_bytes = *pages * units.page_bytes,
                        .virtual_bytes = *virtual_bytes,
                        .start_time_seconds = static_cast<double>(units.boot_seconds) +
                                              static_cast<double>(*start) / ticks};
}

std::optional<std::int64_t> ParseBootTime(std::string_view stat) {
  constexpr std::string_view kKey = "\nbtime ";
  const std::size_t at = stat.find(kKey);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = stat.substr(at + kKey.size());
  return Number(rest.substr(0, rest.find('\n')));
}

obs::Families ProcessMetrics() {
  using obs::CounterFamily;
  using obs::GaugeFamily;
  obs::Families families;
  if (const auto own = ReadOwnFigures()) {
    Add(families,
        CounterFamily("process_cpu_seconds_total", "Processor time of this process, in seconds"),
        own->cpu_seconds);
    Add(families,
        GaugeFamily("process_resident_memory_bytes", "Memory of this process that is in RAM"),
        static_cast<double>(own->resident_bytes));
    Add(families,
        GaugeFamily("process_virtual_memory_bytes", "Address space of this process"),
        static_cast<double>(own->virtual_bytes));
    Add(families,
        GaugeFamily("process_start_time_seconds", "When this process started, since 1970"),
        own->start_time_seconds);
  }
  if (const auto open = CountOpenFiles()) {
    Add(families,
        GaugeFamily("process_open_fds", "Open files and connections of this process"),
        static_cast<double>(*open));
  }
  if (const auto max = MaxOpenFiles()) {
    Add(families,
        GaugeFamily("process_max_fds", "How many files and connections it may open"),
        static_cast<double>(*max));
  }
  return families;
}

}  // namespace strata
