#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/agent/admission_checks.h"
#include "tests/agent/fake_scheduler.h"
#include "tests/agent/plugin_setup.h"

namespace strata::testing {
namespace {

using Step = FakeKubelet::Step;
using Intervention = FakeKubelet::Intervention;
using End = FakeKubelet::Outcome::End;

constexpr Step kSteps[] = {
    Step::kBeforePreferred, Step::kBeforeAllocate, Step::kAnswered, Step::kRecorded};

class RestartPlugin : public PluginTest, public ::testing::WithParamInterface<FakeKubelet::Kind> {
 protected:
  // Admits a pod; at the step for the n-th time (from 0) `intervene` is called.
  FakeKubelet::Outcome AdmitWith(const BoundPod& bound,
                                 Step step,
                                 int n,
                                 const std::function<Intervention()>& intervene) {
    return kubelet_->Admit(bound.pod, [&, count = 0](Step at) mutable {
      if (at != step || count++ != n) return Intervention::kGoOn;
      return intervene();
    });
  }
};

INSTANTIATE_TEST_SUITE_P(BothKubelets, RestartPlugin, BothKubelets(), NameOfKubelet);

TEST_P(RestartPlugin, AgentRestartedAtEveryStep) {
  StartBoth(GetParam(), 21);
  FakeScheduler scheduler(View()->node, 22);
  for (int round = 0; round < 6 && !HasFailure(); ++round) {
    for (const Step step : kSteps) {
      const BoundPod bound = scheduler.Bind();
      ExpectOwnGpus(AdmitWith(bound,
                              step,
                              round % 2,
                              [this] {
                                RestartAgent();
                                return Intervention::kGoOn;
                              }),
                    bound);
      scheduler.Release(bound);
      kubelet_->Remove(bound.pod.uid);
    }
  }
}

TEST_P(RestartPlugin, KubeletRestartedAtEveryStep) {
  StartBoth(GetParam(), 31);
  FakeScheduler scheduler(View()->node, 32);
  for (int round = 0; round < 6 && !HasFailure(); ++round) {
    for (const Step step : kSteps) {
      const BoundPod bound = scheduler.Bind();
      FakeKubelet::Outcome outcome =
          AdmitWith(bound, step, round % 2, [] { return Intervention::kCrash; });
      if (outcome.end == End::kCrashed) {
        kubelet_->Restart();
        ASSERT_TRUE(kubelet_->WaitForHealthy(kDevices));
        outcome = kubelet_->Admit(bound.pod);
      }
      ExpectOwnGpus(outcome, bound);
      // A pod that stays makes the next one harder to recognise.
      if (round % 3 == 2) {
        scheduler.Release(bound);
        kubelet_->Remove(bound.pod.uid);
      }
    }
  }
  EXPECT_EQ(agent_->counters().refused, 0);
}

}  // namespace
}  // namespace strata::testing
