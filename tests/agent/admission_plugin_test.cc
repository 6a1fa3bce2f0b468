#include <algorithm>
#include <chrono>
#include <deque>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/agent/admission_checks.h"
#include "tests/agent/fake_scheduler.h"
#include "tests/agent/plugin_setup.h"

namespace strata::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class AdmissionPlugin : public PluginTest,
                        public ::testing::WithParamInterface<FakeKubelet::Kind> {};

INSTANTIATE_TEST_SUITE_P(BothKubelets, AdmissionPlugin, BothKubelets(), NameOfKubelet);

BoundPod PodOn(const agent::Machine& machine, const std::string& name, std::size_t gpu) {
  const std::string& uuid = machine.node.gpus[gpu].uuid;
  BoundPod bound;
  bound.pod.uid = "uid-" + name;
  bound.pod.ns = "ns";
  bound.pod.name = name;
  bound.pod.containers = {{.name = "main", .gpus = 1}};
  bound.pod.annotations = {{"hami.io/vgpu-node", kNode},
                           {"hami.io/vgpu-devices-allocated", uuid + ",NVIDIA,1000,10:;"}};
  bound.uuids["main"] = {uuid};
  return bound;
}

TEST_P(AdmissionPlugin, EveryPodGetsItsOwnGpusWhileSixteenWait) {
  constexpr int kAdmissions = 1000;
  constexpr std::size_t kWaiting = 16;
  constexpr std::size_t kRunning = 8;
  StartBoth(GetParam(), 4711);
  FakeScheduler scheduler(View()->node, 4712);
  histories::Random random(4713);
  std::deque<BoundPod> waiting;
  std::deque<BoundPod> running;
  for (int i = 0; i < kAdmissions && !HasFailure(); ++i) {
    while (waiting.size() < kWaiting) waiting.push_back(scheduler.Bind());
    // The kubelet hears of pods in any order.
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
  std::vector<Duration> times = kubelet_->allocate_times();
  const auto p99 = times.begin() + static_cast<std::ptrdiff_t>(times.size() * 99 / 100);
  std::nth_element(times.begin(), p99, times.end());
  RecordProperty("allocate_p99_ms", std::to_string(p99->count()));
  std::cout << "Allocate p99: " << p99->count() << " ms\n";
  const device_plugin::AllocationCounters counters = agent_->counters();
  EXPECT_EQ(counters.ambiguous, 0);
  EXPECT_EQ(counters.ids_differ, 0);
  EXPECT_EQ(counters.refused, 0);
  EXPECT_EQ(agent_->identity(), "pods-api");
  EXPECT_EQ(kubelet_->registrations(), 1);
}

TEST_P(AdmissionPlugin, PodsWithoutARecordGetTheGpusOfTheirIds) {
  StartBoth(GetParam());
  agent::KnownPod pod{.uid = "u", .ns = "ns", .name = "plain"};
  pod.containers = {{.name = "main", .gpus = 2}};
  const FakeKubelet::Outcome outcome = kubelet_->Admit(pod);
  ASSERT_EQ(outcome.end, FakeKubelet::Outcome::End::kAdmitted) << outcome.error;
  const FakeKubelet::Served& served = outcome.containers.at("main");
  EXPECT_EQ(VisibleDevices(served), SortedPhysical(served.ids));
  // GPUs 2 and 3 of a DGX-1V have the best links.
  EXPECT_THAT(VisibleDevices(served),
              ElementsAre(View()->node.gpus[2].uuid, View()->node.gpus[3].uuid));
}

TEST_P(AdmissionPlugin, RefusalIsASentenceAndMarksThePod) {
  StartBoth(GetParam());
  BoundPod bound = PodOn(*View(), "a", 1);
  bound.pod.annotations["hami.io/vgpu-node"] = "n2";
  const FakeKubelet::Outcome outcome = kubelet_->Admit(bound.pod);
  EXPECT_EQ(outcome.end, FakeKubelet::Outcome::End::kRefused);
  EXPECT_THAT(outcome.error, HasSubstr("pod ns/a, container main: asked for 1 GPU"));
  EXPECT_THAT(outcome.error, HasSubstr("found: its record is for node \"n2\""));
  ASSERT_THAT(effects_.settlements(), SizeIs(1));
  EXPECT_EQ(effects_.settlements()[0].phase, agent::Settlement::Phase::kFailed);
  // The next pod is not taken for the one that failed.
  const BoundPod next = PodOn(*View(), "b", 2);
  ExpectOwnGpus(kubelet_->Admit(next.pod), next);
  EXPECT_EQ(effects_.settlements()[1].phase, agent::Settlement::Phase::kSuccess);
}

TEST_P(AdmissionPlugin, AHungSourceIsAnErrorAtItsLimit) {
  source_limit_ = Duration(100);
  StartBoth(GetParam());
  kubelet_->HangPods(true);
  const BoundPod bound = PodOn(*View(), "a", 1);
  const auto start = std::chrono::steady_clock::now();
  const FakeKubelet::Outcome outcome = kubelet_->Admit(bound.pod);
  EXPECT_GE(std::chrono::steady_clock::now() - start, source_limit_);
  EXPECT_EQ(outcome.end, FakeKubelet::Outcome::End::kRefused);
  EXPECT_THAT(outcome.error, HasSubstr("no answer in time"));
  kubelet_->HangPods(false);
  const BoundPod next = PodOn(*View(), "b", 2);
  ExpectOwnGpus(kubelet_->Admit(next.pod), next);
}

TEST_P(AdmissionPlugin, AForcedSwapIsFoundAndRepaired) {
  StartBoth(GetParam());
  const BoundPod a = PodOn(*View(), "a", 1);
  const BoundPod b = PodOn(*View(), "b", 2);
  ExpectOwnGpus(kubelet_->Admit(a.pod), a);
  ExpectOwnGpus(kubelet_->Admit(b.pod), b);
  kubelet_->Swap(a.pod.uid, b.pod.uid, "main");
  clock_.Advance(std::chrono::minutes(1));
  ASSERT_TRUE(agent_->ReconcileNow().has_value());
  EXPECT_EQ(agent_->journal().Find(a.pod.uid, "main")->uuids, b.uuids.at("main"));
  ASSERT_THAT(effects_.corrections(), SizeIs(2));
  EXPECT_EQ(effects_.corrections()[0].annotations.at("hami.io/vgpu-devices-allocated"),
            b.pod.annotations.at("hami.io/vgpu-devices-allocated"));
  EXPECT_THAT(effects_.events(), SizeIs(2));
  ASSERT_TRUE(agent_->ReconcileNow().has_value());
  EXPECT_THAT(effects_.corrections(), SizeIs(2));
}

TEST_P(AdmissionPlugin, ALostJournalIsRebuiltBeforeTheFirstAdmission) {
  StartBoth(GetParam());
  FakeScheduler scheduler(View()->node, 5);
  std::vector<BoundPod> pods;
  for (int i = 0; i < 10; ++i) {
    pods.push_back(scheduler.Bind());
    ExpectOwnGpus(kubelet_->Admit(pods.back().pod), pods.back());
  }
  const agent::Journal before = agent_->journal();
  std::filesystem::remove(folder_ + "/journal");
  RestartAgent();
  const agent::Journal rebuilt = agent_->journal();
  for (const BoundPod& bound : pods) {
    const agent::JournalEntry* entry = rebuilt.Find(bound.pod.uid, "main");
    ASSERT_NE(entry, nullptr) << bound.pod.name;
    EXPECT_EQ(entry->uuids, before.Find(bound.pod.uid, "main")->uuids);
  }
  EXPECT_THAT(effects_.events(), IsEmpty());
  const BoundPod next = scheduler.Bind();
  ExpectOwnGpus(kubelet_->Admit(next.pod), next);
  EXPECT_EQ(agent_->counters().ambiguous, 0);
}

TEST_P(AdmissionPlugin, AKubeletWithoutItsCheckpointGetsTheSameAnswers) {
  StartBoth(GetParam());
  const BoundPod a = PodOn(*View(), "a", 1);
  const BoundPod b = PodOn(*View(), "b", 2);
  ExpectOwnGpus(kubelet_->Admit(a.pod), a);
  ExpectOwnGpus(kubelet_->Admit(b.pod), b);
  kubelet_->ForgetDevices();
  ExpectOwnGpus(kubelet_->Admit(a.pod), a);
  ExpectOwnGpus(kubelet_->Admit(b.pod), b);
  EXPECT_EQ(agent_->counters().again, 2);
}

}  // namespace
}  // namespace strata::testing
