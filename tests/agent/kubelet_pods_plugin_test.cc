// A kubelet without the Pods API, which is asked for its pods over HTTP.
#include <deque>
#include <memory>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device_plugin/http_pods.h"
#include "kube/client.h"
#include "net/http_client.h"
#include "tests/agent/admission_checks.h"
#include "tests/agent/fake_scheduler.h"
#include "tests/agent/plugin_setup.h"
#include "tests/support/socket_server.h"

namespace strata::testing {
namespace {

using ::testing::HasSubstr;

class KubeletPodsPlugin : public PluginTest {
 protected:
  KubeletPodsPlugin()
      : server_([this](RawConnection& peer) {
          while (const auto request = peer.Read()) {
            const bool known = request->target == "/pods" && !forbidden_;
            peer.Answer(known ? 200 : 403, known ? kubelet_->PodList() : "{}");
          }
        }),
        transport_(std::move(*net::HttpClient::Start({.server = server_.url()}))),
        client_(std::make_unique<kube::Client>(*transport_, *transport_, kube::ClientOptions{})) {
    pods_api_ = "";
    more_sources_ = [this] {
      device_plugin::DevicePlugin::Sources sources;
      sources.push_back(std::make_unique<device_plugin::JsonPodSource>(
          "pods", kGpuResource, device_plugin::FetchFromKubelet(*client_)));
      return sources;
    };
  }
  ~KubeletPodsPlugin() override {
    agent_.reset();
    client_.reset();
    transport_.reset();
  }

  std::atomic<bool> forbidden_ = false;
  SocketServer server_;
  std::unique_ptr<net::HttpClient> transport_;
  std::unique_ptr<kube::Client> client_;
};

TEST_F(KubeletPodsPlugin, EveryPodGetsItsOwnGpusWhileSixteenWait) {
  constexpr int kAdmissions = 100;
  constexpr std::size_t kWaiting = 16;
  constexpr std::size_t kRunning = 8;
  StartBoth(FakeKubelet::Kind::kUpTo136, 4711);
  EXPECT_EQ(agent_->identity(), "pods");
  FakeScheduler scheduler(View()->node, 4712);
  histories::Random random(4713);
  std::deque<BoundPod> waiting;
  std::deque<BoundPod> running;
  for (int i = 0; i < kAdmissions && !HasFailure(); ++i) {
    while (waiting.size() < kWaiting) waiting.push_back(scheduler.Bind());
    const auto next = waiting.begin() + random.Below(kWaiting);
    BoundPod bound = std::move(*next);
    waiting.erase(next);
    ExpectOwnGpus(kubelet_->Admit(bound.pod), bound);
    running.push_back(std::move(bound));
    if (running.size() > kRunning) {
      kubelet_->Remove(running.front().pod.uid);
      scheduler.Release(running.front());
      running.pop_front();
    }
  }
  EXPECT_EQ(agent_->counters().ambiguous, 0);
  EXPECT_EQ(agent_->counters().refused, 0);
}

TEST_F(KubeletPodsPlugin, AKubeletThatDoesNotTellRefusesThePodAndSaysWhy) {
  StartBoth(FakeKubelet::Kind::kUpTo136);
  forbidden_ = true;
  FakeScheduler scheduler(View()->node, 4712);
  const FakeKubelet::Outcome outcome = kubelet_->Admit(scheduler.Bind().pod);
  EXPECT_EQ(outcome.end, FakeKubelet::Outcome::End::kRefused);
  EXPECT_THAT(outcome.error, HasSubstr("cannot be known: /pods: "));
}

}  // namespace
}  // namespace strata::testing
