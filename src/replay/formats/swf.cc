#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "replay/formats/formats.h"

// The Standard Workload Format 2.2: 18 numbers per line, -1 for what is not known, ';' for
// comments. A processor counts as a GPU here, and the gang rule makes pods of them.
namespace strata::replay {
namespace {

constexpr std::size_t kFields = 18;
enum Field : std::size_t {
  kJob = 0,
  kSubmit = 1,
  kRun = 3,
  kAllocated = 4,
  kRequested = 7,
  kRequestedTime = 8,
  kStatus = 10,
  kUser = 11,
  kQueue = 14,
};

struct SwfLine {
  std::array<double, kFields> values{};
  std::array<std::string_view, kFields> words;
  std::array<std::size_t, kFields> columns{};
};

Result<SwfLine> SplitSwf(std::string_view path, std::size_t line, std::string_view text) {
  SwfLine out;
  std::size_t count = 0;
  for (std::size_t at = text.find_first_not_of(" \t"); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(" \t", at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if (count == kFields) {
      return BadPlace(path, line, at + 1, fmt::format("want {} fields, found more", kFields));
    }
    const auto [stop, error] =
        std::from_chars(word.data(), word.data() + word.size(), out.values[count]);
    constexpr double kMax = 1e10;
    if (error != std::errc{} || stop != word.data() + word.size() ||
        !(out.values[count] >= -1 && out.values[count] <= kMax)) {
      return BadPlace(path,
                      line,
                      at + 1,
                      fmt::format("field {}: want a number from -1 to 10^10, found \"{}\"",
                                  count + 1,
                                  word.substr(0, 40)));
    }
    out.words[count] = word;
    out.columns[count++] = at + 1;
    at = text.find_first_not_of(" \t", end);
  }
  if (count < kFields) {
    return BadPlace(path, line, 1, fmt::format("want {} fields, found {}", kFields, count));
  }
  return out;
}

Millis InMillis(double seconds) {
  return static_cast<Millis>(seconds * 1000);
}

Status ReadSwfLine(const TraceText& file,
                   std::size_t number,
                   const SwfLine& line,
                   Reading& reading) {
  const auto& values = line.values;
  const Field size = values[kRequested] > 0 ? kRequested : kAllocated;
  const double run = values[kRun];
  if (values[size] <= 0 || run < 0 || values[kSubmit] < 0) {
    ++reading.trace.left_out;
    return {};
  }
  constexpr double kMaxSize = 1e9;
  if (values[size] > kMaxSize) {
    return BadPlace(file.path,
                    number,
                    line.columns[size],
                    fmt::format("field {}: want at most 10^9 processors", size + 1));
  }
  TraceJob job;
  job.name = line.words[kJob];
  job.submit = InMillis(values[kSubmit]);
  job.duration = InMillis(run);
  if (values[kRequestedTime] > 0) job.walltime = InMillis(values[kRequestedTime]);
  MakeGang(static_cast<std::int32_t>(values[size]), reading, job);
  if (values[kUser] >= 0) job.user = line.words[kUser];
  if (values[kQueue] >= 0) job.queue = line.words[kQueue];
  job.status = line.words[kStatus];
  reading.trace.jobs.push_back(std::move(job));
  return {};
}

}  // namespace

Status ReadSwf(const TraceText& file, Reading& reading) {
  std::size_t number = 0;
  for (std::size_t at = 0; at < file.text.size();) {
    const std::size_t end = std::min(file.text.find('\n', at), file.text.size());
    std::string_view text(file.text.data() + at, end - at);
    at = end + 1;
    ++number;
    if (text.ends_with('\r')) text.remove_suffix(1);
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos || text[first] == ';') continue;
    TRY_ASSIGN(const SwfLine line, SplitSwf(file.path, number, text));
    TRY(ReadSwfLine(file, number, line, reading));
  }
  return {};
}

}  // namespace strata::replay
