#include "kube/connection.h"

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/exec_plugin.h"
#include "kube/informers.h"
#include "kube/test_fake_api.h"
#include "kube/token_credentials.h"
#include "tests/support/property.h"
#include "tests/support/socket_server.h"

namespace strata::kube {
namespace {

using std::chrono::milliseconds;
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

// A FakeApi behind sockets, whose answers go wrong as a seed says.
class FaultySockets {
 public:
  explicit FaultySockets(std::uint64_t seed)
      : random_(seed), server_([this](RawConnection& peer) {
          while (const auto request = peer.Read()) {
            if (!Answer(peer, request->target)) return;
          }
        }) {}
  ~FaultySockets() {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }

  [[nodiscard]] std::string url() const { return server_.url(); }

  void Change(const std::function<void(FakeApi&)>& change) {
    const std::lock_guard lock(mutex_);
    change(api_);
    changed_.notify_all();
  }
  std::map<std::string, std::string> Calm() {
    const std::lock_guard lock(mutex_);
    faulty_ = false;
    changed_.notify_all();
    return api_.Objects();
  }

 private:
  std::uint64_t Draw(std::uint64_t end) {
    const std::lock_guard lock(mutex_);
    return random_() % end;
  }
  bool Faulty() {
    const std::lock_guard lock(mutex_);
    return faulty_;
  }

  // False: close the connection.
  bool Answer(RawConnection& peer, const std::string& target) {
    std::optional<FakeApi::Answer> answer;
    {
      const std::lock_guard lock(mutex_);
      answer = api_.Get(target.substr(target.find('?') + 1));
    }
    const std::uint64_t fault = Faulty() ? Draw(12) : 99;
    if (!answer) return peer.Answer(410, FakeApi::StatusText(410, "Expired"));
    if (fault == 0) return peer.Answer(500, "broken");
    if (fault == 1) return peer.Answer(429, "busy", "Retry-After: 0\r\n");
    if (fault == 2) return peer.Answer(409, FakeApi::StatusText(409, "Conflict"));
    if (fault == 3) return peer.ResetOnClose(), false;
    if (answer->stream) return Stream(peer, *answer, fault);
    std::string body = answer->body;
    if (fault == 4) body[Draw(body.size())] = '\x01';
    if (fault == 5) {
      peer.Write("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + body);
      peer.HalfClose();
      return false;
    }
    return peer.Answer(200, body);
  }

  enum class Go : std::uint8_t { kOn, kClose, kEnd };

  // Sends a line as the fault has it.
  static Go SendLine(RawConnection& peer, std::string line, std::uint64_t fault) {
    if (fault == 4) line[line.size() / 2] = '\x01';
    if (fault == 5) peer.HalfClose();
    if (fault == 6) peer.ResetOnClose();
    if (fault == 7) peer.Chunk(line.substr(0, line.size() / 2));
    if (fault == 6 || fault == 7) return Go::kClose;
    if (fault == 8) return Go::kEnd;
    return peer.Chunk(line + "\n") ? Go::kOn : Go::kClose;
  }

  // Waits for the lines behind `from`; none: the stream is to be closed.
  std::vector<std::string> NextLines(std::uint64_t& from, bool is_faulty) {
    std::unique_lock lock(mutex_);
    std::vector<std::string> lines;
    changed_.wait(lock, [&] {
      if (api_.HasForgotten(from)) {
        lines = {FakeApi::ErrorLine(410)};
        from = UINT64_MAX;
      } else {
        lines = api_.LinesSince(from);
      }
      return stopping_ || !lines.empty() || (!faulty_ && is_faulty);
    });
    if (stopping_ || (!faulty_ && is_faulty)) lines.clear();
    return lines;
  }

  bool Stream(RawConnection& peer, FakeApi::Answer& answer, std::uint64_t fault) {
    peer.StartChunked();
    const bool is_faulty = fault < 9;
    const std::uint64_t cut = is_faulty ? Draw(6) : UINT64_MAX;
    std::uint64_t sent = 0;
    std::vector<std::string> lines = answer.lines;
    while (true) {
      for (const std::string& line : lines) {
        const Go go = SendLine(peer, line, sent++ == cut ? fault : 99);
        if (go == Go::kEnd) return peer.Write("0\r\n\r\n");
        if (go == Go::kClose) return false;
      }
      if (answer.from == UINT64_MAX) return peer.Write("0\r\n\r\n");
      lines = NextLines(answer.from, is_faulty);
      if (lines.empty()) return false;
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  FakeApi api_;
  std::mt19937_64 random_;
  bool faulty_ = true;
  bool stopping_ = false;
  SocketServer server_;
};

TEST(InformersOverSockets, TheViewEqualsTheServerInTheEnd) {
  testing::CheckProperty(15, [] {
    FaultySockets server(*rc::gen::arbitrary<std::uint64_t>());
    const auto connection = OpenTo(server.url());
    DeltaQueue queue;
    Informers::Options options;
    options.page_size = 2;
    options.streaming = *testing::Below(2) == 0 ? ReflectorState::Streaming::kTry
                                                : ReflectorState::Streaming::kNever;
    options.backoff = {milliseconds(1), milliseconds(4)};
    Informers informers(connection->client(), queue, options);
    informers.Add({kPods, "", "", ""});
    StrictView view;
    for (int i = 0; i < 40; ++i) {
      const std::string name = "p" + std::to_string(*testing::Below(6));
      const int what = *testing::Below(8);
      server.Change([&](FakeApi& api) {
        if (what == 0) api.Forget();
        if (what < 3) return api.Remove(name);
        api.Put(name, "v" + std::to_string(i));
      });
      for (const Delta& delta : queue.Wait(milliseconds(what / 3))) view.Apply(delta);
    }
    const auto truth = server.Calm();
    const auto deadline = std::chrono::steady_clock::now() + seconds(60);
    while ((view.objects != truth || view.synced == 0) &&
           std::chrono::steady_clock::now() < deadline) {
      for (const Delta& delta : queue.Wait(seconds(1))) view.Apply(delta);
    }
    RC_ASSERT(view.objects == truth);
    RC_ASSERT(view.complaints == std::vector<std::string>{});
    RC_ASSERT(view.synced == 1);
  });
}

}  // namespace
}  // namespace strata::kube
