#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/test_server.h"

namespace strata::apiserver {
namespace {

constexpr const char* kLogPods = "/api/v1/namespaces/default/pods";

// What a container has written so far, and whether it goes on.
struct Written {
  std::string text;
  bool ended = false;
  int readers = 0;
  std::function<void()> wake;
};

class WrittenStream final : public LogStream {
 public:
  explicit WrittenStream(Written& written) : written_(written) { ++written_.readers; }
  ~WrittenStream() override { --written_.readers; }
  More Read(std::string& out) override {
    out += std::exchange(written_.text, "");
    return written_.ended ? More::kEnd : More::kLater;
  }

 private:
  Written& written_;
};

ApiServerOptions FollowedBy(Written& written) {
  ApiServerOptions options;
  options.logs = [](const LogRequest&) { return std::string("all of it\n"); };
  options.follow_logs = [&written](
                            const LogRequest& request,
                            std::function<void()> wake) -> ApiResult<std::unique_ptr<LogStream>> {
    EXPECT_EQ(request.container, "c");
    written.wake = std::move(wake);
    return std::make_unique<WrittenStream>(written);
  };
  return options;
}

void RunPod(TestServer& server) {
  nlohmann::json pod = PlainPod("p");
  pod["spec"]["nodeName"] = "n";
  ASSERT_EQ(server.Post(kLogPods, pod).status, 201);
}

TEST(PodLog, FollowSendsTheLogUntilTheContainerEnds) {
  Written written{.text = "one\n"};
  TestServer server(HistoryLimits{}, FollowedBy(written));
  RunPod(server);
  const auto log = server.Begin("GET", std::string(kLogPods) + "/p/log?follow=true");
  EXPECT_EQ(log->answer.body, "one\n");
  EXPECT_FALSE(log->ended);
  written.text = "two\n";
  written.wake();
  EXPECT_EQ(log->answer.body, "one\ntwo\n");
  EXPECT_FALSE(log->ended);
  written.text = "three\n";
  written.ended = true;
  written.wake();
  EXPECT_EQ(log->answer.body, "one\ntwo\nthree\n");
  EXPECT_TRUE(log->ended);
  EXPECT_EQ(written.readers, 0);
}

TEST(PodLog, NothingIsReadForAReaderThatHasGone) {
  Written written;
  TestServer server(HistoryLimits{}, FollowedBy(written));
  RunPod(server);
  auto log = server.Begin("GET", std::string(kLogPods) + "/p/log?follow=true");
  EXPECT_EQ(written.readers, 1);
  log->Drop();
  log.reset();
  EXPECT_EQ(written.readers, 0);
  written.wake();
}

TEST(PodLog, WithoutFollowItIsOneText) {
  Written written;
  TestServer server(HistoryLimits{}, FollowedBy(written));
  RunPod(server);
  EXPECT_EQ(server.Get(std::string(kLogPods) + "/p/log").text, "all of it\n");
  EXPECT_EQ(written.readers, 0);
}

}  // namespace
}  // namespace strata::apiserver
