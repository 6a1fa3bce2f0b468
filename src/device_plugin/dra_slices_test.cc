#include "device_plugin/dra_slices.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/connection.h"
#include "net/http_client.h"
#include "tests/support/socket_server.h"

namespace strata::device_plugin {
namespace {

using strata::testing::RawConnection;
using strata::testing::SocketServer;
using ::testing::HasSubstr;
using Found = DraSlices::Found;

// A server whose answer the test changes.
class DraSlicesTest : public ::testing::Test {
 protected:
  DraSlicesTest()
      : log_("agent", kube::SystemClock(), {&lines_}),
        server_([this](RawConnection& peer) {
          while (const auto request = peer.Read()) {
            const MutexLock lock(mutex_);
            target_ = request->target;
            ++questions_;
            peer.Answer(status_, body_);
          }
        }),
        transport_(std::move(*net::HttpClient::Start({.server = server_.url()}))),
        client_(std::make_unique<kube::Client>(*transport_, *transport_, kube::ClientOptions{})),
        slices_(*client_, "n1", Duration(1), log_) {}
  ~DraSlicesTest() override {
    client_.reset();
    transport_.reset();
  }

  void Say(int status, std::string body) {
    const MutexLock lock(mutex_);
    status_ = status;
    body_ = std::move(body);
  }
  std::string target() {
    const MutexLock lock(mutex_);
    return target_;
  }
  int questions() {
    const MutexLock lock(mutex_);
    return questions_;
  }

  static constexpr const char* kNothing = R"({"items":[]})";
  static constexpr const char* kOne = R"({"items":[{"metadata":{"name":"n1-gpu.nvidia.com"}}]})";

  Mutex mutex_;
  int status_ GUARDED_BY(mutex_) = 200;
  std::string body_ GUARDED_BY(mutex_) = kNothing;
  std::string target_ GUARDED_BY(mutex_);
  int questions_ GUARDED_BY(mutex_) = 0;
  obs::RecentLines lines_{1U << 16U};
  obs::Log log_;
  SocketServer server_;
  std::unique_ptr<net::HttpClient> transport_;
  std::unique_ptr<kube::Client> client_;
  DraSlices slices_;
  std::stop_source stop_;
};

TEST_F(DraSlicesTest, AreThoseOfNvidiasDriverOnThisNode) {
  EXPECT_EQ(slices_.Ask(stop_.get_token()), Found::kNone);
  EXPECT_EQ(target(),
            "/apis/resource.k8s.io/v1/resourceslices?fieldSelector="
            "spec.driver%3Dgpu.nvidia.com%2Cspec.nodeName%3Dn1&limit=1");
  Say(200, kOne);
  EXPECT_EQ(slices_.Ask(stop_.get_token()), Found::kSome);
}

TEST_F(DraSlicesTest, AServerWithoutTheKindHasNone) {
  Say(404, "404 page not found");
  EXPECT_EQ(slices_.Ask(stop_.get_token()), Found::kNone);
}

TEST_F(DraSlicesTest, WithoutTheRightToListThereAreNoneAndTheLogTellsOnce) {
  Say(403, R"({"kind":"Status","message":"resourceslices is forbidden","code":403})");
  EXPECT_EQ(slices_.Ask(stop_.get_token()), Found::kNone);
  EXPECT_EQ(slices_.Ask(stop_.get_token()), Found::kNone);
  ASSERT_EQ(lines_.Last(10).lines.size(), 1U);
  EXPECT_THAT(lines_.Last(10).lines[0], HasSubstr("resourceslices is forbidden"));
}

TEST_F(DraSlicesTest, AChangeIsNoticedAndAStopEndsTheWait) {
  bool changed = false;
  std::thread waiter([&] { changed = slices_.WaitForChange(Found::kNone, stop_.get_token()); });
  while (questions() < 2) std::this_thread::yield();
  Say(200, kOne);
  waiter.join();
  EXPECT_TRUE(changed);
  std::thread stopped([&] { changed = slices_.WaitForChange(Found::kSome, stop_.get_token()); });
  const int before = questions();
  while (questions() < before + 2) std::this_thread::yield();
  stop_.request_stop();
  stopped.join();
  EXPECT_FALSE(changed);
}

}  // namespace
}  // namespace strata::device_plugin
