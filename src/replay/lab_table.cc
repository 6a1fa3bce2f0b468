#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/plural.h"
#include "replay/lab_report.h"

namespace strata::replay {
namespace {

constexpr double kSecondsPerHour = 3600;

// "12,345": whole, with separators.
std::string Grouped(double value) {
  std::string text = fmt::format("{:.0f}", value);
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  for (std::size_t at = text.size(); at > first + 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

std::string Percent(double share) {
  return fmt::format("{:.1f} %", share * 100);
}

double MeanOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

PolicyRow RowOf(const std::vector<const LabRun*>& runs) {
  const auto mean = [&](auto&& value) {
    std::vector<double> values;
    values.reserve(runs.size());
    for (const LabRun* run : runs) values.push_back(static_cast<double>(value(run->figures)));
    return MeanOf(values);
  };
  PolicyRow row;
  row.policy = runs.front()->policy;
  row.stands_for = runs.front()->stands_for;
  row.seeds = runs.size();
  row.figures = runs.front()->figures;
  row.wait_mean_s = mean([](const Figures& f) { return f.wait.mean_s; });
  row.wait_p95_s = mean([](const Figures& f) { return f.wait.p95_s; });
  row.wait_p99_s = mean([](const Figures& f) { return f.wait.p99_s; });
  row.gang_wait_mean_s = mean([](const Figures& f) { return f.gang_wait.mean_s; });
  row.gang_wait_p95_s = mean([](const Figures& f) { return f.gang_wait.p95_s; });
  row.gangs_in_one_leaf = mean([](const Figures& f) { return f.gangs.in_one_leaf; });
  row.leaves_mean = mean([](const Figures& f) { return f.gangs.leaves_mean; });
  row.waiting_gpu_hours = mean([](const Figures& f) { return f.waiting_gpu_hours; });
  std::vector<double> waits;
  waits.reserve(runs.size());
  for (const LabRun* run : runs) waits.push_back(run->figures.wait.mean_s);
  row.wait_mean_interval_s = Interval95(waits);
  return row;
}

std::string Faults(const LabReport& report) {
  std::string lines;
  for (const LabRun& run : report.runs) {
    for (const std::string& fault : run.faults) {
      lines += fmt::format("fault: {} (seed {}): {}\n", run.policy, run.seed, fault);
    }
  }
  return lines;
}

}  // namespace

double Interval95(const std::vector<double>& values) {
  // Student's t for 97.5 %, by degrees of freedom.
  constexpr std::array<double, 30> kT = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                         2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                         2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                         2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
  constexpr double kNormal = 1.96;
  if (values.size() < 2) return 0;
  const double mean = MeanOf(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const auto count = static_cast<double>(values.size());
  const std::size_t freedom = values.size() - 1;
  const double t = freedom <= kT.size() ? kT[freedom - 1] : kNormal;
  return t * std::sqrt(squares / static_cast<double>(freedom) / count);
}

std::vector<PolicyRow> RowsOf(const LabReport& report) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<const LabRun*>> runs;
  for (const LabRun& run : report.runs) {
    if (!runs.contains(run.policy)) order.push_back(run.policy);
    runs[run.policy].push_back(&run);
  }
  std::vector<PolicyRow> rows;
  rows.reserve(order.size());
  for (const std::string& policy : order) rows.push_back(RowOf(runs[policy]));
  return rows;
}

std::string Verdict(const std::vector<PolicyRow>& rows) {
  if (rows.empty()) return "No policy was replayed.";
  const auto [best, worst] =
      std::minmax_element(rows.begin(), rows.end(), [](const PolicyRow& a, const PolicyRow& b) {
        return a.wait_mean_s < b.wait_mean_s;
      });
  if (rows.size() == 1) {
    return fmt::format(
        "With {} jobs waited {:.2f} hours on average, {} GPU hours of waiting in all.",
        best->policy,
        best->wait_mean_s / kSecondsPerHour,
        Grouped(best->waiting_gpu_hours));
  }
  if (best->wait_mean_s == worst->wait_mean_s) {
    return fmt::format("All policies were equal: jobs waited {:.2f} hours on average.",
                       best->wait_mean_s / kSecondsPerHour);
  }
  const double saved = worst->waiting_gpu_hours - best->waiting_gpu_hours;
  return fmt::format(
      "{} was better than {}: jobs waited {:.2f} hours on average instead of {:.2f}, {} GPU hours "
      "of waiting {} in all{}.",
      best->policy,
      worst->policy,
      best->wait_mean_s / kSecondsPerHour,
      worst->wait_mean_s / kSecondsPerHour,
      Grouped(std::abs(saved)),
      saved >= 0 ? "less" : "more",
      rows.size() > 2 ? fmt::format(" (the best and the worst of {})", rows.size()) : "");
}

std::vector<std::string> DescribeInput(const LabInput& input) {
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{} ({} of several pods) on {} with {} GPUs; {}.",
                              Plural(static_cast<std::uint64_t>(input.jobs), "job"),
                              input.gangs,
                              Plural(static_cast<std::uint64_t>(input.nodes), "node"),
                              input.gpus,
                              input.tiers.empty()
                                  ? "no network is described"
                                  : fmt::format("tiers {}", fmt::join(input.tiers, ", "))));
  lines.push_back(fmt::format(
      "Queue {}, gangs ask for topology {}, load x{:g}: {:.2f} of all GPU time up to the last "
      "submission is asked for.",
      input.queue,
      input.wish,
      input.load,
      input.offered_load));
  if (input.gpus_per_pod > 0) {
    lines.push_back(
        fmt::format("Assumed, since the trace records only GPUs: up to {} GPUs are one pod, more "
                    "are pods of {}.",
                    input.gpus_per_pod,
                    input.gpus_per_pod));
  }
  if (!input.tenants.empty()) {
    lines.push_back(fmt::format("Queues own cells of rule:buddy: {}.", input.tenants));
  }
  if (input.left_out > 0) {
    lines.push_back(fmt::format("Left out: {} that never ran or have no length.",
                                Plural(static_cast<std::uint64_t>(input.left_out), "job")));
  }
  if (input.crossing_slowdown != 1) {
    lines.push_back(
        fmt::format("Declared, not measured: gangs in several leaves run {:g} times as long.",
                    input.crossing_slowdown));
  }
  return lines;
}

std::string RenderLabTable(const LabReport& report, const TextStyle& style) {
  using Align = TextTable::Align;
  const std::vector<PolicyRow> rows = RowsOf(report);
  TextTable table({{"POLICY", Align::kLeft},
                   {"WAIT MEAN", Align::kRight},
                   {"P95", Align::kRight},
                   {"P99", Align::kRight},
                   {"GANGS' WAIT", Align::kRight},
                   {"P95", Align::kRight},
                   {"IN ONE LEAF", Align::kRight},
                   {"LEAVES", Align::kRight},
                   {"IN USE", Align::kRight},
                   {"STRANDED", Align::kRight}});
  for (const PolicyRow& row : rows) {
    std::string mean = Grouped(row.wait_mean_s);
    if (row.seeds > 1) mean += fmt::format(" ±{}", Grouped(row.wait_mean_interval_s));
    table.AddRow({{row.policy},
                  {mean},
                  {Grouped(row.wait_p95_s)},
                  {Grouped(row.wait_p99_s)},
                  {Grouped(row.gang_wait_mean_s)},
                  {Grouped(row.gang_wait_p95_s)},
                  {fmt::format("{:.0f}/{}", row.gangs_in_one_leaf, row.figures.gangs.count)},
                  {fmt::format("{:.2f}", row.leaves_mean)},
                  {Percent(row.figures.utilization)},
                  {Percent(row.figures.stranded)}});
  }
  std::string out = Wrap(Verdict(rows), 0, style) + "\n" + table.Render(style) + "\n";
  for (const std::string& line : DescribeInput(report.input)) out += Wrap(line, 0, style);
  out += Wrap("Waits are in seconds, over the whole run; LEAVES is the mean per gang.", 0, style);
  for (const PolicyRow& row : rows) {
    std::string line = fmt::format("{}: {}", row.policy, row.stands_for);
    if (row.seeds > 1) line += fmt::format("; mean of {} seeds", row.seeds);
    if (row.figures.never_fit > 0) {
      line += fmt::format("; {} too large for the cluster",
                          Plural(static_cast<std::uint64_t>(row.figures.never_fit), "job"));
    }
    out += Wrap(line + ".", 0, style);
  }
  return out + Faults(report);
}

}  // namespace strata::replay
