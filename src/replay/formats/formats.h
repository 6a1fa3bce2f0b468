#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "replay/formats/table.h"
#include "replay/trace.h"

// The formats of traces. A table format reads one row at a time; the others read a whole text.
namespace strata::replay {

// What the readers of one trace add to.
struct Reading {
  const ReadOptions& options;
  Trace& trace;
  // Jobs with recorded dates: their times count from the earliest of them in the end.
  std::vector<std::size_t> dated = {};
};

struct TableFormat {
  std::string_view name;
  // The header has all of these, or it is another format.
  std::vector<std::string_view> columns;
  Status (*read_row)(const Table& table, Reading& reading);
};

// In the order in which headers are compared with them.
[[nodiscard]] std::span<const TableFormat> TableFormats();

// A number of GPUs as pods: one up to the number of the options, then pods of that many, of which
// the last one is smaller if they do not divide. REQUIRES: gpus >= 0.
void MakeGang(std::int32_t gpus, Reading& reading, TraceJob& job);

// One file of our own form; `trace` gets the comments, too.
[[nodiscard]] Status ReadCanonicalRow(const Table& table, Reading& reading);
// Refuses columns that the form does not have.
[[nodiscard]] Status CheckCanonicalHeader(const Table& table);

[[nodiscard]] Status ReadSwf(const TraceText& file, Reading& reading);
[[nodiscard]] Status ReadBatsim(const TraceText& file, Reading& reading);
[[nodiscard]] Status ReadPhilly(const TraceText& file, Reading& reading);
// Finished Jobs of Volcano and of Kubernetes, and pods of neither, from a List of objects. Events
// say when jobs were placed whose conditions do not.
[[nodiscard]] Status ReadKubernetes(const TraceText& file, Reading& reading);
// Pods by their owners, from series of kube-state-metrics in an answer of Prometheus.
[[nodiscard]] Status ReadPrometheus(const TraceText& file, Reading& reading);

}  // namespace strata::replay
