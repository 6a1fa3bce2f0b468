#include "component/component.h"

#include <memory>

#include <gtest/gtest.h>

namespace strata {
namespace {

struct Counter {
  Status Run(const std::stop_token& stop) {
    ready = !stop.stop_requested();
    return {};
  }
  [[nodiscard]] std::string Metrics() const { return ready ? "ready 1\n" : "ready 0\n"; }
  [[nodiscard]] bool IsReady() const { return ready; }
  [[nodiscard]] static std::string LateThread() { return ""; }

  bool ready = false;
};

TEST(Component, ForwardsToTheObjectItIsMadeOf) {
  const auto counter = std::make_shared<Counter>();
  const Component component = ComponentOf(counter);
  EXPECT_FALSE(component.ready());
  EXPECT_TRUE(component.run({}));
  EXPECT_TRUE(component.ready());
  EXPECT_EQ(component.metrics(), "ready 1\n");
}

TEST(Component, KeepsTheObjectAlive) {
  auto counter = std::make_shared<Counter>();
  const std::weak_ptr<Counter> weak = counter;
  const Component component = ComponentOf(counter);
  counter.reset();
  EXPECT_FALSE(weak.expired());
}

TEST(RunComponent, FailsWithStatusOneWhenThereIsNoSuchKubeconfig) {
  ComponentOptions options;
  options.connection.kubeconfig = "/nonexistent/kubeconfig";
  testing::internal::CaptureStderr();
  const int status = RunComponent("test", options, [](kube::Client&, obs::Log&) -> Component {
    ADD_FAILURE() << "made without a connection";
    return {};
  });
  const std::string printed = testing::internal::GetCapturedStderr();
  EXPECT_EQ(status, 1);
  EXPECT_NE(printed.find("/nonexistent/kubeconfig"), std::string::npos) << printed;
}

TEST(NewLeaseIdentity, IsNewAtEachCall) {
  EXPECT_NE(NewLeaseIdentity(), NewLeaseIdentity());
}

}  // namespace
}  // namespace strata
