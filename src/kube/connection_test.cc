#include "kube/connection.h"

#include <atomic>
#include <future>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/exec_plugin.h"
#include "kube/token_credentials.h"
#include "tests/support/socket_server.h"

namespace strata::kube {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::RawConnection;
using testing::SocketServer;

std::unique_ptr<Connection> OpenTo(const std::string& url, UserConfig user = {}) {
  ConnectionConfig config;
  config.cluster.server = url;
  config.user = std::move(user);
  config.origin = "test";
  auto connection = Connection::Open(config, {}, SystemSurroundings());
  EXPECT_TRUE(connection) << connection.error().message;
  return std::move(*connection);
}

TEST(Connection, AsksWithTheTokenAndGivesTheAnswer) {
  std::string seen;
  SocketServer server([&](RawConnection& peer) {
    while (const auto request = peer.Read()) {
      seen = request->method + " " + request->target + " " + request->Header("authorization");
      peer.Answer(200, "{}");
    }
  });
  UserConfig user;
  user.token.text = "abc";
  EXPECT_EQ(*OpenTo(server.url(), user)->client().Do(GetCall({kNodes, "", "n", ""})), "{}");
  EXPECT_EQ(seen, "GET /api/v1/nodes/n Bearer abc");
}

TEST(Connection, ALoginProgramGivesTheToken) {
  std::string seen;
  SocketServer server([&](RawConnection& peer) {
    while (const auto request = peer.Read()) {
      seen = request->Header("authorization");
      peer.Answer(200, "{}");
    }
  });
  UserConfig user;
  user.exec.emplace();
  user.exec->api_version = "client.authentication.k8s.io/v1";
  user.exec->command = "sh";
  user.exec->arguments = {"-c",
                          "case $KUBERNETES_EXEC_INFO in *'\"interactive\":false'*) echo "
                          "'{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"status\":"
                          "{\"token\":\"'$NAME'\"}}';; esac"};
  user.exec->environment = {{"NAME", "from-exec"}};
  EXPECT_TRUE(OpenTo(server.url(), user)->client().Do(GetCall({kNodes, "", "n", ""})));
  EXPECT_EQ(seen, "Bearer from-exec");
}

TEST(Connection, ErrorsSayWhereTheConfigurationIsFrom) {
  ConnectionConfig config;
  config.origin = "context dev of /c";
  config.cluster.server = "https://h";
  config.cluster.ca.file = "/no/such/ca";
  const auto missing = Connection::Open(config, {}, SystemSurroundings());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message,
            "context dev of /c: certificate-authority: /no/such/ca: no such file");
  config.cluster.ca.file = "";
  config.user.exec =
      ExecConfig{"client.authentication.k8s.io/v1", "/no/login", {}, {}, "get it", false};
  const auto login = Connection::Open(config, {}, SystemSurroundings());
  ASSERT_FALSE(login);
  EXPECT_THAT(login.error().message,
              HasSubstr("context dev of /c: exec: /no/login: cannot be run"));
  EXPECT_THAT(login.error().message, HasSubstr("(get it)"));
}

TEST(ExecPlugin, ReadsAnswersAndHidesThemInErrors) {
  const std::string version = "client.authentication.k8s.io/v1";
  const auto answer =
      ParseExecAnswer(R"({"apiVersion":"client.authentication.k8s.io/v1","status":{"token":"t",)"
                      R"("expirationTimestamp":"2026-01-02T03:04:05Z"}})",
                      version);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->token, "t");
  EXPECT_TRUE(answer->expires);
  for (const char* bad :
       {"s3cret",
        R"({"apiVersion":"v9","status":{"token":"s3cret"}})",
        R"({"apiVersion":"client.authentication.k8s.io/v1","status":"s3cret"})",
        R"({"apiVersion":"client.authentication.k8s.io/v1","status":{"clientKeyData":"s3cret"}})",
        R"({"apiVersion":"client.authentication.k8s.io/v1","status":{}})",
        R"({"apiVersion":"client.authentication.k8s.io/v1","status":{"token":"s3cret",)"
        R"("expirationTimestamp":"soon"}})"}) {
    const auto failed = ParseExecAnswer(bad, version);
    ASSERT_FALSE(failed) << bad;
    EXPECT_THAT(failed.error().message, Not(HasSubstr("s3cret")));
  }
}

