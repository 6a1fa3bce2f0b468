#include "component/process_metrics.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

using testing::HasSubstr;

// pid (name) state ppid pgrp session tty tpgid flags minflt cminflt majflt cmajflt utime stime
// cutime cstime priority nice threads itrealvalue starttime vsize rss ...
constexpr const char* kStat =
    "42 (a (b) c) S 1 42 42 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 4 0 1000 8192000 30 "
    "18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n";

TEST(ProcessStat, IsReadBehindTheNameOfTheProgram) {
  const auto figures = ParseProcessStat(
      kStat, {.ticks_per_second = 100, .page_bytes = 4096, .boot_seconds = 1'700'000'000});
  ASSERT_TRUE(figures);
  EXPECT_EQ(figures->cpu_seconds, 3.0);
  EXPECT_EQ(figures->resident_bytes, 30 * 4096);
  EXPECT_EQ(figures->virtual_bytes, 8'192'000);
  EXPECT_EQ(figures->start_time_seconds, 1'700'000'010.0);
}

TEST(ProcessStat, IsNothingWhenItIsSomethingElse) {
  for (const char* text :
       {"", "42", "42 (x)", "42 (x) S 1 2 3", "42 (x) S a b c d e f g h i j k l"}) {
    EXPECT_FALSE(ParseProcessStat(text, {})) << text;
  }
}

TEST(BootTime, IsALineOfTheKernelsFigures) {
  EXPECT_EQ(ParseBootTime("cpu 1 2\nbtime 1700000000\nprocesses 5\n"), 1'700'000'000);
  EXPECT_FALSE(ParseBootTime("cpu 1 2\n"));
}

// The value of a family without labels.
double ValueOf(const std::string& name) {
  for (const prometheus::MetricFamily& family : ProcessMetrics()) {
    if (family.name != name) continue;
    const prometheus::ClientMetric& metric = family.metric.front();
    return family.type == prometheus::MetricType::Counter ? metric.counter.value
                                                          : metric.gauge.value;
  }
  ADD_FAILURE() << "no " << name;
  return -1;
}

TEST(ProcessMetrics, AreThoseOfThisProcess) {
  EXPECT_GT(ValueOf("process_resident_memory_bytes"), 100'000);
  EXPECT_GE(ValueOf("process_virtual_memory_bytes"), ValueOf("process_resident_memory_bytes"));
  EXPECT_GT(ValueOf("process_start_time_seconds"), 1'500'000'000);
  EXPECT_GE(ValueOf("process_cpu_seconds_total"), 0);
  const double before = ValueOf("process_open_fds");
  const int opened = open("/dev/null", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(opened, 0);
  EXPECT_EQ(ValueOf("process_open_fds"), before + 1);
  close(opened);
  EXPECT_GE(ValueOf("process_max_fds"), before);
  EXPECT_THAT(obs::MetricsText(ProcessMetrics()),
              HasSubstr("# TYPE process_cpu_seconds_total counter\n"));
}

}  // namespace
}  // namespace strata
