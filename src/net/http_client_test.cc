#include "net/http_client.h"

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/socket_server.h"

namespace strata::net {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::RawConnection;
using testing::RawRequest;
using testing::SocketServer;

// Keeps an answer and lets the test wait for it.
class Kept final : public Receiver {
 public:
  void OnHead(HttpResponse head) override {
    const std::lock_guard lock(mutex_);
    head_ = std::move(head);
  }
  Wish OnBody(std::string_view piece) override {
    const std::lock_guard lock(mutex_);
    body_ += piece;
    changed_.notify_all();
    return body_.size() > max ? Wish::kCancel : Wish::kMore;
  }
  void OnEnd(Outcome outcome) override {
    const std::lock_guard lock(mutex_);
    ++ends_;
    outcome_ = std::move(outcome);
    changed_.notify_all();
  }

  const Outcome& Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ends_ > 0; });
    return outcome_;
  }
  void WaitForBody(const std::string& text) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return body_ == text || ends_ > 0; });
  }
  [[nodiscard]] int status() const { return head_.status; }
  [[nodiscard]] const std::string& body() const { return body_; }
  [[nodiscard]] const HttpResponse& head() const { return head_; }
  [[nodiscard]] int ends() const { return ends_; }

  std::size_t max = std::string::npos;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  HttpResponse head_;
  std::string body_;
  Outcome outcome_;
  int ends_ = 0;
};

std::unique_ptr<HttpClient> ClientOf(const std::string& url) {
  HttpClientOptions options;
  options.server = url;
  return std::move(*HttpClient::Start(options));
}

ClientRequest Get(std::string path) {
  ClientRequest request;
  request.message.method = "GET";
  request.message.path = std::move(path);
  return request;
}

std::shared_ptr<Kept> Fetch(HttpClient& client, ClientRequest request) {
  auto kept = std::make_shared<Kept>();
  client.Send(std::move(request), kept);
  kept->Wait();
  return kept;
}

TEST(HttpClient, SendsMethodPathQueryHeadersAndBodyAsGiven) {
  RawRequest seen;
  SocketServer server([&](RawConnection& peer) {
    if (auto request = peer.Read()) seen = *request;
    peer.Answer(201, "made", "X-Note: yes\r\n");
  });
  ClientRequest request;
  request.message = {"PATCH", "/a/%2F..", "x=1&y=%20", {{"Content-Type", "a/b"}}, "the body"};
  const auto client = ClientOf(server.url() + "/base/");
  const auto kept = Fetch(*client, request);
  EXPECT_TRUE(kept->Wait());
  EXPECT_EQ(kept->status(), 201);
  EXPECT_EQ(kept->body(), "made");
  EXPECT_EQ(kept->head().headers.back().value, "yes");
  EXPECT_EQ(seen.method, "PATCH");
  EXPECT_EQ(seen.target, "/base/a/%2F..?x=1&y=%20");
  EXPECT_EQ(seen.Header("content-type"), "a/b");
  EXPECT_EQ(seen.Header("user-agent"), "strata");
  EXPECT_EQ(seen.Header("expect"), "");
  EXPECT_EQ(seen.body, "the body");
}

TEST(HttpClient, AnEmptyDeleteHasNoBodyAndKeepsItsMethod) {
  RawRequest seen;
  SocketServer server([&](RawConnection& peer) {
    if (auto request = peer.Read()) seen = *request;
    peer.Answer(200, "");
  });
  ClientRequest request;
  request.message.method = "DELETE";
  request.message.path = "/x";
  EXPECT_TRUE(Fetch(*ClientOf(server.url()), request)->Wait());
  EXPECT_EQ(seen.method, "DELETE");
  EXPECT_EQ(seen.Header("content-length"), "0");
}

TEST(HttpClient, ClosedConnectionsEndWhatIsUnderWayAndAreNotUsedAgain) {
  std::atomic<int> connections = 0;
  std::promise<void> arrived;
  SocketServer server([&](RawConnection& peer) {
    ++connections;
    while (const auto request = peer.Read()) {
      if (request->target == "/answered") {
        peer.Answer(200, "yes");
      } else {
        arrived.set_value();
      }
    }
  });
  const auto client = ClientOf(server.url());
  EXPECT_TRUE(Fetch(*client, Get("/answered"))->Wait());
  EXPECT_TRUE(Fetch(*client, Get("/answered"))->Wait());
  EXPECT_EQ(connections, 1);
  const auto held = std::make_shared<Kept>();
  client->Send(Get("/held"), held);
  arrived.get_future().wait();
  client->CloseConnections();
  ASSERT_FALSE(held->Wait());
  EXPECT_EQ(held->Wait().error().cause, TransportError::Cause::kConnection);
  EXPECT_TRUE(Fetch(*client, Get("/answered"))->Wait());
  EXPECT_EQ(connections, 2);
}

