#include "device_plugin/registration_state.h"

#include <gtest/gtest.h>

namespace strata::device_plugin {
namespace {

using std::chrono::seconds;
using Action = RegistrationState::Action;

class RegistrationStateTest : public ::testing::Test {
 protected:
  [[nodiscard]] RegistrationState::Instant At(int second) const { return start_ + seconds(second); }
  // One that has registered, and whose devices the kubelet has watched since `second`.
  RegistrationState Connected(int second) {
    RegistrationState state{RegistrationTimes{}};
    state.KubeletAppeared(At(second));
    state.Registered(At(second));
    state.StreamOpened(At(second));
    return state;
  }

  const RegistrationState::Instant start_{std::chrono::hours(1)};
};

TEST_F(RegistrationStateTest, WaitsForAKubelet) {
  RegistrationState state{RegistrationTimes{}};
  EXPECT_EQ(state.Decide(At(0)).action, Action::kWait);
  EXPECT_FALSE(state.Decide(At(0)).wake.has_value());
  state.KubeletAppeared(At(1));
  EXPECT_EQ(state.Decide(At(1)).action, Action::kRegister);
}

TEST_F(RegistrationStateTest, BacksOffFromOneSecondToThirtyWhileRegisterFails) {
  RegistrationState state{RegistrationTimes{}};
  state.KubeletAppeared(At(0));
  int now = 0;
  for (const int delay : {1, 2, 4, 8, 16, 30, 30, 30}) {
    ASSERT_EQ(state.Decide(At(now)).action, Action::kRegister);
    state.RegisterFailed(At(now));
    const auto next = state.Decide(At(now));
    EXPECT_EQ(next.action, Action::kWait);
    EXPECT_EQ(next.wake, At(now + delay));
    now += delay;
  }
}

TEST_F(RegistrationStateTest, RegistersAgainAtOnceWithANewKubelet) {
  RegistrationState state{RegistrationTimes{}};
  state.KubeletAppeared(At(0));
  for (int i = 0; i < 5; ++i) state.RegisterFailed(At(0));
  state.KubeletAppeared(At(1));
  EXPECT_EQ(state.Decide(At(1)).action, Action::kRegister);
  state.RegisterFailed(At(1));
  EXPECT_EQ(state.Decide(At(1)).wake, At(2));
}

TEST_F(RegistrationStateTest, RestsWhileConnected) {
  RegistrationState state = Connected(0);
  EXPECT_TRUE(state.connected());
  EXPECT_EQ(state.Decide(At(1000)).action, Action::kWait);
  EXPECT_FALSE(state.Decide(At(1000)).wake.has_value());
}

TEST_F(RegistrationStateTest, RegistersAgainWhenNoStreamComesInTenSeconds) {
  RegistrationState state{RegistrationTimes{}};
  state.KubeletAppeared(At(0));
  state.Registered(At(0));
  EXPECT_EQ(state.Decide(At(0)).wake, At(10));
  EXPECT_EQ(state.Decide(At(10)).wake, At(11));
  EXPECT_EQ(state.Decide(At(11)).action, Action::kRegister);
}

TEST_F(RegistrationStateTest, RegistersAgainWhenTheStreamEnds) {
  RegistrationState old = Connected(0);
  old.StreamEnded(At(60));
  EXPECT_EQ(old.Decide(At(60)).action, Action::kRegister);
  RegistrationState young = Connected(0);
  young.StreamEnded(At(3));
  EXPECT_EQ(young.Decide(At(3)).wake, At(4));
}

TEST_F(RegistrationStateTest, RegistersAgainWhenOurSocketHasGone) {
  RegistrationState state = Connected(0);
  state.OurSocketGone(At(3));
  EXPECT_EQ(state.Decide(At(3)).action, Action::kRegister);
  state.RegisterFailed(At(3));
  state.OurSocketGone(At(3));  // there is none: no reason to hurry
  EXPECT_EQ(state.Decide(At(3)).wake, At(4));
}

TEST_F(RegistrationStateTest, WaitsWhileThereIsNoKubelet) {
  RegistrationState state = Connected(0);
  state.KubeletGone();
  EXPECT_FALSE(state.connected());
  EXPECT_EQ(state.Decide(At(100)).action, Action::kWait);
}

}  // namespace
}  // namespace strata::device_plugin
