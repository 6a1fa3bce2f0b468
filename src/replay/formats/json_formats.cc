#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "json/access.h"
#include "json/error.h"
#include "json/parse.h"
#include "replay/formats/formats.h"

namespace strata::replay {
namespace {

// The text as JSON; an error has the place where it stops being that.
Result<nlohmann::json> ParseTrace(const TraceText& file) {
  auto parsed = ParseJson(file.text);
  if (!parsed) return tl::unexpected<Error>(std::move(parsed.error()).Context(file.path));
  return std::move(*parsed);
}

tl::unexpected<Error> BadMember(const TraceText& file,
                                const std::string& path,
                                const char* wanted) {
  return Fail(Code::kInvalidArgument, fmt::format("{}: {}: want {}", file.path, path, wanted));
}

// A name is one line in our own form.
constexpr const char* kOneLine = "a name without line breaks";
bool HasLineBreak(std::string_view name) {
  return name.find_first_of("\r\n") != std::string_view::npos;
}

Result<Millis> SecondsIn(const TraceText& file,
                         const nlohmann::json& object,
                         const char* key,
                         const std::string& where) {
  const nlohmann::json* value = FindAt(object, {key});
  constexpr double kMax = 1e10;
  if (value == nullptr || !value->is_number()) {
    return BadMember(file, where + "." + key, "a number of seconds");
  }
  const double seconds = value->get<double>();
  if (!(seconds >= 0 && seconds <= kMax)) {
    return BadMember(file, where + "." + key, "seconds from 0 to 10^10");
  }
  return static_cast<Millis>(seconds * 1000);
}

Result<TraceJob> ReadBatsimJob(const TraceText& file,
                               const nlohmann::json& root,
                               const nlohmann::json& item,
                               const std::string& where) {
  TraceJob job;
  const nlohmann::json* id = FindAt(item, {"id"});
  if (id != nullptr && id->is_number_integer()) job.name = std::to_string(id->get<std::int64_t>());
  if (id != nullptr && id->is_string()) job.name = id->get<std::string>();
  if (job.name.empty()) return BadMember(file, where + ".id", "a name or a whole number");
  if (HasLineBreak(job.name)) return BadMember(file, where + ".id", kOneLine);
  TRY_ASSIGN(job.submit, SecondsIn(file, item, "subtime", where));
  const std::string& name = TextAt(item, {"profile"});
  const nlohmann::json& profile = ObjectAt(root, {"profiles", name});
  if (TextAt(profile, {"type"}) != "delay") {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: {}.profile: want a profile of type delay, found {} of type \"{}\"",
                            file.path,
                            where,
                            name.empty() ? "none" : "\"" + name + "\"",
                            TextAt(profile, {"type"})));
  }
  TRY_ASSIGN(job.duration, SecondsIn(file, profile, "delay", "profiles." + name));
  if (FindAt(item, {"walltime"}) != nullptr && FindAt(item, {"walltime"})->is_number() &&
      FindAt(item, {"walltime"})->get<double>() > 0) {
    TRY_ASSIGN(job.walltime, SecondsIn(file, item, "walltime", where));
  }
  return job;
}

constexpr Millis kMaxLength = 10'000'000'000 * 1000;

// Philly's attempts: how long they ran together, and the machines of the last one.
struct PhillyRun {
  Millis length = 0;
  std::int64_t machines = 0;
  std::int64_t most = 0;  // GPUs of one machine
  std::int64_t gpus = 0;
};

PhillyRun ReadAttempts(const nlohmann::json& attempts) {
  PhillyRun run;
  for (const nlohmann::json& attempt : attempts) {
    const auto start = ParseMoment(TextAt(attempt, {"start_time"}));
    const auto end = ParseMoment(TextAt(attempt, {"end_time"}));
    if (!start || !end || *end < *start || run.length > kMaxLength) continue;
    run = {.length = run.length + *end - *start, .machines = 0, .most = 0, .gpus = 0};
    for (const nlohmann::json& machine : ListAt(attempt, {"detail"})) {
      const auto gpus = static_cast<std::int64_t>(ListAt(machine, {"gpus"}).size());
      ++run.machines;
      run.most = std::max(run.most, gpus);
      run.gpus += gpus;
    }
  }
  return run;
}

}  // namespace

Status ReadBatsim(const TraceText& file, Reading& reading) {
  TRY_ASSIGN(const nlohmann::json root, ParseTrace(file));
  const nlohmann::json* jobs = FindAt(root, {"jobs"});
  if (jobs == nullptr || !jobs->is_array()) return BadMember(file, "jobs", "a list");
  for (std::size_t i = 0; i < jobs->size(); ++i) {
    const std::string where = fmt::format("jobs[{}]", i);
    TRY_ASSIGN(TraceJob job, ReadBatsimJob(file, root, (*jobs)[i], where));
    const std::int64_t size = IntegerAt((*jobs)[i], {"res"});
    constexpr std::int64_t kMax = 1'000'000'000;
    if (size < 1 || size > kMax) return BadMember(file, where + ".res", "a number from 1 to 10^9");
    MakeGang(static_cast<std::int32_t>(size), reading, job);
    reading.trace.jobs.push_back(std::move(job));
  }
  return {};
}

Status ReadPhilly(const TraceText& file, Reading& reading) {
  TRY_ASSIGN(const nlohmann::json root, ParseTrace(file));
  if (!root.is_array()) return BadMember(file, "the file", "a list of jobs");
  for (std::size_t i = 0; i < root.size(); ++i) {
    const nlohmann::json& item = root[i];
    const std::string where = fmt::format("[{}]", i);
    TraceJob job;
    job.name = TextAt(item, {"jobid"});
    if (job.name.empty()) return BadMember(file, where + ".jobid", "a name");
    if (HasLineBreak(job.name)) return BadMember(file, where + ".jobid", kOneLine);
    const auto submit = ParseMoment(TextAt(item, {"submitted_time"}));
    if (!submit) return BadMember(file, where + ".submitted_time", "a time: 2017-10-03 05:07:15");
    const PhillyRun run = ReadAttempts(ListAt(item, {"attempts"}));
    if (run.length > kMaxLength) {
      return BadMember(file, where + ".attempts", "at most 10^10 seconds together");
    }
    const std::int64_t last = run.gpus - run.most * (run.machines - 1);
    if (run.gpus == 0) {
      ++reading.trace.left_out;
      continue;
    }
    job.submit = *submit;
    job.duration = run.length;
    job.queue = TextAt(item, {"vc"}).empty() ? "default" : TextAt(item, {"vc"});
    job.user = TextAt(item, {"user"});
    job.status = TextAt(item, {"status"});
    if (last > 0) {
      job.pods = static_cast<std::int32_t>(run.machines);
      job.gpus = static_cast<std::int32_t>(run.most);
      job.last_gpus = static_cast<std::int32_t>(last);
    } else {  // spread so unevenly that equal pods do not say it
      MakeGang(static_cast<std::int32_t>(run.gpus), reading, job);
    }
    reading.dated.push_back(reading.trace.jobs.size());
    reading.trace.jobs.push_back(std::move(job));
  }
  return {};
}

}  // namespace strata::replay