TEST(HttpClient, AHeadDoesNotWaitForTheBodyThatItsHeadersPromise) {
  SocketServer server([](RawConnection& peer) {
    while (const auto request = peer.Read()) {
      peer.Write("HTTP/1.1 200 OK\r\nContent-Length: 12\r\nX-Seen: " + request->method +
                 "\r\n\r\n");
    }
  });
  ClientRequest request = Get("/x");
  request.message.method = "HEAD";
  request.limits.total = std::chrono::minutes(1);
  const auto kept = Fetch(*ClientOf(server.url()), request);
  EXPECT_TRUE(kept->Wait());
  EXPECT_EQ(kept->status(), 200);
  EXPECT_EQ(kept->head().headers.back().value, "HEAD");
  EXPECT_EQ(kept->body(), "");
}

TEST(HttpClient, KeepsAConnectionForTheNextRequest) {
  SocketServer server([](RawConnection& peer) {
    while (peer.Read()) peer.Answer(200, "{}");
  });
  const auto client = ClientOf(server.url());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Fetch(*client, Get("/"))->status(), 200);
  EXPECT_EQ(server.accepted(), 1);
}

TEST(HttpClient, GivesPiecesOfAStreamAsTheyCome) {
  std::promise<void> first_seen;
  SocketServer server([&](RawConnection& peer) {
    peer.Read();
    peer.StartChunked();
    peer.Chunk("one\n");
    first_seen.get_future().wait();
    peer.Chunk("two\n");
    peer.Write("0\r\n\r\n");
  });
  const auto client = ClientOf(server.url());
  const auto kept = std::make_shared<Kept>();
  client->Send(Get("/watch"), kept);
  kept->WaitForBody("one\n");
  first_seen.set_value();
  EXPECT_TRUE(kept->Wait());
  EXPECT_EQ(kept->body(), "one\ntwo\n");
}

TEST(HttpClient, ACutStreamIsAnErrorAfterItsBytes) {
  SocketServer server([&](RawConnection& peer) {
    peer.Read();
    peer.StartChunked();
    peer.Chunk("half");
  });
  const auto kept = Fetch(*ClientOf(server.url()), Get("/"));
  ASSERT_FALSE(kept->Wait());
  EXPECT_EQ(kept->Wait().error().cause, TransportError::Cause::kConnection);
  EXPECT_EQ(kept->Wait().error().sent, TransportError::Sent::kMaybe);
  EXPECT_EQ(kept->body(), "half");
}

TEST(HttpClient, ARefusedConnectionSentNothing) {
  std::string url;
  {
    const SocketServer server([](RawConnection&) {});
    url = server.url();
  }
  const auto kept = Fetch(*ClientOf(url), Get("/"));
  ASSERT_FALSE(kept->Wait());
  EXPECT_EQ(kept->Wait().error().sent, TransportError::Sent::kNo);
  EXPECT_THAT(kept->Wait().error().message, HasSubstr("connect"));
}

