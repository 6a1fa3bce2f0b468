#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "replay/lab_report.h"

// The report as one HTML file: text, tables and drawings (SVG) in it, no script, nothing to load.
namespace strata::replay {
namespace {

constexpr double kWidth = 640;
constexpr double kHeight = 260;
constexpr double kLeft = 60;
constexpr double kBottom = 34;
constexpr double kTop = 10;

std::string Escaped(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    switch (letter) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += letter;
    }
  }
  return out;
}

// A policy has the same colour in every drawing and in every report.
std::string ColourOf(const std::string& policy) {
  constexpr std::array<const char*, 12> kColours = {"#1b6ca8",
                                                    "#888888",
                                                    "#d1701f",
                                                    "#b59b00",
                                                    "#6b9e3f",
                                                    "#b0413e",
                                                    "#8a5fb0",
                                                    "#2b8a7a",
                                                    "#c2569b",
                                                    "#3f5f2b",
                                                    "#7a4b2a",
                                                    "#444444"};
  const std::vector<PolicyInfo> known = KnownPolicies();
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i].name == policy) return kColours[i % (kColours.size() - 1)];
  }
  return kColours.back();
}

std::string Svg(const std::string& title, const std::string& body) {
  return fmt::format(
      "<figure><figcaption>{}</figcaption><svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\">{}</svg>"
      "</figure>\n",
      Escaped(title),
      kWidth,
      kHeight,
      body);
}

std::string TextAt(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", x, y, anchor, Escaped(text));
}

struct Axes {
  double max_x = 1;
  double max_y = 1;
  bool log_x = false;

  [[nodiscard]] double X(double x) const {
    const double share =
        log_x ? std::log10(std::max(x, 1.0)) / std::log10(std::max(max_x, 10.0)) : x / max_x;
    return kLeft + share * (kWidth - kLeft - 10);
  }
  [[nodiscard]] double Y(double y) const {
    return kHeight - kBottom - y / max_y * (kHeight - kBottom - kTop);
  }
};

std::string Frame(const Axes& axes, const std::string& x_name, bool percent) {
  std::string out = fmt::format("<path class=\"axis\" d=\"M{0:.1f} {1:.1f}V{2:.1f}H{3:.1f}\"/>",
                                kLeft,
                                kTop,
                                kHeight - kBottom,
                                kWidth - 10);
  constexpr int kSteps = 4;
  for (int i = 0; i <= kSteps; ++i) {
    const double y = axes.max_y * i / kSteps;
    out += TextAt(kLeft - 6,
                  axes.Y(y) + 4,
                  "end",
                  percent ? fmt::format("{:.0f} %", y * 100) : fmt::format("{:.4g}", y));
  }
  if (axes.log_x) {
    for (int power = 0; std::pow(10, power) <= axes.max_x; ++power) {
      const double x = std::pow(10, power);
      out += TextAt(axes.X(x), kHeight - kBottom + 14, "middle", fmt::format("{:g}", x));
    }
  } else {
    for (int i = 0; i <= kSteps; ++i) {
      const double x = axes.max_x * i / kSteps;
      out += TextAt(axes.X(x), kHeight - kBottom + 14, "middle", fmt::format("{:.4g}", x));
    }
  }
  return out + TextAt(kWidth - 10, kHeight - 4, "end", x_name);
}

struct CurveChart {
  std::string title;
  std::string x_name;
  std::vector<CurvePoint> Figures::*curve;
  bool log_x = false;
  bool percent = false;
};

std::string RenderCurves(const std::vector<PolicyRow>& rows, const CurveChart& chart) {
  Axes axes{.max_x = 1e-9, .max_y = chart.percent ? 1.0 : 1e-9, .log_x = chart.log_x};
  for (const PolicyRow& row : rows) {
    for (const CurvePoint& point : row.figures.*chart.curve) {
      axes.max_x = std::max(axes.max_x, point.x);
      axes.max_y = std::max(axes.max_y, point.y);
    }
  }
  std::string body = Frame(axes, chart.x_name, chart.percent);
  for (const PolicyRow& row : rows) {
    std::string points;
    for (const CurvePoint& point : row.figures.*chart.curve) {
      points += fmt::format("{:.1f},{:.1f} ", axes.X(point.x), axes.Y(point.y));
    }
    body += fmt::format("<polyline points=\"{}\" stroke=\"{}\"><title>{}</title></polyline>",
                        points,
                        ColourOf(row.policy),
                        Escaped(row.policy));
  }
  return Svg(chart.title, body);
}

