#include "component/debug_server.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "net/http_test_client.h"

namespace strata {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class ZeroClock final : public Clock {
 public:
  [[nodiscard]] Time Now() const override { return {}; }
};

struct World {
  // The port of the line that says where the pages are served.
  [[nodiscard]] std::uint16_t Port() const {
    const std::string line = lines.Last(1).lines.front();
    return static_cast<std::uint16_t>(std::stoi(line.substr(line.find("port=\"") + 6)));
  }

  ZeroClock clock;
  obs::RecentLines lines{4096};
  obs::Log log{"test", clock, {&lines}};
  Component component{
      .run = {}, .metrics = [] { return "m 1\n"; }, .ready = [] { return true; }, .dump = {}};
};

TEST(DebugServer, ServesThePagesOfTheComponent) {
  World world;
  const auto server = DebugServer::Start("127.0.0.1:0", world.component, world.log);
  ASSERT_TRUE(server) << server.error().message;
  net::RawClient client(world.Port());
  client.Send("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.ReadTo("m 1\n"), HasSubstr("200"));
}

TEST(DebugServer, ChangesTheVerbosityOnALoopbackAddressAlone) {
  for (const auto& [address, answer] :
       {std::pair("127.0.0.1:0", "set klog.logging.verbosity to 4\n"),
        std::pair("0.0.0.0:0", "with --allow-debug-changes\n")}) {
    World world;
    const auto server = DebugServer::Start(address, world.component, world.log);
    ASSERT_TRUE(server) << server.error().message;
    net::RawClient client(world.Port());
    client.Send("PUT /debug/flags/v HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n4");
    EXPECT_THAT(client.ReadTo(answer), HasSubstr(answer)) << address;
  }
}

// A liveness probe must not fail because somebody else holds connections.
TEST(DebugServer, AnswersWhileStrangersHoldConnections) {
  World world;
  const auto server = DebugServer::Start("0.0.0.0:0", world.component, world.log);
  ASSERT_TRUE(server) << server.error().message;
  std::vector<std::unique_ptr<net::RawClient>> strangers;
  for (int i = 0; i < 300; ++i) {
    strangers.push_back(std::make_unique<net::RawClient>(world.Port()));
    strangers.back()->Send("GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx");
  }
  net::RawClient client(world.Port());
  client.Send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.ReadAnswer(), EndsWith("ok"));
  EXPECT_THAT(strangers.back()->ReadToEnd(), StartsWith("HTTP/1.1 413"));
}

TEST(DebugServer, ServesNothingWithoutAnAddress) {
  World world;
  ASSERT_TRUE(DebugServer::Start("", world.component, world.log));
  EXPECT_TRUE(world.lines.Last(1).lines.empty());
}

TEST(DebugServer, FailsWhenTheAddressIsInUse) {
  World world;
  const auto first = DebugServer::Start("127.0.0.1:0", world.component, world.log);
  ASSERT_TRUE(first) << first.error().message;
  const auto second =
      DebugServer::Start("127.0.0.1:" + std::to_string(world.Port()), world.component, world.log);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kUnavailable);
}

}  // namespace
}  // namespace strata
