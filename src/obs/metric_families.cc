#include "obs/metric_families.h"

#include <prometheus/text_serializer.h>

#include <iterator>
#include <utility>

#include "base/check.h"

namespace strata::obs {
namespace {

using prometheus::MetricType;

prometheus::MetricFamily FamilyOf(MetricType type, std::string name, std::string help) {
  prometheus::MetricFamily family;
  family.name = std::move(name);
  family.help = std::move(help);
  family.type = type;
  return family;
}

}  // namespace

prometheus::MetricFamily CounterFamily(std::string name, std::string help) {
  return FamilyOf(MetricType::Counter, std::move(name), std::move(help));
}

prometheus::MetricFamily GaugeFamily(std::string name, std::string help) {
  return FamilyOf(MetricType::Gauge, std::move(name), std::move(help));
}

void AddSample(prometheus::MetricFamily& family, const prometheus::Labels& labels, double value) {
  CHECK(family.type == MetricType::Counter || family.type == MetricType::Gauge);
  prometheus::ClientMetric sample;
  for (const auto& [name, text] : labels) sample.label.push_back({name, text});
  if (family.type == MetricType::Counter) {
    sample.counter.value = value;
  } else {
    sample.gauge.value = value;
  }
  family.metric.push_back(std::move(sample));
}

void Append(Families& families, Families more) {
  families.insert(
      families.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::string MetricsText(const Families& families) {
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace strata::obs