TEST(HttpClient, AServerThatSaysNothingRunsIntoTheLimits) {
  SocketServer server([](RawConnection& peer) { peer.WaitForPeer(); });
  const auto client = ClientOf(server.url());
  ClientRequest total = Get("/");
  total.limits.total = Duration(30);
  EXPECT_EQ(Fetch(*client, total)->Wait().error().cause, TransportError::Cause::kTimeout);
  ClientRequest silent = Get("/");
  silent.limits = {Duration(60'000), Duration(0), Duration(30)};
  const auto kept = Fetch(*client, silent);
  EXPECT_EQ(kept->Wait().error().cause, TransportError::Cause::kTimeout);
  EXPECT_EQ(kept->Wait().error().message, "no data received for 30 ms");
}

TEST(HttpClient, CancelEndsARequestOnce) {
  SocketServer server([](RawConnection& peer) { peer.WaitForPeer(); });
  const auto client = ClientOf(server.url());
  const auto kept = std::make_shared<Kept>();
  const RequestId id = client->Send(Get("/"), kept);
  client->Cancel(id);
  client->Cancel(id);
  EXPECT_EQ(kept->Wait().error().cause, TransportError::Cause::kCancelled);
  client->Run([] {});
  EXPECT_EQ(kept->ends(), 1);
}

TEST(HttpClient, AReceiverMayStopABodyThatIsTooLong) {
  SocketServer server([](RawConnection& peer) {
    peer.Read();
    peer.Answer(200, std::string(5 << 20U, 'x'));
  });
  const auto client = ClientOf(server.url());
  const auto kept = std::make_shared<Kept>();
  kept->max = 1 << 20U;
  client->Send(Get("/"), kept);
  EXPECT_EQ(kept->Wait().error().cause, TransportError::Cause::kCancelled);
  EXPECT_LT(kept->body().size(), 2U << 20U);
}

TEST(HttpClient, ClosingEndsWhatIsUnderWay) {
  SocketServer server([](RawConnection& peer) { peer.WaitForPeer(); });
  const auto kept = std::make_shared<Kept>();
  {
    const auto client = ClientOf(server.url());
    client->Send(Get("/"), kept);
    client->Run([] {});
  }
  EXPECT_EQ(kept->Wait().error().message, "the client is closing");
}

TEST(HttpClient, ManyRequestsAreUnderWayAtOnce) {
  std::atomic<int> inside = 0;
  std::promise<void> all_inside;
  std::shared_future<void> go = all_inside.get_future().share();
  SocketServer server([&](RawConnection& peer) {
    while (peer.Read()) {
      if (++inside == 20) all_inside.set_value();
      go.wait();
      peer.Answer(200, "x");
    }
  });
  const auto client = ClientOf(server.url());
  std::vector<std::shared_ptr<Kept>> kept;
  for (int i = 0; i < 20; ++i) {
    kept.push_back(std::make_shared<Kept>());
    client->Send(Get("/"), kept.back());
  }
  for (const auto& one : kept) EXPECT_TRUE(one->Wait());
}

TEST(HttpClient, FailsOnAnAnswerThatIsNotHttp) {
  SocketServer server([](RawConnection& peer) {
    peer.Read();
    peer.Write("HTTP/1.1 200 OK\r\nContent-Length: twelve\r\n\r\n???");
  });
  EXPECT_FALSE(Fetch(*ClientOf(server.url()), Get("/"))->Wait());
}

TEST(HttpClient, TimersRunInOrderAndCanBeCancelled) {
  SocketServer server([](RawConnection&) {});
  const auto client = ClientOf(server.url());
  std::vector<int> order;
  std::promise<void> done;
  client->Post([&] {
    client->After(Duration(1000), [&] {  // made first, due last
      order.push_back(3);
      done.set_value();
    });
    client->After(Duration(5), [&] { order.push_back(1); });
    const TimerId never = client->After(Duration(5), [&] { order.push_back(2); });
    client->CancelTimer(never);
  });
  done.get_future().wait();
  EXPECT_THAT(order, ElementsAre(1, 3));
  EXPECT_FALSE(client->OnThread());
}

TEST(HttpClient, ErrorsNeverHoldPasswordsOrTokens) {
  const auto error = [](const std::string& server, const std::string& proxy) {
    HttpClientOptions options;
    options.server = server;
    options.proxy = proxy;
    const auto client = HttpClient::Start(options);
    if (!client) return client.error().message;
    ClientRequest request = Get("/x?token=s3cret");
    request.limits.total = std::chrono::seconds(5);
    return Fetch(**client, request)->Wait().error().message;
  };
  for (const std::string& message : {error("htp://me:s3cret@h", ""),
                                     error("https://me:s3cret@h h", ""),
                                     error("https://h/?token=s3cret h", ""),
                                     error("http://127.0.0.1:1", "http://me:s3cret@h h"),
                                     error("http://127.0.0.1:1", "http://me:s3cret@127.0.0.1:1"),
                                     error("http://me:s3cret@127.0.0.1:1", "")}) {
    EXPECT_THAT(message, ::testing::Not(HasSubstr("s3cret")));
    EXPECT_NE(message, "");
  }
}

TEST(HttpClient, RejectsAnInvalidAddress) {
  for (const char* bad : {"", "host:1", "ftp://x", "https://", "https://a b"}) {
    HttpClientOptions options;
    options.server = bad;
    const auto client = HttpClient::Start(options);
    ASSERT_FALSE(client) << bad;
    EXPECT_EQ(client.error().code, Code::kInvalidArgument);
  }
}

}  // namespace
}  // namespace strata::net
