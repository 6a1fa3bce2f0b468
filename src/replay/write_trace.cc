#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/quantity.h"
#include "replay/trace.h"

namespace strata::replay {
namespace {

// A field that the reader takes for the same text.
std::string Field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos && !text.starts_with('#')) {
    return std::string(text);
  }
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '"') quoted += '"';
    quoted += letter == '\n' || letter == '\r' ? ' ' : letter;  // a row is one line
  }
  return quoted + '"';
}

std::string WishText(const TraceJob& job) {
  switch (job.wish) {
    case Wish::kUnsaid:
      return "";
    case Wish::kNone:
      return "none";
    case Wish::kSoft:
      return "soft";
    case Wish::kHard:
      return "hard";
  }
  return "";
}

struct Column {
  std::string_view name;
  std::function<std::string(const TraceJob&)> text;
  std::string usual;  // a column of nothing else is left out
};

std::vector<Column> OptionalColumns() {
  return {
      {"last_gpus",
       [](const TraceJob& job) {
         return job.last_gpus == job.gpus ? "" : std::to_string(job.last_gpus);
       },
       ""},
      {"cpu",
       [](const TraceJob& job) {
         return job.cpu_milli == 0 ? "" : Quantity::FromMilli(job.cpu_milli).ToString();
       },
       ""},
      {"memory",
       [](const TraceJob& job) { return job.memory == 0 ? "" : std::to_string(job.memory); },
       ""},
      {"queue", [](const TraceJob& job) { return Field(job.queue); }, "default"},
      {"user", [](const TraceJob& job) { return Field(job.user); }, ""},
      {"priority", [](const TraceJob& job) { return std::to_string(job.priority); }, "0"},
      {"tier", [](const TraceJob& job) { return Field(job.tier); }, ""},
      {"mode", WishText, ""},
      {"groups", [](const TraceJob& job) { return std::to_string(job.groups); }, "1"},
      {"walltime",
       [](const TraceJob& job) { return job.walltime ? SecondsText(*job.walltime) : ""; },
       ""},
      {"gpu_milli", [](const TraceJob& job) { return std::to_string(job.gpu_milli); }, "1000"},
      {"gpu_model", [](const TraceJob& job) { return Field(job.gpu_model); }, ""},
      {"status", [](const TraceJob& job) { return Field(job.status); }, ""},
  };
}

}  // namespace

std::string WriteTrace(const Trace& trace) {
  std::vector<Column> columns = OptionalColumns();
  std::erase_if(columns, [&](const Column& column) {
    for (const TraceJob& job : trace.jobs) {
      if (column.text(job) != column.usual) return false;
    }
    return true;
  });
  std::string out;
  for (const std::string& line : trace.provenance) out += line + "\n";
  out += "job,submit,duration,pods,gpus";
  for (const Column& column : columns) out += fmt::format(",{}", column.name);
  out += '\n';
  for (const TraceJob& job : trace.jobs) {
    out += fmt::format("{},{},{},{},{}",
                       Field(job.name),
                       SecondsText(job.submit),
                       SecondsText(job.duration),
                       job.pods,
                       job.gpus);
    for (const Column& column : columns) out += "," + column.text(job);
    out += '\n';
  }
  return out;
}

}  // namespace strata::replay
