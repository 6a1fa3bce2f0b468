#pragma once

#include <prometheus/labels.h>
#include <prometheus/metric_family.h>

#include <string>
#include <vector>

// Figures of a moment as values of prometheus-cpp, for what is counted or looked up elsewhere: a
// function makes families, and the page /metrics shows them as text.
namespace strata::obs {

using Families = std::vector<prometheus::MetricFamily>;

// A family of counters or gauges without samples.
[[nodiscard]] prometheus::MetricFamily CounterFamily(std::string name, std::string help);
[[nodiscard]] prometheus::MetricFamily GaugeFamily(std::string name, std::string help);
// REQUIRES: a family of counters or gauges.
void AddSample(prometheus::MetricFamily& family, const prometheus::Labels& labels, double value);

// Moves the families of `more` behind those of `families`.
void Append(Families& families, Families more);

// The text format of Prometheus.
[[nodiscard]] std::string MetricsText(const Families& families);

}  // namespace strata::obs