// One bar per policy, in parts.
struct BarChart {
  std::string title;
  std::vector<std::string> parts;
  std::vector<std::vector<double>> values;  // by policy and part
};

std::string RenderBars(const std::vector<PolicyRow>& rows, const BarChart& chart) {
  double most = 1e-9;
  for (const auto& values : chart.values) {
    double sum = 0;
    for (const double value : values) sum += value;
    most = std::max(most, sum);
  }
  constexpr double kLabel = 190;
  const double height = (kHeight - 40) / static_cast<double>(std::max<std::size_t>(rows.size(), 1));
  std::string body;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double y = 30 + height * static_cast<double>(i);
    body += TextAt(kLabel - 6, y + height * 0.6, "end", rows[i].policy);
    double x = kLabel;
    for (std::size_t part = 0; part < chart.values[i].size(); ++part) {
      const double width = chart.values[i][part] / most * (kWidth - kLabel - 10);
      body += fmt::format(
          "<rect class=\"part{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\">"
          "<title>{}: {:.6g}</title></rect>",
          part % 6,
          x,
          y,
          width,
          height * 0.8,
          Escaped(chart.parts[part]),
          chart.values[i][part]);
      x += width;
    }
  }
  double x = kLabel;
  for (std::size_t part = 0; part < chart.parts.size(); ++part) {
    body += fmt::format(
        "<rect class=\"part{}\" x=\"{:.1f}\" y=\"6\" width=\"10\" height=\"10\"/>", part % 6, x);
    body += TextAt(x + 14, 15, "start", chart.parts[part]);
    x += 30 + 7 * static_cast<double>(chart.parts[part].size());
  }
  return Svg(chart.title, body);
}

std::string RenderScatter(const std::vector<PolicyRow>& rows) {
  Axes axes{.max_x = 1e-9, .max_y = 1e-9};
  for (const PolicyRow& row : rows) {
    axes.max_x = std::max(axes.max_x, row.leaves_mean * 1.1);
    axes.max_y = std::max(axes.max_y, row.gang_wait_mean_s * 1.1);
  }
  std::string body = Frame(axes, "leaves per gang", false);
  for (const PolicyRow& row : rows) {
    body += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"6\" fill=\"{}\"><title>{}</title></circle>",
        axes.X(row.leaves_mean),
        axes.Y(row.gang_wait_mean_s),
        ColourOf(row.policy),
        Escaped(row.policy));
  }
  return Svg("Gangs: mean wait in seconds against how far they are spread", body);
}

std::string RenderMainTable(const std::vector<PolicyRow>& rows) {
  std::string out =
      "<table><tr><th>policy<th>mean wait, s<th>p95<th>p99<th>gangs' mean wait, s<th>p95<th>gangs "
      "in "
      "one leaf<th>leaves per gang<th>GPUs in use<th>waiting, GPU hours</tr>\n";
  for (const PolicyRow& row : rows) {
    std::string mean = fmt::format("{:.0f}", row.wait_mean_s);
    if (row.seeds > 1) mean += fmt::format(" ± {:.0f}", row.wait_mean_interval_s);
    out += fmt::format(
        "<tr><td><i style=\"background:{}\"></i>{}<small>{}{}</small><td>{}<td>{:.0f}<td>{:.0f}<td>"
        "{:.0f}<td>{:.0f}<td>{:.0f} of {}<td>{:.2f}<td>{:.1f} %<td>{:.0f}</tr>\n",
        ColourOf(row.policy),
        Escaped(row.policy),
        Escaped(row.stands_for),
        row.seeds > 1 ? fmt::format("; mean of {} seeds", row.seeds) : "",
        mean,
        row.wait_p95_s,
        row.wait_p99_s,
        row.gang_wait_mean_s,
        row.gang_wait_p95_s,
        row.gangs_in_one_leaf,
        row.figures.gangs.count,
        row.leaves_mean,
        row.figures.utilization * 100,
        row.waiting_gpu_hours);
  }
  return out + "</table>\n";
}

