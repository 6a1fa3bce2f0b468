#include "net/http_server.h"

#include <sys/resource.h>

#include <atomic>
#include <future>
#include <map>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/http_test_client.h"

namespace strata::net {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::chrono::seconds kSoon(60);

// Answers with what it was asked.
void Echo(const std::shared_ptr<Exchange>& exchange) {
  const HttpRequest& request = exchange->request();
  exchange->Respond(
      {.status = 200,
       .headers = {{"X-Of", std::string(request.HeaderValue("x-of"))}},
       .body = request.method + " " + request.path + " [" + request.query + "] " + request.body});
}

HttpResponse Refusal(int status) {
  return {.status = status, .headers = {}, .body = "refused " + std::to_string(status)};
}

// Gives the pieces it was made of, then does what `at_end` says.
class Pieces final : public BodySource {
 public:
  Pieces(std::vector<std::string> pieces, More at_end)
      : pieces_(std::move(pieces)), at_end_(at_end) {}
  More Pull(std::string& out) override {
    if (next_ == pieces_.size()) return at_end_;
    out = pieces_[next_++];
    return More::kReady;
  }

 private:
  std::vector<std::string> pieces_;
  More at_end_;
  std::size_t next_ = 0;
};

// A watch: gives what is fed to it, and tells when it is destroyed.
class Feed final : public BodySource {
 public:
  explicit Feed(std::function<void()> gone) : gone_(std::move(gone)) {}
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;
  ~Feed() override { gone_(); }
  More Pull(std::string& out) override {
    out = std::exchange(waiting, "");
    return out.empty() ? More::kLater : More::kReady;
  }
  std::string waiting;

