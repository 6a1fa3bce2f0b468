#include "page/stream.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "net/http_test_client.h"

namespace strata::page {
namespace {

// A server whose only path is the stream; the query is not read.
class OneStream : public ::testing::Test {
 protected:
  static constexpr std::size_t kRoom = 4096;

  void SetUp() override {
    server_ =
        std::make_unique<net::ServerThread>([this](const std::shared_ptr<net::Exchange>& exchange) {
          stream_->Open(exchange, epoch_, after_);
        });
    server_->OnLoop([this] {
      stream_ = std::make_unique<Stream>(
          server_->loop(), [this] { ++came_; }, kRoom);
      stream_->Begin(1, 10);
    });
  }
  void TearDown() override {
    server_->Stop();
    stream_.reset();
  }

  void Add(std::int64_t revision, const std::string& data) {
    server_->OnLoop([&] { stream_->Add(revision, data); });
  }
  std::unique_ptr<net::RawClient> Follow(std::int64_t epoch, std::int64_t after) {
    server_->OnLoop([&] {
      epoch_ = epoch;
      after_ = after;
    });
    auto client = std::make_unique<net::RawClient>(server_->port());
    client->Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    client->ReadTo(":\n\n");
    return client;
  }

  std::unique_ptr<net::ServerThread> server_;
  std::unique_ptr<Stream> stream_;
  std::int64_t epoch_ = 1;
  std::int64_t after_ = 10;
  int came_ = 0;
};

TEST_F(OneStream, GivesWhatComes) {
  const auto client = Follow(1, 10);
  Add(11, "{\"a\":1}");
  EXPECT_NE(client->ReadTo("\n\n").find("event: change\nid: 11\ndata: {\"a\":1}\n"),
            std::string::npos);
  Add(12, "{}");
  EXPECT_NE(client->ReadTo("\n\n").find("id: 12\n"), std::string::npos);
  EXPECT_EQ(stream_->viewers(), 1U);
  EXPECT_EQ(came_, 1);
}

TEST_F(OneStream, BeginsAfterTheRevisionThatTheViewerHas) {
  Add(11, "{}");
  Add(12, "{}");
  const auto client = Follow(1, 11);
  EXPECT_NE(client->ReadTo("\n\n").find("id: 12\n"), std::string::npos);
}

TEST_F(OneStream, TellsAViewerOfAnotherEpochToBeginAgain) {
  const auto client = Follow(2, 10);
  EXPECT_NE(client->ReadTo("0\r\n\r\n").find("event: epoch"), std::string::npos);
}

TEST_F(OneStream, TellsAViewerFromTheFutureToBeginAgain) {
  const auto client = Follow(1, 99);
  EXPECT_NE(client->ReadTo("0\r\n\r\n").find("event: epoch"), std::string::npos);
}

TEST_F(OneStream, EndsTheStreamsOfAnEpochThatEnds) {
  const auto client = Follow(1, 10);
  server_->OnLoop([this] { stream_->Begin(2, 20); });
  EXPECT_NE(client->ReadTo("0\r\n\r\n").find("event: epoch"), std::string::npos);
  server_->OnLoop([this] { EXPECT_EQ(stream_->viewers(), 0U); });
}

TEST_F(OneStream, KeepsNoBacklogForAViewerThatIsFarBehind) {
  for (int revision = 11; revision <= 40; ++revision) Add(revision, std::string(1000, 'x'));
  const auto client = Follow(1, 11);
  EXPECT_NE(client->ReadTo("0\r\n\r\n").find("event: epoch"), std::string::npos);
  EXPECT_NE(Follow(1, 38)->ReadTo("\n\n").find("id: 39\n"), std::string::npos);
}

TEST_F(OneStream, GivesAllViewersTheSame) {
  std::vector<std::unique_ptr<net::RawClient>> clients;
  for (int i = 0; i < 5; ++i) clients.push_back(Follow(1, 10));
  Add(11, "{}");
  for (const auto& client : clients) {
    EXPECT_NE(client->ReadTo("\n\n").find("id: 11\n"), std::string::npos);
  }
  server_->OnLoop([this] { EXPECT_EQ(stream_->viewers(), 5U); });
}

}  // namespace
}  // namespace strata::page
