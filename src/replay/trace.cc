#include "replay/trace.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "replay/formats/formats.h"

namespace strata::replay {
namespace {

constexpr std::array<std::string_view, 5> kTextFormats = {
    "swf", "batsim", "philly", "kubernetes", "prometheus"};

std::string_view FirstLine(std::string_view text) {
  while (text.starts_with('#')) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

// JSON by a word that only one of the formats has near its beginning.
std::string_view RecogniseObject(std::string_view text) {
  constexpr std::size_t kBeginning = 4096;
  text = text.substr(0, kBeginning);
  const auto has = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
  if (has("\"resultType\"")) return "prometheus";
  if (has("\"items\"") && has("\"apiVersion\"")) return "kubernetes";
  return "batsim";
}

// The format of a text by how it begins; "" when it is a table.
std::string_view RecogniseText(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return "";
  if (text[first] == '[') return "philly";
  if (text[first] == '{') return RecogniseObject(text);
  if (text[first] == ';') return "swf";
  const std::string_view line = FirstLine(text);
  const bool numbers = line.find_first_not_of("0123456789.- \t\r") == std::string_view::npos;
  return numbers && line.find(' ') != std::string_view::npos ? "swf" : "";
}

Result<const TableFormat*> ChooseTable(const TraceText& file,
                                       const Table& table,
                                       std::string_view wanted) {
  std::vector<std::string_view> known;
  for (const TableFormat& format : TableFormats()) {
    known.push_back(format.name);
    if (!wanted.empty() && format.name != wanted) continue;
    const auto missing = std::find_if(format.columns.begin(),
                                      format.columns.end(),
                                      [&](std::string_view column) { return !table.Has(column); });
    if (missing == format.columns.end()) return &format;
    if (!wanted.empty()) {
      return BadPlace(file.path,
                      table.line(),
                      1,
                      fmt::format("column {} is missing; format {} has {}",
                                  *missing,
                                  format.name,
                                  fmt::join(format.columns, ", ")));
    }
  }
  return BadPlace(file.path,
                  table.line(),
                  1,
                  fmt::format("unknown header: want job,submit,duration,pods, or that of {}",
                              fmt::join(known.begin() + 1, known.end(), ", ")));
}

Status ReadTable(const TraceText& file, std::string_view wanted, Reading& reading) {
  TRY_ASSIGN(Table table, Table::Open(file.path, file.text));
  // A canonical header with a wrong word in it gets the message about that word.
  const bool canonical = wanted == "canonical" || (wanted.empty() && table.Has("job"));
  if (canonical) TRY(CheckCanonicalHeader(table));
  TRY_ASSIGN(const TableFormat* format,
             ChooseTable(file, table, canonical ? std::string_view("canonical") : wanted));
  if (reading.trace.format.empty()) reading.trace.format = format->name;
  while (true) {
    TRY_ASSIGN(const bool more, table.Next());
    if (!more) break;
    TRY(format->read_row(table, reading));
  }
  auto& provenance = reading.trace.provenance;
  provenance.insert(provenance.end(), table.comments().begin(), table.comments().end());
  return {};
}

Status ReadFile(const TraceText& file, Reading& reading) {
  std::string_view format = reading.options.format;
  if (format.empty()) format = RecogniseText(file.text);
  if (std::find(kTextFormats.begin(), kTextFormats.end(), format) == kTextFormats.end()) {
    return ReadTable(file, format, reading);
  }
  if (reading.trace.format.empty()) reading.trace.format = format;
  if (format == "swf") return ReadSwf(file, reading);
  if (format == "kubernetes") return ReadKubernetes(file, reading);
  if (format == "prometheus") return ReadPrometheus(file, reading);
  return format == "batsim" ? ReadBatsim(file, reading) : ReadPhilly(file, reading);
}

void CountFromEarliest(Reading& reading) {
  auto& jobs = reading.trace.jobs;
  if (reading.dated.empty()) return;
  Millis first = jobs[reading.dated.front()].submit;
  for (const std::size_t index : reading.dated) first = std::min(first, jobs[index].submit);
  for (const std::size_t index : reading.dated) jobs[index].submit -= first;
}

// Jobs of one moment stay in the order of the trace.
void SortJobs(std::vector<TraceJob>& jobs) {
  std::stable_sort(jobs.begin(), jobs.end(), [](const TraceJob& a, const TraceJob& b) {
    return a.submit < b.submit;
  });
}

// Jobs without a name get one, and no two have the same.
Status NameJobs(std::span<const TraceText> files, std::vector<TraceJob>& jobs) {
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].name.empty()) jobs[i].name = fmt::format("job-{:07}", i + 1);
  }
  std::vector<std::string_view> names;
  names.reserve(jobs.size());
  for (const TraceJob& job : jobs) names.push_back(job.name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) return {};
  return Fail(Code::kInvalidArgument,
              fmt::format("{}: job \"{}\" is a duplicate: want a name for each job{}",
                          files.front().path,
                          *twice,
                          files.size() > 1 ? ", in all files together" : ""));
}

}  // namespace

std::vector<std::string_view> KnownFormats() {
  std::vector<std::string_view> names;
  for (const TableFormat& format : TableFormats()) names.push_back(format.name);
  names.insert(names.end(), kTextFormats.begin(), kTextFormats.end());
  return names;
}

Result<Trace> ReadTrace(std::span<const TraceText> files, const ReadOptions& options) {
  Trace trace;
  trace.gpus_per_pod = options.gpus_per_pod;
  Reading reading{.options = options, .trace = trace};
  for (const TraceText& file : files) TRY(ReadFile(file, reading));
  if (trace.jobs.empty()) {
    return Fail(Code::kInvalidArgument, fmt::format("{}: no jobs", files.front().path));
  }
  CountFromEarliest(reading);
  SortJobs(trace.jobs);
  TRY(NameJobs(files, trace.jobs));
  return trace;
}

std::string SecondsText(Millis time) {
  std::string text = fmt::format("{}.{:03}", time / 1000, time % 1000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

void ScaleLoad(Trace& trace, double load) {
  if (trace.jobs.empty()) return;
  const Millis first = trace.jobs.front().submit;
  for (TraceJob& job : trace.jobs) {
    job.submit =
        first + static_cast<Millis>(std::floor(static_cast<double>(job.submit - first) / load));
  }
}

void CutWindow(Trace& trace, Millis from, Millis to) {
  std::erase_if(trace.jobs,
                [&](const TraceJob& job) { return job.submit < from || job.submit >= to; });
  for (TraceJob& job : trace.jobs) job.submit -= from;
}

}  // namespace strata::replay
