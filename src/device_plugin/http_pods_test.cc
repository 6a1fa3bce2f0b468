#include "device_plugin/http_pods.h"

#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/http_client.h"
#include "tests/support/socket_server.h"

namespace strata::device_plugin {
namespace {

using strata::testing::RawConnection;
using strata::testing::SocketServer;
using ::testing::HasSubstr;

constexpr const char* kOnePod =
    R"({"items":[{"metadata":{"name":"a","namespace":"ns","uid":"u"}}]})";

// A server with one Node and one pod, and a client of it.
class HttpPodsTest : public ::testing::Test {
 protected:
  HttpPodsTest()
      : server_([this](RawConnection& peer) {
          while (const auto request = peer.Read()) {
            if (silent_) return peer.WaitForPeer();
            peer.Answer(200,
                        request->target.find("/nodes/") == std::string::npos ? kOnePod : node_);
          }
        }),
        transport_(std::move(*net::HttpClient::Start({.server = server_.url()}))),
        client_(std::make_unique<kube::Client>(*transport_, *transport_, kube::ClientOptions{})) {}
  ~HttpPodsTest() override {
    client_.reset();
    transport_.reset();
  }

  std::string node_ = R"({"metadata":{"annotations":{
      "hami.io/mutex.lock":"2026-01-01T00:00:00Z,ns,a"}}})";
  std::atomic<bool> silent_ = false;
  SocketServer server_;
  std::unique_ptr<net::HttpClient> transport_;
  std::unique_ptr<kube::Client> client_;
};

TEST_F(HttpPodsTest, KubeletListsThePodsOfTheNode) {
  JsonPodSource source("pods", "nvidia.com/gpu", FetchFromKubelet(*client_));
  const auto known = source.List(std::chrono::seconds(30));
  ASSERT_TRUE(known.has_value()) << known.error().message;
  ASSERT_EQ(known->pods.size(), 1U);
  EXPECT_EQ(known->pods[0].FullName(), "ns/a");
  EXPECT_EQ(known->lock_owner, std::nullopt);
}

TEST_F(HttpPodsTest, ApiServerListsPodsAndTheOwnerOfTheLock) {
  JsonPodSource source("lock", "nvidia.com/gpu", FetchFromApiServer(*client_, "n1"));
  EXPECT_EQ(source.List(std::chrono::seconds(30))->lock_owner, "ns/a");
  node_ = "{}";
  EXPECT_EQ(source.List(std::chrono::seconds(30))->lock_owner, "");
}

TEST_F(HttpPodsTest, AServerThatDoesNotAnswerIsAnErrorAtTheLimit) {
  silent_ = true;
  JsonPodSource source("lock", "nvidia.com/gpu", FetchFromApiServer(*client_, "n1"));
  const auto known = source.List(Duration(100));
  ASSERT_FALSE(known.has_value());
  // The transport and the caller have the same limit: either may be the first to give up.
  EXPECT_EQ(known.error().code, Code::kUnavailable);
  EXPECT_THAT(known.error().message, HasSubstr("/api/v1/nodes/n1: "));
}

}  // namespace
}  // namespace strata::device_plugin
