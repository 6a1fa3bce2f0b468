#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "replay/formats/formats.h"

namespace strata::replay {
namespace {

// job_id,submission_time,duration,num_gpu of Microsoft's ITP; seconds.
Status ReadItp(const Table& table, Reading& reading) {
  TraceJob job;
  job.name = table.Text("job_id");
  if (job.name.empty()) return table.Want("job_id", "a name");
  TRY_ASSIGN(job.submit, table.Seconds("submission_time"));
  TRY_ASSIGN(job.duration, table.Seconds("duration"));
  TRY_ASSIGN(const std::int32_t gpus, table.Count("num_gpu", 0));
  MakeGang(gpus, reading, job);
  reading.trace.jobs.push_back(std::move(job));
  return {};
}

// timestamp,duration,num_gpus,gpu_time,cluster: Philly as extracted for Pollux.
Status ReadPolluxPhilly(const Table& table, Reading& reading) {
  TraceJob job;
  TRY_ASSIGN(job.submit, table.Moment("timestamp"));
  TRY_ASSIGN(job.duration, table.Seconds("duration"));
  TRY_ASSIGN(const std::int32_t gpus, table.Count("num_gpus", 0));
  if (!table.Text("cluster").empty()) job.queue = table.Text("cluster");
  MakeGang(gpus, reading, job);
  reading.dated.push_back(reading.trace.jobs.size());
  reading.trace.jobs.push_back(std::move(job));
  return {};
}

// num_gpu,submit_time,duration and others: Tiresias, Chronus, Muri; seconds.
Status ReadTiresias(const Table& table, Reading& reading) {
  TraceJob job;
  job.name = table.Text("job_id");
  TRY_ASSIGN(job.submit, table.Seconds("submit_time"));
  TRY_ASSIGN(job.duration, table.Seconds("duration"));
  TRY_ASSIGN(const std::int32_t gpus, table.Count("num_gpu", 0));
  MakeGang(gpus, reading, job);
  reading.trace.jobs.push_back(std::move(job));
  return {};
}

// GPUs over nodes: equal pods, the last one smaller.
Status SpreadOverNodes(const Table& table, TraceJob& job) {
  TRY_ASSIGN(const std::int32_t gpus, table.Count("gpu_num", 0));
  TRY_ASSIGN(job.pods, table.Count("node_num", 0));
  job.pods = std::max(job.pods, 1);
  job.gpus = gpus / job.pods + (gpus % job.pods == 0 ? 0 : 1);
  const std::int64_t last = gpus - std::int64_t{job.gpus} * (job.pods - 1);
  if (last < 0) {
    return table.Want("gpu_num", fmt::format("GPUs that {} nodes can share evenly", job.pods));
  }
  job.last_gpus = static_cast<std::int32_t>(last);
  return {};
}

// SenseTime's Helios and Shanghai AI Lab's Acme: node_num is the size of the gang.
Status ReadHelios(const Table& table, Reading& reading) {
  TraceJob job;
  job.name = table.Text("job_id");
  job.user = table.Text("user");
  job.status = table.Text("state");
  for (const std::string_view column : {"vc", "queue"}) {
    if (!table.Text(column).empty() && job.queue == "default") job.queue = table.Text(column);
  }
  TRY_ASSIGN(job.submit, table.Moment("submit_time"));
  if (table.Text("start_time").empty() || table.Text("end_time").empty()) {
    ++reading.trace.left_out;
    return {};
  }
  TRY_ASSIGN(const Millis start, table.Moment("start_time"));
  TRY_ASSIGN(const Millis end, table.Moment("end_time"));
  if (end < start) return table.Want("end_time", "a time that is not before start_time");
  job.duration = end - start;
  TRY(SpreadOverNodes(table, job));
  reading.dated.push_back(reading.trace.jobs.size());
  reading.trace.jobs.push_back(std::move(job));
  return {};
}

// The task table of Alibaba's PAI of 2020: inst_num pods, plan_gpu per cent of one GPU each.
Status ReadPai(const Table& table, Reading& reading) {
  if (table.Text("start_time").empty() || table.Text("end_time").empty() ||
      table.Text("inst_num").empty()) {
    ++reading.trace.left_out;
    return {};
  }
  TraceJob job;
  job.name = fmt::format("{}/{}", table.Text("job_name"), table.Text("task_name"));
  job.status = table.Text("status");
  TRY_ASSIGN(job.submit, table.Seconds("start_time"));
  TRY_ASSIGN(const Millis end, table.Seconds("end_time"));
  if (end < job.submit) return table.Want("end_time", "a time that is not before start_time");
  job.duration = end - job.submit;
  const auto pods = ParseSeconds(table.Text("inst_num"));  // the file has "2.0"
  if (!pods || *pods < 1000 || *pods > 1'000'000'000) {
    return table.Want("inst_num", "a number of pods, at least 1");
  }
  job.pods = static_cast<std::int32_t>(*pods / 1000);
  constexpr Millis kGpu = 100'000;  // 100 per cent, in thousandths
  const auto share = table.Text("plan_gpu").empty() ? std::optional<Millis>(0)
                                                    : ParseSeconds(table.Text("plan_gpu"));
  if (!share || *share > 1000 * kGpu) return table.Want("plan_gpu", "per cent of a GPU");
  job.gpus = static_cast<std::int32_t>((*share + kGpu - 1) / kGpu);
  job.last_gpus = job.gpus;
  if (*share > 0 && *share < kGpu) job.gpu_milli = static_cast<std::int32_t>(*share / 100);
  reading.trace.jobs.push_back(std::move(job));
  return {};
}

// Alibaba's openb lists: single pods with shares of GPUs.
Status ReadOpenb(const Table& table, Reading& reading) {
  TraceJob job;
  job.name = table.Text("name");
  job.status = table.Text("pod_phase");
  TRY_ASSIGN(job.submit, table.Seconds("creation_time"));
  if (table.Text("deletion_time").empty()) {
    ++reading.trace.left_out;
    return {};
  }
  TRY_ASSIGN(const Millis end, table.Seconds("deletion_time"));
  job.duration = std::max<Millis>(end - job.submit, 0);
  TRY_ASSIGN(job.gpus, table.Count("num_gpu", 0));
  job.last_gpus = job.gpus;
  TRY_ASSIGN(const std::int32_t cpu, table.Count("cpu_milli", 0));
  TRY_ASSIGN(const std::int32_t mebibytes, table.Count("memory_mib", 0));
  job.cpu_milli = cpu;
  job.memory = std::int64_t{mebibytes} * (1 << 20U);
  if (!table.Text("gpu_milli").empty() && job.gpus == 1) {
    TRY_ASSIGN(job.gpu_milli, table.Count("gpu_milli", 1));
    if (job.gpu_milli > 1000) return table.Want("gpu_milli", "at most 1000, a whole GPU");
  }
  job.gpu_model = table.Text("gpu_spec");
  reading.trace.jobs.push_back(std::move(job));
  return {};
}

}  // namespace

void MakeGang(std::int32_t gpus, Reading& reading, TraceJob& job) {
  const std::int32_t most = reading.options.gpus_per_pod;
  reading.trace.gangs_assumed = true;
  job.pods = std::max((gpus + most - 1) / most, 1);
  job.gpus = std::min(gpus, most);
  job.last_gpus = gpus - job.gpus * (job.pods - 1);
}

std::span<const TableFormat> TableFormats() {
  static const std::vector<TableFormat> formats = {
      {"canonical", {"job", "submit", "duration", "pods"}, ReadCanonicalRow},
      {"itp", {"job_id", "submission_time", "duration", "num_gpu"}, ReadItp},
      {"pollux-philly",
       {"timestamp", "duration", "num_gpus", "gpu_time", "cluster"},
       ReadPolluxPhilly},
      {"helios",
       {"gpu_num", "node_num", "submit_time", "start_time", "end_time", "vc"},
       ReadHelios},
      {"acme", {"gpu_num", "node_num", "submit_time", "start_time", "end_time"}, ReadHelios},
      {"openb", {"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec"}, ReadOpenb},
      {"pai2020", {"job_name", "task_name", "inst_num", "plan_gpu"}, ReadPai},
      {"tiresias", {"num_gpu", "submit_time", "duration"}, ReadTiresias},
  };
  return formats;
}

}  // namespace strata::replay
