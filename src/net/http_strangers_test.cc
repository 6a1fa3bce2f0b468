#include <sys/resource.h>
#include <unistd.h>

#include <future>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/file_limit.h"
#include "net/http_server.h"
#include "net/http_test_client.h"

// What connections may cost that have shown nothing yet, and who is cut off when there are too
// many.
namespace strata::net {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;
using Caller = HeadVerdict::Caller;

void AnswerPath(const std::shared_ptr<Exchange>& exchange) {
  exchange->Respond(
      {.status = 200, .headers = {}, .body = exchange->request().path + exchange->request().body});
}

// Callers with a token are known; /open needs none.
HeadVerdict CheckToken(const HttpRequest& head) {
  if (head.HeaderValue("Authorization") == "t") return {};
  if (head.path == "/open") return {.caller = Caller::kStranger, .refusal = {}};
  return {.caller = Caller::kStranger,
          .refusal = HttpResponse{.status = 403, .headers = {}, .body = "no"}};
}

HttpResponse RefusalPage(int status) {
  return {.status = status, .headers = {}, .body = "refused " + std::to_string(status)};
}

HttpServerOptions WithTokens() {
  HttpServerOptions options;
  options.check_head = CheckToken;
  options.refusal = RefusalPage;
  return options;
}

constexpr std::string_view kKnownRequest = "GET /a HTTP/1.1\r\nHost: x\r\nAuthorization: t\r\n\r\n";

// A client that the server knows, between two requests.
std::unique_ptr<RawClient> KnownClient(std::uint16_t port) {
  auto client = std::make_unique<RawClient>(port);
  client->Send(kKnownRequest);
  EXPECT_THAT(client->ReadAnswer(), EndsWith("/a"));
  return client;
}

TEST(HttpStrangers, AreRefusedBeforeTheirBodyIsRead) {
  ServerThread server(AnswerPath, WithTokens());
  RawClient waiting(server.port());
  waiting.Send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n");
  EXPECT_THAT(waiting.ReadToEnd(), EndsWith("\r\n\r\nno"));
  RawClient asking(server.port());
  asking.Send(
      "POST /a HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3000000\r\n\r\n");
  EXPECT_THAT(asking.ReadToEnd(), StartsWith("HTTP/1.1 403"));
}

TEST(HttpStrangers, HaveNoBody) {
  ServerThread server(AnswerPath, WithTokens());
  RawClient client(server.port());
  client.Send("GET /open HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.ReadAnswer(), EndsWith("/open"));
  client.Send("GET /open HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n");
  EXPECT_THAT(client.ReadToEnd(), EndsWith("refused 413"));
}

TEST(HttpStrangers, HaveLittleTime) {
  HttpServerOptions options = WithTokens();
  options.stranger_timeout = std::chrono::milliseconds(50);
  ServerThread server(AnswerPath, std::move(options));
  RawClient silent(server.port());
  RawClient slow(server.port());
  slow.Send("GET /a HTTP/1.1\r\n");
  EXPECT_EQ(silent.ReadToEnd(), "");
  EXPECT_EQ(slow.ReadToEnd(), "");
}

TEST(HttpStrangers, AreReplacedBeforeCallersThatAreKnown) {
  HttpServerOptions options = WithTokens();
  options.max_connections = 2;
  ServerThread server(AnswerPath, std::move(options));
  const auto known = KnownClient(server.port());
  RawClient slow(server.port());
  slow.Send("GET /a HTT");
  const auto second = KnownClient(server.port());
  EXPECT_EQ(slow.ReadToEnd(), "");
  known->Send(kKnownRequest);
  EXPECT_THAT(known->ReadAnswer(), EndsWith("/a"));
}

TEST(HttpStrangers, HaveALimitOfTheirOwn) {
  HttpServerOptions options = WithTokens();
  options.max_strangers = 2;
  ServerThread server(AnswerPath, std::move(options));
  const auto known = KnownClient(server.port());
  RawClient first(server.port());
  RawClient second(server.port());
  const auto also_known = KnownClient(server.port());  // a stranger until it has asked
  EXPECT_EQ(first.ReadToEnd(), "");
  second.Send("GET /open HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(second.ReadAnswer(), EndsWith("/open"));
}

TEST(HttpStrangers, AreReplacedWhenAllIsSaidToThem) {
  HttpServerOptions options = WithTokens();
  options.max_strangers = 1;
  ServerThread server(AnswerPath, std::move(options));
  RawClient refused(server.port());
  refused.Send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n");
  EXPECT_THAT(refused.ReadTo("no"), EndsWith("no"));  // and it does not leave
  KnownClient(server.port());
}

// As many as fill what the system takes on the way.
TEST(HttpStrangers, AreReplacedWhileTheyDoNotReadTheirAnswer) {
  HttpServerOptions options = WithTokens();
  options.max_strangers = 1;
  std::promise<void> asked;
  ServerThread server(
      [&](const std::shared_ptr<Exchange>& exchange) {
        if (exchange->request().path == "/a") return AnswerPath(exchange);
        exchange->Respond({.status = 200, .headers = {}, .body = std::string(32'000'000, 'x')});
        asked.set_value();
      },
      std::move(options));
  RawClient deaf(server.port());
  deaf.Send("GET /open HTTP/1.1\r\nHost: x\r\n\r\n");
  asked.get_future().wait();
  KnownClient(server.port());
}

// A known client with a part of a request, which the server has begun to read.
std::unique_ptr<RawClient> SlowClient(std::uint16_t port) {
  auto client = KnownClient(port);
  client->Send(
      "POST /a HTTP/1.1\r\nHost: x\r\nAuthorization: t\r\nExpect: 100-continue\r\n"
      "Content-Length: 4\r\n\r\n");
  EXPECT_THAT(client->ReadTo("\r\n\r\n"), StartsWith("HTTP/1.1 100"));
  return client;
}

TEST(HttpRequests, TheOneThatHasBeenComingForLongestIsReplacedWhenNobodyWaits) {
  HttpServerOptions options = WithTokens();
  options.max_connections = 2;
  ServerThread server(AnswerPath, std::move(options));
  const auto first = SlowClient(server.port());
  const auto second = SlowClient(server.port());
  const auto known = KnownClient(server.port());
  EXPECT_EQ(first->ReadToEnd(), "");
  second->Send("body");
  EXPECT_THAT(second->ReadAnswer(), EndsWith("/abody"));
}

TEST(HttpRequests, BeyondTheLimitOfBytesThoseThatBeganFirstAreRefused) {
  HttpServerOptions options = WithTokens();
  options.max_request_bytes = 250'000;
  std::promise<std::shared_ptr<Exchange>> held;
  ServerThread server(
      [&](const std::shared_ptr<Exchange>& exchange) {
        if (exchange->request().path == "/held") return held.set_value(exchange);
        exchange->Respond({.status = 200, .headers = {}, .body = "done"});
      },
      std::move(options));
  const auto post = [](const std::string& path) {
    return "POST " + path +
           " HTTP/1.1\r\nHost: x\r\nAuthorization: t\r\nContent-Length: 100000\r\n\r\n";
  };
  RawClient handled(server.port());
  handled.Send(post("/held") + std::string(100'000, 'x'));
  std::shared_ptr<Exchange> exchange = held.get_future().get();
  RawClient slow(server.port());
  slow.Send(post("/slow") + std::string(99'999, 'x'));
  RawClient late(server.port());
  late.Send(post("/late") + std::string(99'999, 'x'));
  EXPECT_THAT(slow.ReadToEnd(), EndsWith("refused 429"));
  late.Send("x");
  EXPECT_THAT(late.ReadAnswer(), EndsWith("done"));
  server.OnLoop([&] {
    exchange->Respond({.status = 200, .headers = {}, .body = "held"});
    exchange.reset();
  });
  EXPECT_THAT(handled.ReadAnswer(), EndsWith("held"));
}

// The soft limit of this process, until the end of the scope.
class FileLimit {
 public:
  FileLimit() { EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0); }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;
  ~FileLimit() { setrlimit(RLIMIT_NOFILE, &before_); }
  void Set(rlim_t files) {
    const rlimit limit{.rlim_cur = files, .rlim_max = before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  }
  // Nothing more can be opened.
  void SetToWhatIsOpen() {
    const int next = dup(STDERR_FILENO);
    close(next);
    Set(static_cast<rlim_t>(next));
  }
  [[nodiscard]] static rlim_t Now() {
    rlimit limit{};
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    return limit.rlim_cur;
  }

 private:
  rlimit before_{};
};

TEST(HttpServer, OutOfFilesANewConnectionReplacesTheOneThatWaitsLongest) {
  FileLimit limit;
  ServerThread server(AnswerPath, WithTokens());
  const auto oldest = KnownClient(server.port());
  const auto other = KnownClient(server.port());
  std::unique_ptr<RawClient> client;
  server.OnLoop([&] {  // it accepts nothing meanwhile
    client = std::make_unique<RawClient>(server.port());
    limit.SetToWhatIsOpen();
  });
  client->Send(kKnownRequest);
  EXPECT_THAT(client->ReadAnswer(), EndsWith("/a"));
  EXPECT_EQ(oldest->ReadToEnd(), "");
  other->Send(kKnownRequest);
  EXPECT_THAT(other->ReadAnswer(), EndsWith("/a"));
}

TEST(HttpServer, RaisesTheLimitOfFilesAsFarAsItNeeds) {
  FileLimit limit;
  limit.Set(200);
  HttpServerOptions options;
  options.max_connections = 300;
  ServerThread server(AnswerPath, std::move(options));
  EXPECT_GE(FileLimit::Now(), 300U);
  EXPECT_LE(FileLimit::Now(), 1000U);
}

TEST(RaiseFileLimit, NeverLowersIt) {
  FileLimit limit;
  limit.Set(500);
  EXPECT_EQ(RaiseFileLimit(100), 500U);
  EXPECT_EQ(FileLimit::Now(), 500U);
}

}  // namespace
}  // namespace strata::net