class HandClock final : public Clock {
 public:
  [[nodiscard]] Time Now() const override {
    const std::lock_guard lock(mutex_);
    return now_;
  }
  void Advance(Duration by) {
    const std::lock_guard lock(mutex_);
    now_ += by;
  }

 private:
  mutable std::mutex mutex_;
  Time now_{};
};

TEST(ExecPlugin, RunsAgainBeforeTheCredentialsEnd) {
  HandClock clock;
  std::atomic<int> runs = 0;
  std::promise<void> second;
  const auto run = [&](const os::Interrupt&) -> Result<ExecAnswer> {
    ExecAnswer answer;
    answer.token = "t" + std::to_string(++runs);
    answer.expires = clock.Now() + seconds(100);
    return answer;
  };
  const auto on_answer = [&](const ExecAnswer& answer) {
    if (answer.token == "t2") second.set_value();
  };
  const auto credentials = ExecCredentials::Start(run, on_answer, clock);
  ASSERT_TRUE(credentials);
  EXPECT_EQ((*credentials)->Authorization(), "Bearer t1");
  (*credentials)->Renew();  // too soon after the last
  clock.Advance(seconds(75));
  EXPECT_EQ((*credentials)->Authorization(), "Bearer t1");
  second.get_future().wait();
  EXPECT_EQ(runs, 2);
}

TEST(ExecPlugin, AClockThatWentBackDoesNotKeepOldCredentials) {
  HandClock clock;
  clock.Advance(std::chrono::hours(24));
  std::promise<void> again;
  int runs = 0;
  const auto run = [&](const os::Interrupt&) -> Result<ExecAnswer> {
    if (++runs == 2) again.set_value();
    ExecAnswer answer;
    answer.token = "t";
    return answer;
  };
  const auto credentials = ExecCredentials::Start(run, nullptr, clock);
  clock.Advance(-std::chrono::hours(1));
  (*credentials)->Renew();
  EXPECT_EQ(again.get_future().wait_for(seconds(60)), std::future_status::ready);
}

TEST(ExecPlugin, ClosingDoesNotWaitForAProgramThatHangs) {
  HandClock clock;
  ExecConfig exec;
  exec.command = "sleep";
  exec.arguments = {"50"};
  std::promise<void> started;
  bool first = true;
  const auto run = [&](const os::Interrupt& interrupt) -> Result<ExecAnswer> {
    if (!std::exchange(first, false)) {
      started.set_value();
      return RunExecPlugin(exec, "", interrupt);
    }
    ExecAnswer answer;
    answer.token = "t";
    return answer;
  };
  auto credentials = ExecCredentials::Start(run, nullptr, clock);
  clock.Advance(seconds(20));
  (*credentials)->Renew();
  EXPECT_TRUE((*credentials)->Renewing());
  started.get_future().wait();
  const auto begin = std::chrono::steady_clock::now();
  credentials->reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(40));
}

TEST(TokenFile, IsReadAgainAfterAMinuteOrARefusal) {
  std::string content = "one\n";
  net::SteadyTime now{};
  Surroundings outside;
  outside.read = [&](const std::string&) -> Result<std::string> {
    if (content.empty()) return Fail(Code::kNotFound, "gone");
    return content;
  };
  const auto file = TokenFile::Open("/t", outside, [&] { return now; });
  ASSERT_TRUE(file);
  content = "two";
  now += seconds(59);
  EXPECT_EQ((*file)->Authorization(), "Bearer one");
  now += seconds(1);
  EXPECT_EQ((*file)->Authorization(), "Bearer two");
  content = "";
  now += seconds(60);
  EXPECT_EQ((*file)->Authorization(), "Bearer two");
  content = "three";
  now += seconds(1);
  (*file)->Renew();
  EXPECT_EQ((*file)->Authorization(), "Bearer three");
  EXPECT_FALSE(TokenFile::Open("/t",
                               {nullptr, [](const auto&) { return Result<std::string>("a\nb"); }},
                               [&] { return now; }));
}

}  // namespace
}  // namespace strata::kube
