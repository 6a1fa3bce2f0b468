#include "component/debug_pages.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"

namespace strata {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class FixedClock final : public Clock {
 public:
  [[nodiscard]] Time Now() const override { return {}; }
};

// The debug pages of a component that has not seen the cluster yet.
struct Pages {
  net::HttpResponse Answer(const std::string& method,
                           const std::string& path,
                           const std::string& body = "") {
    net::HttpRequest request;
    request.method = method;
    request.path = path;
    request.body = body;
    return AnswerDebugPage(
        request, {[] { return "jobs 1\n"; }, [this] { return ready; }, &log, changes_allowed});
  }

  FixedClock clock;
  obs::Log log{"test", clock, {}};
  bool ready = false;
  bool changes_allowed = true;
};

TEST(DebugPages, HealthIsOkFromTheStart) {
  Pages pages;
  EXPECT_EQ(pages.Answer("GET", "/healthz").status, 200);
  EXPECT_EQ(pages.Answer("GET", "/livez").body, "ok");
}

TEST(DebugPages, ReadinessFollowsTheComponent) {
  Pages pages;
  EXPECT_EQ(pages.Answer("GET", "/readyz").status, 503);
  pages.ready = true;
  EXPECT_EQ(pages.Answer("GET", "/readyz").status, 200);
}

TEST(DebugPages, MetricsAreInPrometheusTextFormat) {
  Pages pages;
  const net::HttpResponse response = pages.Answer("GET", "/metrics");
  EXPECT_THAT(response.body, StartsWith("jobs 1\n"));
  ASSERT_EQ(response.headers.size(), 1U);
  EXPECT_EQ(response.headers.front().value, "text/plain; version=0.0.4; charset=utf-8");
}

TEST(DebugPages, MetricsHaveTheFiguresOfTheProcess) {
  Pages pages;
  const std::string body = pages.Answer("GET", "/metrics").body;
  for (const char* name : {"process_cpu_seconds_total",
                           "process_resident_memory_bytes",
                           "process_open_fds",
                           "process_start_time_seconds"}) {
    EXPECT_THAT(body, HasSubstr("\n" + std::string(name) + " "));
  }
}

TEST(DebugPages, VerbosityIsSetByPut) {
  Pages pages;
  const net::HttpResponse response = pages.Answer("PUT", "/debug/flags/v", " 4\n");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "successfully set klog.logging.verbosity to 4\n");
  EXPECT_TRUE(pages.log.On(4));
  EXPECT_FALSE(pages.log.On(5));
}

TEST(DebugPages, AChangeIsRejectedWhereOtherMachinesCanAsk) {
  Pages pages;
  pages.changes_allowed = false;
  const net::HttpResponse response = pages.Answer("PUT", "/debug/flags/v", "4");
  EXPECT_EQ(response.status, 403);
  EXPECT_EQ(response.body,
            "changes are served on a loopback address, or with --allow-debug-changes\n");
  EXPECT_FALSE(pages.log.On(1));
}

TEST(DebugPages, InvalidVerbosityIsRejectedAndChangesNothing) {
  Pages pages;
  for (const std::string text : {"x", "-1", "1001", ""}) {
    const net::HttpResponse response = pages.Answer("PUT", "/debug/flags/v", text);
    EXPECT_EQ(response.status, 400);
    EXPECT_EQ(response.body,
              "invalid verbosity \"" + text + "\": want an integer from 0 to 1000\n");
  }
  EXPECT_EQ(pages.Answer("GET", "/debug/flags/v").status, 405);
  EXPECT_FALSE(pages.log.On(1));
}

TEST(DebugPages, AThreadThatHangsIsNamed) {
  DebugSources sources;
  std::string late;
  sources.late_thread = [&] { return late; };
  net::HttpRequest request;
  request.method = "GET";
  request.path = "/livez";
  EXPECT_EQ(AnswerDebugPage(request, sources).status, 200);
  late = "thread scheduler has not responded for 75 s";
  EXPECT_EQ(AnswerDebugPage(request, sources).status, 500);
  EXPECT_EQ(AnswerDebugPage(request, sources).body, late + "\n");
}

TEST(DebugPages, OtherPathsAndMethodsAreRejected) {
  Pages pages;
  EXPECT_EQ(pages.Answer("GET", "/").status, 404);
  EXPECT_EQ(pages.Answer("POST", "/metrics").status, 405);
}

TEST(DebugPages, AnAddressWithoutHostIsAllAddresses) {
  const auto address = ParsePagesAddress(":8080");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->host, "0.0.0.0");
  EXPECT_EQ(address->port, 8080);
  EXPECT_FALSE(ParsePagesAddress("8080"));
}

}  // namespace
}  // namespace strata