std::string RenderSizeTable(const std::vector<PolicyRow>& rows) {
  std::string out = "<table><tr><th>mean wait in seconds, by GPUs";
  for (const char* size : kSizeNames) out += fmt::format("<th>{}", Escaped(size));
  out += "</tr>\n";
  for (const PolicyRow& row : rows) {
    out += fmt::format("<tr><td>{}", Escaped(row.policy));
    for (const Spread& spread : row.figures.wait_by_size) {
      out += spread.count > 0 ? fmt::format("<td>{:.0f}", spread.mean_s) : "<td>";
    }
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

constexpr const char* kHead = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>strata replay</title><style>
body{font:15px/1.5 system-ui,sans-serif;max-width:1340px;margin:2em auto;padding:0 1em;color:#222;background:#fff}
h1{font-size:1.35em;line-height:1.35}table{border-collapse:collapse;margin:1em 0}
td,th{padding:.3em .7em;text-align:right;border-bottom:1px solid #ddd;vertical-align:top}
td:first-child,th:first-child{text-align:left}small{display:block;color:#666}
i{display:inline-block;width:.7em;height:.7em;margin-right:.4em}
figure{display:inline-block;width:640px;max-width:100%;margin:0 1em 1.5em 0;vertical-align:top}
figcaption{font-weight:600}svg text{font-size:12px;fill:#444}.axis,polyline{fill:none;stroke:#999}
polyline{stroke-width:1.8}.part0{fill:#1b6ca8}.part1{fill:#d1701f}.part2{fill:#b0413e}.part3{fill:#b59b00}
.part4{fill:#6b9e3f}.part5{fill:#8a5fb0}
@media(prefers-color-scheme:dark){body{background:#161616;color:#ddd}svg text{fill:#bbb}td,th{border-color:#444}}
</style></head><body>
)";

std::string Provenance(const LabInput& input) {
  return fmt::format(
      "<p>Made by strata {}. Trace: {} (format {}, sha256 {}). Cluster: {} (sha256 {}).</p>\n",
      Escaped(input.version),
      Escaped(fmt::format("{}", fmt::join(input.traces, ", "))),
      Escaped(input.format),
      Escaped(input.trace_sha256),
      Escaped(input.cluster),
      Escaped(input.cluster_sha256));
}

}  // namespace

std::string RenderLabPage(const LabReport& report) {
  const std::vector<PolicyRow> rows = RowsOf(report);
  std::string out = kHead;
  out += fmt::format("<h1>{}</h1>\n", Escaped(Verdict(rows)));
  out += RenderMainTable(rows);
  out += "<p>";
  for (const std::string& line : DescribeInput(report.input)) out += Escaped(line) + " ";
  out += "Drawings show the first seed of each policy.</p>\n";
  out += RenderSizeTable(rows);
  out += RenderCurves(rows,
                      {.title = "Jobs that waited at most so long",
                       .x_name = "seconds",
                       .curve = &Figures::wait_curve,
                       .log_x = true,
                       .percent = true});
  out += RenderScatter(rows);
  BarChart tiers{.title = "Gangs by the lowest tier that holds them", .parts = {}, .values = {}};
  BarChart blocked{.title = "GPU hours that waiting jobs asked for, by what they lacked",
                   .parts = {},
                   .values = {}};
  BarChart placeable{.title = "Gangs of so many whole nodes that could start, mean over time",
                     .parts = {},
                     .values = {}};
  for (const std::string& tier : report.input.tiers) {
    tiers.parts.push_back(tier.substr(0, tier.find(':')));
  }
  tiers.parts.emplace_back("cluster");
  for (std::size_t i = 0; i < kBlockedKinds; ++i) {
    blocked.parts.emplace_back(ToString(static_cast<BlockedBy>(i)));
  }
  for (const std::int32_t nodes : kPlaceable) placeable.parts.push_back(std::to_string(nodes));
  for (const PolicyRow& row : rows) {
    const auto& levels = row.figures.gangs.by_level;
    tiers.values.emplace_back(levels.begin(), levels.end());
    blocked.values.push_back(row.figures.blocked_gpu_hours);
    placeable.values.push_back(row.figures.placeable);
  }
  const auto fits = [](const BarChart& chart) {
    return std::all_of(chart.values.begin(), chart.values.end(), [&](const auto& values) {
      return values.size() <= chart.parts.size();
    });
  };
  for (const BarChart& chart : {tiers, blocked, placeable}) {
    if (fits(chart)) out += RenderBars(rows, chart);
  }
  out += RenderCurves(rows,
                      {.title = "GPUs in use",
                       .x_name = "hours",
                       .curve = &Figures::held_curve,
                       .log_x = false,
                       .percent = true});
  out += RenderCurves(rows,
                      {.title = "Jobs waiting",
                       .x_name = "hours",
                       .curve = &Figures::queue_curve,
                       .log_x = false,
                       .percent = false});
  return out + Provenance(report.input) + "</body></html>\n";
}

}  // namespace strata::replay