 private:
  std::function<void()> gone_;
};

TEST(HttpServer, AnswersAndKeepsTheConnection) {
  ServerThread server(Echo);
  RawClient client(server.port());
  client.Send("GET /api/v1/pods?limit=5 HTTP/1.1\r\nHost: x\r\nX-OF: you\r\n\r\n");
  EXPECT_THAT(client.ReadAnswer(),
              AllOf(StartsWith("HTTP/1.1 200 OK\r\n"),
                    HasSubstr("X-Of: you\r\n"),
                    EndsWith("\r\n\r\nGET /api/v1/pods [limit=5] ")));
  client.Send("POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
  EXPECT_THAT(client.ReadAnswer(), EndsWith("POST /x [] hello"));
}

TEST(HttpServer, AnswersRequestsSentTogetherInTheirOrder) {
  ServerThread server(Echo);
  RawClient client(server.port());
  client.Send("GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.ReadAnswer(), EndsWith("GET /1 [] "));
  EXPECT_THAT(client.ReadAnswer(), EndsWith("GET /2 [] "));
}

TEST(HttpServer, ReadsAChunkedBody) {
  ServerThread server(Echo);
  RawClient client(server.port());
  client.Send(
      "PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  EXPECT_THAT(client.ReadAnswer(), EndsWith("PUT / [] abcde"));
}

TEST(HttpServer, HasNoBodyForHead) {
  ServerThread server(Echo);
  RawClient client(server.port());
  client.Send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.ReadTo("\r\n\r\n"), HasSubstr("Content-Length: 10\r\n"));
  client.Send("GET /next HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.ReadAnswer(), StartsWith("HTTP/1.1 200 OK"));
}

TEST(HttpServer, Sends100ContinueWhenTheClientExpectsIt) {
  ServerThread server(Echo);
  RawClient client(server.port());
  client.Send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(client.ReadTo("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.Send("ab");
  EXPECT_THAT(client.ReadAnswer(), EndsWith("POST / [] ab"));
}

TEST(HttpServer, ClosesWhenThePeerAsksForIt) {
  ServerThread server(Echo);
  RawClient old(server.port());
  old.Send("GET /old HTTP/1.0\r\n\r\n");
  EXPECT_THAT(old.ReadToEnd(), EndsWith("GET /old [] "));
  RawClient polite(server.port());
  polite.Send("GET /bye HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(polite.ReadToEnd(), AllOf(HasSubstr("Connection: close\r\n"), EndsWith("/bye [] ")));
}

TEST(HttpServer, RefusesWhatIsTooLargeOrBroken) {
  ServerThread server(Echo, {.max_body_bytes = 1000, .refusal = Refusal});
  const std::string filler(70'000, 'x');
  const std::map<std::string, std::string> answers = {
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n" + filler, "refused 413"},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n" + filler,
       "refused 413"},
      {"GET / HTTP/1.1\r\nHost: x\r\nX: " + filler + "\r\n\r\n", "refused 431"},
      {"no http at all\r\n\r\n", "refused 400"},
      {"GET / HTTP/1.1\r\nContent-Length: -5\r\n\r\n", "refused 400"},
      {std::string("\x16\x03\x01\x02\x00\x01\r\n\r\n", 10), "refused 400"},
  };
  for (const auto& [request, answer] : answers) {
    RawClient client(server.port());
    client.Send(request);
    EXPECT_THAT(client.ReadToEnd(), EndsWith("\r\n\r\n" + answer)) << request.substr(0, 60);
  }
}

TEST(HttpServer, HeadersCannotBeSmuggledIntoAnAnswer) {
  ServerThread server([](const std::shared_ptr<Exchange>& exchange) {
    exchange->Respond({.headers = {{"Warning", "a\r\nX-Evil: 1"}}});
  });
  RawClient client(server.port());
  client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.ReadAnswer(), HasSubstr("Warning: a  X-Evil: 1\r\n"));
}

TEST(HttpServer, AnAnswerMayComeLater) {
  std::promise<std::shared_ptr<Exchange>> asked;
  ServerThread server(
      [&](std::shared_ptr<Exchange> exchange) { asked.set_value(std::move(exchange)); });
  RawClient client(server.port());
  client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  std::shared_ptr<Exchange> exchange = asked.get_future().get();
  server.OnLoop([&] {
    exchange->Respond({.status = 201, .headers = {}, .body = "late"});
    exchange.reset();
  });
  EXPECT_THAT(client.ReadAnswer(), StartsWith("HTTP/1.1 201 Created"));
}

TEST(HttpServer, AnExchangeThatIsDroppedClosesTheConnection) {
  ServerThread server([](const std::shared_ptr<Exchange>&) {});
  RawClient client(server.port());
  client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.ReadToEnd(), "");
}

TEST(HttpServer, StreamsPiecesAsChunks) {
  ServerThread server([](const std::shared_ptr<Exchange>& exchange) {
    exchange->RespondStream({.body = "first,"},
                            std::make_unique<Pieces>(std::vector<std::string>{"second,", "third"},
                                                     BodySource::More::kEnd));
  });
  RawClient client(server.port());
  for (int i = 0; i < 2; ++i) {  // the connection lives on
    client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_THAT(client.ReadTo("\r\n\r\n"), HasSubstr("Transfer-Encoding: chunked\r\n"));
    EXPECT_EQ(client.ReadTo("0\r\n\r\n"), "6\r\nfirst,\r\n7\r\nsecond,\r\n5\r\nthird\r\n0\r\n\r\n");
  }
  RawClient old(server.port());
  old.Send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_THAT(old.ReadToEnd(), EndsWith("\r\n\r\nfirst,second,third"));
}

TEST(HttpServer, AnAbortedStreamHasNoEnd) {
  ServerThread server([](const std::shared_ptr<Exchange>& exchange) {
    exchange->RespondStream(
        {.body = "x"},
        std::make_unique<Pieces>(std::vector<std::string>{std::string(70'000, 'y')},
                                 BodySource::More::kAbort));
  });
  RawClient client(server.port());
  client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.ReadToEnd(), Not(HasSubstr("0\r\n\r\n")));
}

// One watch per connection, kept by the test.
class Watches {
 public:
  void operator()(const std::shared_ptr<Exchange>& exchange) {
    auto feed = std::make_unique<Feed>([this] { ++gone_; });
    watches_.emplace_back(exchange, feed.get());
    exchange->RespondStream({}, std::move(feed));
    ++opened_;
  }
  void Say(std::size_t watch, const std::string& text) {
    watches_[watch].second->waiting += text;
    watches_[watch].first->Wake();
  }
  [[nodiscard]] int opened() const { return opened_; }
  [[nodiscard]] int gone() const { return gone_; }
  void Forget() { watches_.clear(); }

 private:
  std::vector<std::pair<std::shared_ptr<Exchange>, Feed*>> watches_;
  std::atomic<int> opened_ = 0;
  std::atomic<int> gone_ = 0;
};

void WaitFor(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + kSoon;
  while (!condition()) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    std::this_thread::yield();
  }
}

TEST(HttpServer, SendsEachPieceOfAWatchAtOnce) {
  Watches watches;
  ServerThread server(std::ref(watches));
  RawClient client(server.port());
  client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  client.ReadTo("\r\n\r\n");
  for (const char* const word : {"one", "two"}) {
    server.OnLoop([&] { watches.Say(0, word); });
    EXPECT_EQ(client.ReadTo(std::string(word) + "\r\n"), "3\r\n" + std::string(word) + "\r\n");
  }
}

TEST(HttpServer, EndsAWatchWhenItsPeerCloses) {
  Watches watches;
  ServerThread server(std::ref(watches));
  RawClient client(server.port());
  client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  client.ReadTo("\r\n\r\n");
  EXPECT_EQ(watches.gone(), 0);
  client.Close();
  WaitFor([&] { return watches.gone() == 1; });
}

TEST(HttpServer, EndsAWatchWhosePeerSentMoreAndCloses) {
  Watches watches;
  ServerThread server(std::ref(watches));
  RawClient client(server.port());
  client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  client.ReadTo("\r\n\r\n");
  client.Send("G");
  server.OnLoop([&] { watches.Say(0, "alive"); });
  EXPECT_EQ(client.ReadTo("alive\r\n"), "5\r\nalive\r\n");
  EXPECT_EQ(watches.gone(), 0);
  client.Close();
  WaitFor([&] { return watches.gone() == 1; });
}

TEST(HttpServer, AWatcherThatKeepsTalkingIsCutOff) {
  Watches watches;
  ServerThread server(std::ref(watches));
  RawClient client(server.port());
  client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n" + std::string(100'000, 'x'));
  WaitFor([&] { return watches.gone() == 1; });
}

TEST(HttpServer, FiveHundredWatchesLiveOnOneThread) {
  constexpr std::size_t kWatches = 500;
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  Watches watches;
  ServerThread server(std::ref(watches));
  std::vector<std::unique_ptr<RawClient>> clients;
  for (std::size_t i = 0; i < kWatches; ++i) {
    clients.push_back(std::make_unique<RawClient>(server.port()));
    clients.back()->Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  }
  WaitFor([&] { return watches.opened() == kWatches; });
  for (int round = 0; round < 3; ++round) {
    server.OnLoop([&] {
      for (std::size_t i = 0; i < kWatches; ++i) watches.Say(i, "event\n");
    });
    for (const auto& client : clients) {
      EXPECT_THAT(client->ReadTo("event\n\r\n"), EndsWith("event\n\r\n"));
    }
  }
  clients.clear();
  WaitFor([&] { return watches.gone() == kWatches; });
}

// Endless text; counts what was asked of it.
class Endless final : public BodySource {
 public:
  explicit Endless(std::atomic<std::size_t>& given) : given_(given) {}
  More Pull(std::string& out) override {
    out.assign(64 * 1024, 'x');
    given_ += out.size();
    return More::kReady;
  }

 private:
  std::atomic<std::size_t>& given_;
};

TEST(HttpServer, DoesNotBufferForAClientThatDoesNotRead) {
  std::atomic<std::size_t> given = 0;
  ServerThread server(
      [&](const std::shared_ptr<Exchange>& exchange) {
        exchange->RespondStream({}, std::make_unique<Endless>(given));
      },
      {.stall_timeout = std::chrono::milliseconds(100)});
  RawClient client(server.port());
  const int small = 4096;
  setsockopt(client.descriptor(), SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
  client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  // The connection ends because nothing moves; what was made is what the sockets hold.
  const std::string got = client.ReadTo("\r\n\r\n");
  pollfd hung{.fd = client.descriptor(), .events = POLLRDHUP, .revents = 0};
  EXPECT_EQ(poll(&hung, 1, 60'000), 1);
  EXPECT_LT(given.load(), std::size_t{16} << 20);
}

TEST(HttpServer, EndsConnectionsThatAreIdleOrStuckButNoWatch) {
  Watches watches;
  ServerThread server(std::ref(watches),
                      {.idle_timeout = std::chrono::milliseconds(20),
                       .stall_timeout = std::chrono::milliseconds(20)});
  auto watcher = std::make_unique<RawClient>(server.port());
  watcher->Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  while (watcher->ReadTo("\r\n\r\n").empty()) {  // it took this thread too long to say something
    watcher = std::make_unique<RawClient>(server.port());
    watcher->Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  }
  RawClient silent(server.port());
  RawClient stuck(server.port());
  stuck.Send("POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nab");
  EXPECT_EQ(silent.ReadToEnd(), "");
  EXPECT_EQ(stuck.ReadToEnd(), "");
  server.OnLoop([&] { watches.Say(0, "alive"); });
  EXPECT_EQ(watcher->ReadTo("alive\r\n"), "5\r\nalive\r\n");
}

TEST(HttpServer, ARequestThatTricklesInIsBoundedAsAWhole) {
  ServerThread server(
      Echo,
      {.stall_timeout = std::chrono::minutes(1), .request_timeout = std::chrono::milliseconds(50)});
  RawClient client(server.port());
  client.Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
  const auto end = std::chrono::steady_clock::now() + kSoon;
  pollfd closed{.fd = client.descriptor(), .events = POLLIN, .revents = 0};
  while (poll(&closed, 1, 1) == 0) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    client.Send("x");
  }
}

TEST(HttpServer, AtTheLimitANewConnectionReplacesAnIdleOneOrIsRejected) {
  Watches watches;
  ServerThread server(std::ref(watches), {.max_connections = 2});
  RawClient watcher(server.port());
  watcher.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  watcher.ReadTo("\r\n\r\n");
  RawClient idle(server.port());
  RawClient second(server.port());
  EXPECT_EQ(idle.ReadToEnd(), "");
  second.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(second.ReadTo("\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  RawClient third(server.port());
  EXPECT_EQ(third.ReadToEnd(), "");
  server.OnLoop([&] { watches.Say(0, "alive"); });
  EXPECT_EQ(watcher.ReadTo("alive\r\n"), "5\r\nalive\r\n");
}

TEST(HttpServer, DrainingEndsWatchesAnswersRequestsAndAcceptsNoConnection) {
  std::promise<std::shared_ptr<Exchange>> asked;
  Watches watches;
  ServerThread server([&](const std::shared_ptr<Exchange>& exchange) {
    if (exchange->request().path == "/watch") return watches(exchange);
    asked.set_value(exchange);
  });
  RawClient watcher(server.port());
  watcher.Send("GET /watch HTTP/1.1\r\nHost: x\r\n\r\n");
  watcher.ReadTo("\r\n\r\n");
  RawClient idle(server.port());
  RawClient waiter(server.port());
  waiter.Send("GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
  std::shared_ptr<Exchange> exchange = asked.get_future().get();
  std::promise<void> drained;
  server.OnLoop([&] { server.server().Drain([&] { drained.set_value(); }); });
  EXPECT_EQ(watcher.ReadToEnd(), "0\r\n\r\n");
  EXPECT_EQ(idle.ReadToEnd(), "");
  server.OnLoop([&] {
    exchange->Respond({.body = "done"});
    exchange.reset();
  });
  EXPECT_THAT(waiter.ReadToEnd(), AllOf(HasSubstr("Connection: close"), EndsWith("done")));
  EXPECT_EQ(drained.get_future().wait_for(kSoon), std::future_status::ready);
  EXPECT_EQ(watches.gone(), 1);
}

TEST(HttpServer, SaysWhyItCannotListen) {
  ServerThread server(Echo);
  EventLoop loop;
  const auto taken = HttpServer::Listen(loop, {.port = server.port()}, Echo);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, Code::kUnavailable);
  EXPECT_EQ(taken.error().message,
            "listen on 127.0.0.1:" + std::to_string(server.port()) + ": Address already in use");
  const auto nonsense = HttpServer::Listen(loop, {.host = "nowhere"}, Echo);
  EXPECT_EQ(nonsense.error().message, "listen on nowhere:0: not an IP address");
}

}  // namespace
}  // namespace strata::net
