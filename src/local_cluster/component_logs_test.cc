#include "local_cluster/component_logs.h"

#include <string>

#include <gtest/gtest.h>

#include "local_cluster/system_objects.h"

namespace strata {
namespace {

using apiserver::LogRequest;
using apiserver::LogStream;

struct World {
  World() { logs.ServeBy(options, loop); }

  [[nodiscard]] std::string Read(const LogRequest& request) const {
    const auto text = options.logs(request);
    return text ? *text : "error";
  }

  net::EventLoop loop;
  ComponentLogs logs;
  apiserver::ApiServerOptions options;
};

LogRequest RequestOf(const std::string& pod) {
  LogRequest request;
  request.ns = std::string(kSystemNamespace);
  request.pod = pod;
  return request;
}

TEST(ComponentLogs, AreServedAsThoseOfThePod) {
  World world;
  world.logs.Of("scheduler").Write("one");
  world.logs.Of("scheduler").Write("two");
  EXPECT_EQ(world.Read(RequestOf("scheduler")), "one\ntwo\n");
  LogRequest last = RequestOf("scheduler");
  last.tail_lines = 1;
  EXPECT_EQ(world.Read(last), "two\n");
  last.tail_lines = -1;
  EXPECT_EQ(world.Read(last), "");
}

TEST(ComponentLogs, AreEmptyForOtherPodsNamespacesAndPreviousContainers) {
  World world;
  world.logs.Of("scheduler").Write("one");
  EXPECT_EQ(world.Read(RequestOf("other")), "");
  LogRequest elsewhere = RequestOf("scheduler");
  elsewhere.ns = "default";
  EXPECT_EQ(world.Read(elsewhere), "");
  LogRequest previous = RequestOf("scheduler");
  previous.previous = true;
  EXPECT_EQ(world.Read(previous), "");
}

TEST(ComponentLogs, WakeTheReaderThatFollowsThem) {
  World world;
  obs::RecentLines& lines = world.logs.Of("scheduler");
  lines.Write("one");
  int wakes = 0;
  auto stream = world.options.follow_logs(RequestOf("scheduler"), [&] {
    ++wakes;
    world.loop.Stop();
  });
  ASSERT_TRUE(stream);
  std::string text;
  EXPECT_EQ((*stream)->Read(text), LogStream::More::kLater);
  EXPECT_EQ(text, "one\n");
  lines.Write("two");
  lines.Write("three");
  world.loop.Run();
  EXPECT_EQ(wakes, 1);  // one wake for both lines
  text.clear();
  EXPECT_EQ((*stream)->Read(text), LogStream::More::kLater);
  EXPECT_EQ(text, "two\nthree\n");
}

TEST(ComponentLogs, ThatDoNotExistEndAtOnce) {
  World world;
  auto stream = world.options.follow_logs(RequestOf("other"), [] {});
  ASSERT_TRUE(stream);
  std::string text;
  EXPECT_EQ((*stream)->Read(text), LogStream::More::kEnd);
}

}  // namespace
}  // namespace strata
