#include "obs/metric_families.h"

#include <gtest/gtest.h>

namespace strata::obs {
namespace {

TEST(MetricFamilies, AreWrittenAsPrometheusReadsThem) {
  Families families = {GaugeFamily("up", "Whether it is up.")};
  AddSample(families.back(), {{"source", "a \"quoted\" name\n"}}, 1);
  prometheus::MetricFamily seen = CounterFamily("seen_total", "How many were seen.");
  AddSample(seen, {}, 3'000'000'000);
  Append(families, {seen});
  EXPECT_EQ(MetricsText(families),
            "# HELP up Whether it is up.\n# TYPE up gauge\n"
            "up{source=\"a \\\"quoted\\\" name\\n\"} 1\n"
            "# HELP seen_total How many were seen.\n# TYPE seen_total counter\n"
            "seen_total 3000000000\n");
}

}  // namespace
}  // namespace strata::obs
