#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "json/dump.h"
#include "json/parse.h"
#include "replay/lab_report.h"

// One list of members for each type, used to write and to read it.
namespace strata::replay {
namespace {

using Json = nlohmann::ordered_json;

template <typename T, typename Visitor>
void ForEachMember(T& value, Visitor&& visit);
template <typename T>
Json WriteValue(const std::vector<T>& values);
template <typename T>
bool ReadValue(const Json& json, std::vector<T>& values);

template <typename T>
constexpr bool kIsPlain = std::is_arithmetic_v<std::remove_const_t<T>> ||
                          std::is_same_v<std::remove_const_t<T>, std::string>;

template <typename T>
Json WriteValue(const T& value) {
  if constexpr (kIsPlain<T>) {
    return value;
  } else {
    Json object = Json::object();
    ForEachMember(value,
                  [&](const char* key, const auto& member) { object[key] = WriteValue(member); });
    return object;
  }
}
template <typename T>
Json WriteValue(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(WriteValue(value));
  return list;
}

// False when the JSON has another shape.
template <typename T>
bool ReadValue(const Json& json, T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    if (!json.is_string()) return false;
    value = json.get<std::string>();
    return true;
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!json.is_boolean()) return false;
    value = json.get<bool>();
    return true;
  } else if constexpr (std::is_arithmetic_v<T>) {
    if (!json.is_number()) return false;
    value = json.get<T>();
    return true;
  } else {
    bool fits = json.is_object();
    ForEachMember(value, [&](const char* key, auto& member) {
      const auto found = fits ? json.find(key) : json.end();
      fits = fits && found != json.end() && ReadValue(*found, member);
    });
    return fits;
  }
}
template <typename T>
bool ReadValue(const Json& json, std::vector<T>& values) {
  if (!json.is_array()) return false;
  for (const Json& item : json) {
    if (!ReadValue(item, values.emplace_back())) return false;
  }
  return true;
}

template <typename T, typename Visitor>
void VisitSpread(T& value, Visitor& visit) {
  visit("count", value.count);
  visit("mean", value.mean_s);
  visit("p50", value.p50_s);
  visit("p95", value.p95_s);
  visit("p99", value.p99_s);
  visit("max", value.max_s);
}

template <typename T, typename Visitor>
void VisitGangs(T& value, Visitor& visit) {
  visit("count", value.count);
  visit("in_one_leaf", value.in_one_leaf);
  visit("in_as_few_leaves_as_possible", value.as_few_leaves_as_possible);
  visit("above_possible_tier", value.above_possible_tier);
  visit("leaves_mean", value.leaves_mean);
  visit("crossing_ring_edges_mean", value.crossings_mean);
  visit("by_tier", value.by_level);
}

template <typename T, typename Visitor>
void VisitFigures(T& value, Visitor& visit) {
  visit("nb_jobs", value.jobs);  // the names of Batsim where it has the figure
  visit("nb_jobs_finished", value.finished);
  visit("nb_jobs_never_fit", value.never_fit);
  visit("makespan", value.makespan_s);
  visit("waiting_time", value.wait);
  visit("gang_waiting_time", value.gang_wait);
  visit("turnaround_time", value.completion);
  visit("gang_turnaround_time", value.gang_completion);
  visit("waiting_time_by_size", value.wait_by_size);
  visit("window_waiting_time", value.window_wait);
  visit("waiting_time_by_gpu_time", value.wait_by_gpu_time_s);
  visit("mean_bounded_slowdown", value.slowdown_mean);
  visit("gangs", value.gangs);
  visit("utilization", value.utilization);
  visit("window_utilization", value.window_utilization);
  visit("effective_utilization", value.effective_utilization);
  visit("gpu_hours", value.gpu_hours);
  visit("stranded", value.stranded);
  visit("waiting_gpu_hours", value.waiting_gpu_hours);
  visit("blocked_gpu_hours", value.blocked_gpu_hours);
  visit("placeable", value.placeable);
  visit("rack_loss", value.rack_loss);
  visit("gini", value.gini);
  visit("decisions", value.decisions);
  visit("waiting_time_curve", value.wait_curve);
  visit("utilization_curve", value.held_curve);
  visit("queue_curve", value.queue_curve);
}

template <typename T, typename Visitor>
void VisitInput(T& value, Visitor& visit) {
  visit("version", value.version);
  visit("traces", value.traces);
  visit("trace_sha256", value.trace_sha256);
  visit("cluster", value.cluster);
  visit("cluster_sha256", value.cluster_sha256);
  visit("format", value.format);
  visit("jobs", value.jobs);
  visit("gangs", value.gangs);
  visit("left_out", value.left_out);
  visit("nodes", value.nodes);
  visit("gpus", value.gpus);
  visit("tiers", value.tiers);
  visit("gpus_per_pod", value.gpus_per_pod);
  visit("queue", value.queue);
  visit("gangs_wish", value.wish);
  visit("load", value.load);
  visit("offered_load", value.offered_load);
  visit("startup", value.startup_s);
  visit("crossing_slowdown", value.crossing_slowdown);
  visit("window", value.window);
  visit("tenants", value.tenants);
}

template <typename T, typename Visitor>
void VisitRun(T& value, Visitor& visit) {
  visit("policy", value.policy);
  visit("stands_for", value.stands_for);
  visit("seed", value.seed);
  visit("random", value.random);
  visit("figures", value.figures);
  visit("faults", value.faults);
}

template <typename T, typename Visitor>
void ForEachMember(T& value, Visitor&& visit) {
  using Plain = std::remove_const_t<T>;
  if constexpr (std::is_same_v<Plain, Spread>) VisitSpread(value, visit);
  if constexpr (std::is_same_v<Plain, GangFigures>) VisitGangs(value, visit);
  if constexpr (std::is_same_v<Plain, Figures>) VisitFigures(value, visit);
  if constexpr (std::is_same_v<Plain, LabInput>) VisitInput(value, visit);
  if constexpr (std::is_same_v<Plain, LabRun>) VisitRun(value, visit);
  if constexpr (std::is_same_v<Plain, LabReport>) {
    visit("input", value.input);
    visit("runs", value.runs);
  }
  if constexpr (std::is_same_v<Plain, CurvePoint>) {
    visit("x", value.x);
    visit("y", value.y);
  }
}

}  // namespace

std::string RenderLabJson(const LabReport& report) {
  return DumpPrettyJson(WriteValue(report)) + "\n";
}

Result<LabReport> ParseLabJson(std::string_view text) {
  LabReport report;
  const Json json = ParseOrderedJsonOrNull(text);
  if (ReadValue(json, report)) return report;
  return Fail(Code::kInvalidArgument, "want the JSON that strata replay writes");
}

}  // namespace strata::replay
