#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/quantity.h"
#include "replay/formats/formats.h"

namespace strata::replay {
namespace {

constexpr std::array<std::string_view, 18> kColumns = {"job",
                                                       "submit",
                                                       "duration",
                                                       "pods",
                                                       "gpus",
                                                       "last_gpus",
                                                       "cpu",
                                                       "memory",
                                                       "queue",
                                                       "user",
                                                       "priority",
                                                       "tier",
                                                       "mode",
                                                       "groups",
                                                       "walltime",
                                                       "gpu_milli",
                                                       "gpu_model",
                                                       "status"};
constexpr std::size_t kRequired = 4;

Status ReadAmounts(const Table& table, TraceJob& job) {
  if (const auto text = table.Text("cpu"); !text.empty()) {
    const auto cpu = Quantity::Parse(text);
    const auto milli = cpu ? cpu->Milli() : tl::unexpected<Error>(cpu.error());
    if (!milli || *milli < 0) return table.Want("cpu", "a quantity such as 500m or 8");
    job.cpu_milli = *milli;
  }
  if (const auto text = table.Text("memory"); !text.empty()) {
    const auto memory = Quantity::Parse(text);
    const auto bytes = memory ? memory->Value() : tl::unexpected<Error>(memory.error());
    if (!bytes || *bytes < 0) return table.Want("memory", "a quantity such as 64Gi");
    job.memory = *bytes;
  }
  return {};
}

Status ReadGpus(const Table& table, TraceJob& job) {
  if (!table.Text("gpus").empty()) {
    TRY_ASSIGN(job.gpus, table.Count("gpus", 0));
  }
  job.last_gpus = job.gpus;
  if (!table.Text("last_gpus").empty()) {
    TRY_ASSIGN(job.last_gpus, table.Count("last_gpus", 0));
    if (job.last_gpus > job.gpus) {
      return table.Want("last_gpus", fmt::format("at most {}, the GPUs of the others", job.gpus));
    }
  }
  if (!table.Text("gpu_milli").empty()) {
    TRY_ASSIGN(job.gpu_milli, table.Count("gpu_milli", 1));
    if (job.gpu_milli > 1000) return table.Want("gpu_milli", "at most 1000, a whole GPU");
    if (job.gpu_milli < 1000 && job.gpus != 1) {
      return table.Want("gpu_milli", "1000 in a job that does not ask for 1 GPU per pod");
    }
  }
  job.gpu_model = table.Text("gpu_model");
  return {};
}

Status ReadWishes(const Table& table, TraceJob& job) {
  const std::string_view mode = table.Text("mode");
  job.tier = table.Text("tier");
  if (mode == "none") job.wish = Wish::kNone;
  if (mode == "soft") job.wish = Wish::kSoft;
  if (mode == "hard") job.wish = Wish::kHard;
  if (!mode.empty() && job.wish == Wish::kUnsaid) return table.Want("mode", "hard, soft or none");
  if (job.wish == Wish::kHard && job.tier.empty()) {
    return table.Want("tier", "the highest tier of a hard job");
  }
  if (!table.Text("groups").empty()) {
    TRY_ASSIGN(job.groups, table.Count("groups", 1));
    if (job.pods % job.groups != 0) {
      return table.Want("groups", fmt::format("a number that divides the {} pods", job.pods));
    }
  }
  return {};
}

}  // namespace

Status CheckCanonicalHeader(const Table& table) {
  for (const std::string& column : table.columns()) {
    if (std::find(kColumns.begin(), kColumns.end(), column) == kColumns.end()) {
      return table.Bad(column,
                       fmt::format("unknown column; known are {}", fmt::join(kColumns, ", ")));
    }
  }
  for (std::size_t i = 0; i < kRequired; ++i) {
    if (!table.Has(kColumns[i])) return table.Bad(kColumns[i], "missing from the header");
  }
  return {};
}

Status ReadCanonicalRow(const Table& table, Reading& reading) {
  TraceJob job;
  job.name = table.Text("job");
  if (job.name.empty()) return table.Want("job", "a name");
  TRY_ASSIGN(job.submit, table.Seconds("submit"));
  TRY_ASSIGN(job.duration, table.Seconds("duration"));
  TRY_ASSIGN(job.pods, table.Count("pods", 1));
  TRY(ReadGpus(table, job));
  TRY(ReadAmounts(table, job));
  TRY(ReadWishes(table, job));
  if (!table.Text("queue").empty()) job.queue = table.Text("queue");
  job.user = table.Text("user");
  job.status = table.Text("status");
  if (!table.Text("priority").empty()) {
    TRY_ASSIGN(job.priority, table.Count("priority", 0));
  }
  if (!table.Text("walltime").empty()) {
    TRY_ASSIGN(job.walltime, table.Seconds("walltime"));
  }
  reading.trace.jobs.push_back(std::move(job));
  return {};
}

}  // namespace strata::replay
