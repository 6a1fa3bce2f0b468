#include "inspect/follow_logs.h"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/ascii.h"
#include "net/http_client.h"
#include "tests/support/socket_server.h"

namespace strata::inspect {
namespace {

using strata::testing::RawConnection;
using strata::testing::SocketServer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The end of an answer in chunks.
void EndChunks(const RawConnection& peer) {
  peer.Write("0\r\n\r\n");
}

// A client of a server of plain sockets.
class Followed {
 public:
  explicit Followed(SocketServer::Handler handler)
      : server_(std::move(handler)),
        transport_(net::HttpClient::Start({.server = server_.url(), .tls = {}}).value()),
        client_(*transport_, *transport_, {}) {}

  Status Follow(const std::vector<std::string>& pods, const TakeLines& take) {
    std::vector<FollowedLog> logs;
    for (const std::string& pod : pods) {
      const kube::ResourcePath path{kube::kPods, "ml", pod, "log"};
      kube::Call call = kube::GetCall(path);
      call.query = "follow=true";
      logs.push_back({path, std::move(call), pods.size() == 1 ? "" : "[" + pod + "] "});
    }
    kube::ConnectionConfig config;
    config.cluster.server = server_.url();
    return FollowLogs(client_, config, logs, take);
  }

 private:
  SocketServer server_;
  std::unique_ptr<net::HttpClient> transport_;
  kube::Client client_;
};

TEST(FollowLogs, HandsLinesOverBeforeTheLogEnds) {
  std::mutex mutex;
  std::condition_variable changed;
  bool first_came = false;
  Followed followed([&](RawConnection& peer) {
    const auto request = peer.Read();
    if (!request) return;
    EXPECT_EQ(request->target, "/api/v1/namespaces/ml/pods/train-0/log?follow=true");
    peer.StartChunked();
    peer.Chunk("one\ntw");
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return first_came; });
    }
    peer.Chunk("o\nthree");
    EndChunks(peer);
  });
  std::string text;
  const Status status = followed.Follow({"train-0"}, [&](std::string_view lines) -> Status {
    text += lines;
    const std::lock_guard lock(mutex);
    first_came = true;
    changed.notify_all();
    return {};
  });
  EXPECT_TRUE(status) << status.error().message;
  EXPECT_EQ(text, "one\ntwo\nthree\n");
}

TEST(FollowLogs, OfSeveralPodsEachLineIsBehindItsPod) {
  Followed followed([](RawConnection& peer) {
    while (const auto request = peer.Read()) {
      const bool first = request->target.find("train-0") != std::string::npos;
      peer.StartChunked();
      peer.Chunk(first ? "a\nb\n" : "c\n");
      EndChunks(peer);
    }
  });
  std::vector<std::string> lines;
  const Status status =
      followed.Follow({"train-0", "train-1"}, [&](std::string_view text) -> Status {
        for (const std::string_view line : Split(text, '\n')) {
          if (!line.empty()) lines.emplace_back(line);
        }
        return {};
      });
  EXPECT_TRUE(status) << status.error().message;
  std::sort(lines.begin(), lines.end());
  EXPECT_THAT(lines, ElementsAre("[train-0] a", "[train-0] b", "[train-1] c"));
}

TEST(FollowLogs, AFailureOfOneEndsAllAndIsOneLine) {
  Followed followed([](RawConnection& peer) {
    while (const auto request = peer.Read()) {
      if (request->target.find("train-0") != std::string::npos) {
        peer.StartChunked();
        peer.Chunk("a\n");  // and goes on
        peer.WaitForPeer();
        return;
      }
      peer.Answer(
          400,
          R"({"kind":"Status","status":"Failure","code":400,"message":"container x is waiting"})",
          "Content-Type: application/json\r\n");
    }
  });
  const Status status =
      followed.Follow({"train-0", "train-1"}, [](std::string_view) -> Status { return {}; });
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("container x is waiting"));
  EXPECT_EQ(status.error().message.find('\n'), std::string::npos);
}

TEST(FollowLogs, EndsWhenItsLinesAreNotTaken) {
  Followed followed([](RawConnection& peer) {
    if (!peer.Read()) return;
    peer.StartChunked();
    peer.Chunk("a\n");
    peer.WaitForPeer();
  });
  const Status status = followed.Follow({"train-0"}, [](std::string_view) -> Status {
    return Fail(Code::kUnavailable, "standard output: Broken pipe");
  });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "standard output: Broken pipe");
}

}  // namespace
}  // namespace strata::inspect
