// Evictions of a running cluster, end to end: the scheduler over a transport without a network.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "live/live_scheduler.h"
#include "live/test_fake_cluster.h"

namespace strata::live {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kMark =
    R"("conditions":[{"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler",)"
    R"("message":"volcano: preempting to accommodate a higher priority pod: gangpreempt for )"
    R"(ns/high"}])";

class EvictionClock final : public Clock {
 public:
  explicit EvictionClock(const kube::FakeTransport& transport) : transport_(transport) {}
  [[nodiscard]] Time Now() const override {
    return Time{seconds(1'800'000'000)} + transport_.Now().time_since_epoch() + set_by;
  }
  Duration set_by{};

 private:
  const kube::FakeTransport& transport_;
};

// Two nodes with one pod each of the gang "low", and the gang "high" of two pods that waits.
class LiveEvictionTest : public testing::Test {
 protected:
  LiveEvictionTest() {
    options_.advises = false;
    options_.random = [] { return 0.5; };
    cluster_.Put(
        kube::kConfigMaps,
        "volcano-system",
        "volcano-scheduler-configmap",
        R"("data":{"volcano-scheduler.conf":"actions: enqueue, allocate, gangpreempt, backfill\n)"
        R"(tiers: [{plugins: [{name: priority}, {name: gang}, {name: predicates}]}]"})");
    for (const char* node : {"n0", "n1"}) {
      cluster_.Put(kube::kNodes, "", node, R"("status":{"allocatable":{"cpu":"8","pods":"10"}})");
    }
    PutClass("low", 1);
    PutClass("high", 100);
    PutGroup("low");
    PutGroup("high");
    for (const int i : {0, 1}) {
      PutVictim(i);
      PutWaiting(i);
    }
  }

  void PutClass(const std::string& name, int value) {
    cluster_.Put(kube::kPriorityClasses, "", name, fmt::format(R"("value":{})", value));
  }
  void PutGroup(const std::string& name, int minimum = 2) {
    cluster_.Put(
        kube::kPodGroups,
        "ns",
        name,
        fmt::format(
            R"("spec":{{"minMember":{},"priorityClassName":"{}"}},"status":{{"phase":"{}"}})",
            minimum,
            name,
            name == "low" ? "Running" : "Inqueue"));
  }
  void PutPod(const std::string& group,
              int number,
              const std::string& node,
              const std::string& status,
              const std::string& meta = "") {
    cluster_.Put(
        kube::kPods,
        "ns",
        fmt::format("{}-{}", group, number),
        R"("spec":{"schedulerName":"volcano")" +
            (node.empty() ? "" : R"(,"nodeName":")" + node + '"') +
            R"(,"containers":[{"name":"c","resources":{"requests":{"cpu":"8"}}}]},"status":{)" +
            status + "}",
        R"(,"annotations":{"scheduling.k8s.io/group-name":")" + group + "\"}" + meta);
  }
  void PutWaiting(int number, const std::string& node = "") {
    PutPod("high",
           number,
           "",
           R"("phase":"Pending")" + (node.empty() ? "" : R"(,"nominatedNodeName":")" + node + '"'));
  }
  void PutVictim(int number, const std::string& status = "", bool terminating = false) {
    PutPod("low",
           number,
           fmt::format("n{}", number),
           R"("phase":"Running")" + (status.empty() ? "" : "," + status),
           terminating ? R"(,"deletionTimestamp":"2027-01-15T08:00:30Z")" : "");
  }
  void Start() {
    scheduler_ = std::make_unique<LiveScheduler>(*cluster_.client, options_, log_, clock_);
    ASSERT_TRUE(scheduler_->Start());
  }
  void Pass(Duration time) {
    cluster_.transport.Advance(Duration(0));
    while (time > Duration(0)) {
      const Duration sleep = std::clamp<Duration>(
          scheduler_->Step(), std::chrono::milliseconds(10), std::chrono::milliseconds(500));
      cluster_.transport.Advance(std::min(sleep, time));
      time -= std::min(sleep, time);
    }
    scheduler_->Step();
    cluster_.transport.Advance(Duration(0));
  }
  // Writes to pods but for those that tell why one waits, in order: "PATCH high-0/status".
  std::vector<std::string> Asked() const {
    std::vector<std::string> asked;
    for (const net::HttpRequest& write : cluster_.writes) {
      constexpr std::string_view kPath = "/api/v1/namespaces/ns/pods/";
      const bool tells_why = write.body.find("PodScheduled") != std::string::npos;
      if (!write.path.starts_with(kPath) || tells_why) continue;
      asked.push_back(write.method + " " + write.path.substr(kPath.size()));
    }
    return asked;
  }
  std::vector<std::string> Events(const std::string& text) const {
    std::vector<std::string> events = cluster_.WritesTo("/events");
    std::erase_if(events,
                  [&](const std::string& event) { return event.find(text) == std::string::npos; });
    return events;
  }
  std::string InVain() const {
    const std::string text = scheduler_->Metrics();
    const std::string name = "\nstrata_eviction_in_vain_total ";
    const std::size_t at = text.find(name);
    return at == std::string::npos ? "" : text.substr(at + name.size(), 1);
  }

  FakeCluster cluster_;
  EvictionClock clock_{cluster_.transport};
  obs::RecentLines lines_{1 << 20};
  obs::Log log_{"scheduler", clock_, {&lines_}};
  SchedulerOptions options_;
  std::unique_ptr<LiveScheduler> scheduler_;
};

TEST_F(LiveEvictionTest, NominatesMarksDeletesAndBindsWhenTheVictimsAreGone) {
  Start();
  Pass(seconds(5));
  EXPECT_THAT(Asked(),
              ElementsAre("PATCH high-0/status",
                          "PATCH high-1/status",
                          "PATCH low-1/status",
                          "PATCH low-0/status",
                          "DELETE low-1",
                          "DELETE low-0"));
  EXPECT_THAT(cluster_.WritesTo("/pods/high-0/status"),
              Contains(R"({"metadata":{"uid":"uid-high-0"},"status":{"nominatedNodeName":"n0"}})"));
  EXPECT_THAT(cluster_.WritesTo("/pods/low-0/status").at(0),
              AllOf(HasSubstr("because of gangpreempt: ns/high needs room"),
                    HasSubstr(R"("reason":"PreemptionByScheduler")")));
  const std::string deletion = cluster_.WritesTo("/pods/low-0").at(0);
  EXPECT_THAT(deletion, HasSubstr(R"("uid":"uid-low-0")"));
  EXPECT_THAT(deletion, Not(HasSubstr("gracePeriodSeconds"))) << "the pod's own";
  EXPECT_THAT(Events("gangpreempt: 2 of 2 pods, for ns/high"), SizeIs(1));
  EXPECT_THAT(Events("1 gang, 2 pods; waits up to 30s"), SizeIs(1));
  EXPECT_THAT(Events("Pod is evicted, because of gangpreempt: ns/high needs room"), SizeIs(2));

  PutWaiting(0, "n0");
  PutWaiting(1, "n1");
  for (const int i : {0, 1}) PutVictim(i, kMark, true);
  Pass(seconds(10));
  EXPECT_THAT(cluster_.WritesTo("/binding"), IsEmpty()) << "they take their time to stop";
  cluster_.Remove(kube::kPods, "ns", "low-0");
  Pass(seconds(2));
  EXPECT_THAT(cluster_.WritesTo("/binding"), IsEmpty());
  cluster_.Remove(kube::kPods, "ns", "low-1");
  Pass(seconds(2));
  EXPECT_THAT(cluster_.WritesTo("/binding"), SizeIs(2));
  EXPECT_THAT(Asked(), SizeIs(8)) << "nobody was evicted twice";
  EXPECT_EQ(InVain(), "0");
}

// A budget counts the pods that are ready.
TEST_F(LiveEvictionTest, ABudgetIsAskedFirstAndItsPodsStayReadyUntilTheyGo) {
  cluster_.Put(kube::kDisruptionBudgets,
               "ns",
               "all",
               R"("spec":{"minAvailable":0,"selector":{}},"status":{"disruptionsAllowed":2})");
  Start();
  Pass(seconds(5));
  EXPECT_THAT(Asked(),
              ElementsAre("POST low-1/eviction",
                          "POST low-0/eviction",
                          "PATCH high-0/status",
                          "PATCH high-1/status",
                          "PATCH low-1/status",
                          "PATCH low-0/status",
                          "POST low-1/eviction",
                          "POST low-0/eviction"));
  EXPECT_THAT(cluster_.WritesTo("/pods/low-0/status").at(0),
              AllOf(HasSubstr("DisruptionTarget"), Not(HasSubstr("Ready"))));
}

TEST_F(LiveEvictionTest, APlanIsMadeAgainSoonAlsoWhenTheClockIsSetBack) {
  cluster_.Put(kube::kDisruptionBudgets,
               "ns",
               "all",
               R"("spec":{"minAvailable":0,"selector":{}},"status":{"disruptionsAllowed":2})");
  bool refuses = true;
  cluster_.answer = [&](const net::HttpRequest& request) {
    const bool refuse = refuses && request.path.ends_with("/eviction");
    return refuse ? FakeCluster::Answer{429, "{}"} : FakeCluster::Answer{};
  };
  Start();
  Pass(seconds(5));
  EXPECT_THAT(cluster_.WritesTo("/pods/low-0/status"), IsEmpty());
  refuses = false;
  clock_.set_by = -std::chrono::hours(1);
  Pass(minutes(1));
  EXPECT_THAT(cluster_.WritesTo("/pods/low-0/status"), SizeIs(1));
}

TEST_F(LiveEvictionTest, ADeletionThatFailsIsSentAgain) {
  int refusals = 3;
  cluster_.answer = [&](const net::HttpRequest& request) {
    const bool refuse = request.method == "DELETE" && refusals-- > 0;
    return refuse ? FakeCluster::Answer{409, "{}"} : FakeCluster::Answer{};
  };
  Start();
  Pass(minutes(1));
  const auto asked = Asked();
  EXPECT_EQ(
      std::count_if(
          asked.begin(), asked.end(), [](const auto& one) { return one.starts_with("DELETE"); }),
      5);
}

// Killed after the nominations: nobody went, and nobody needs to know.
TEST_F(LiveEvictionTest, ASchedulerThatFindsNominationsAloneTakesThemBackAndPlansAnew) {
  PutWaiting(0, "n0");
  PutWaiting(1, "n1");
  Start();
  Pass(seconds(5));
  EXPECT_EQ(InVain(), "0");
  EXPECT_THAT(cluster_.WritesTo("/pods/low-0"), SizeIs(1));
  EXPECT_THAT(cluster_.WritesTo("/pods/low-1"), SizeIs(1));
}

// Killed after the first deletion.
TEST_F(LiveEvictionTest, ASchedulerThatFindsAPlanHalfDoneGoesOnWithIt) {
  PutWaiting(0, "n0");
  PutWaiting(1, "n1");
  PutVictim(0, kMark, true);
  PutVictim(1, kMark);
  Start();
  Pass(seconds(5));
  EXPECT_THAT(cluster_.WritesTo("/pods/low-0"), IsEmpty()) << "it is going already";
  EXPECT_THAT(cluster_.WritesTo("/pods/low-1"), SizeIs(1));
  EXPECT_THAT(Events("\"Evict\""), IsEmpty()) << "that was told";
  cluster_.Remove(kube::kPods, "ns", "low-0");
  cluster_.Remove(kube::kPods, "ns", "low-1");
  Pass(seconds(2));
  EXPECT_THAT(cluster_.WritesTo("/binding"), SizeIs(2));
  EXPECT_EQ(InVain(), "0");
}

// The budget that was asked when the plan was made is asked again: it may have changed since.
TEST_F(LiveEvictionTest, ASchedulerThatGoesOnAsksTheBudgetToo) {
  cluster_.Put(kube::kDisruptionBudgets,
               "ns",
               "all",
               R"("spec":{"minAvailable":0,"selector":{}},"status":{"disruptionsAllowed":2})");
  PutWaiting(0, "n0");
  PutWaiting(1, "n1");
  PutVictim(0, kMark, true);
  PutVictim(1, kMark);
  Start();
  Pass(seconds(5));
  EXPECT_THAT(Asked(), ElementsAre("PATCH low-1/status", "POST low-1/eviction"));
  EXPECT_THAT(cluster_.WritesTo("/pods/low-1/status"), ElementsAre(Not(HasSubstr("Ready"))));
}

// The same, and there is room elsewhere now: what is left of a broken gang goes nevertheless.
TEST_F(LiveEvictionTest, AGangOfWhichPodsHaveGoneIsNotLeftWithAFew) {
  PutWaiting(0, "n0");
  PutWaiting(1, "n1");
  cluster_.Remove(kube::kPods, "ns", "low-0");
  PutVictim(1, kMark);
  for (const char* node : {"n2", "n3"}) {
    cluster_.Put(kube::kNodes, "", node, R"("status":{"allocatable":{"cpu":"8","pods":"10"}})");
  }
  Start();
  Pass(seconds(5));
  EXPECT_THAT(cluster_.WritesTo("/binding"), SizeIs(2));
  EXPECT_THAT(cluster_.WritesTo("/pods/low-1"), SizeIs(1));
}

// Killed after the conditions: nobody has gone, and nobody has to.
TEST_F(LiveEvictionTest, AGangThatIsWholeStaysWhenThereIsRoomElsewhere) {
  PutWaiting(0, "n0");
  PutWaiting(1, "n1");
  for (const int i : {0, 1}) PutVictim(i, kMark);
  for (const char* node : {"n2", "n3"}) {
    cluster_.Put(kube::kNodes, "", node, R"("status":{"allocatable":{"cpu":"8","pods":"10"}})");
  }
  Start();
  Pass(seconds(5));
  EXPECT_THAT(cluster_.WritesTo("/binding"), SizeIs(2));
  EXPECT_THAT(cluster_.WritesTo("/pods/low-0"), IsEmpty());
  EXPECT_THAT(cluster_.WritesTo("/pods/low-0/status").back(), HasSubstr("EvictionCancelled"));
}

// Killed between the conditions; meanwhile the node of one pod went.
TEST_F(LiveEvictionTest, APlanThatCannotComeTrueAnyMoreIsTakenBack) {
  PutWaiting(0, "n0");
  PutWaiting(1, "gone");
  PutVictim(0, kMark);
  PutVictim(1, kMark);
  cluster_.Put(kube::kConfigMaps,
               "volcano-system",
               "volcano-scheduler-configmap",
               R"("data":{"volcano-scheduler.conf":"actions: allocate\n)"
               R"(tiers: [{plugins: [{name: priority}, {name: gang}, {name: predicates}]}]"})");
  Start();
  Pass(seconds(5));
  EXPECT_THAT(cluster_.WritesTo("/pods/low-0"), IsEmpty());
  EXPECT_THAT(cluster_.WritesTo("/pods/low-0/status").back(), HasSubstr("EvictionCancelled"));
  EXPECT_THAT(cluster_.WritesTo("/pods/high-1/status"),
              Contains(HasSubstr(R"("nominatedNodeName":null)")));
  EXPECT_EQ(InVain(), "0") << "nobody went";
}

// Killed between the conditions: who is told to go already stays, so a new plan cannot count on it.
TEST_F(LiveEvictionTest, ANewPlanTakesAllThatTheOldOneWouldHaveTaken) {
  PutGroup("low", 1);
  PutWaiting(0, "n0");
  PutWaiting(1, "n1");
  PutVictim(0, kMark);
  Start();
  Pass(seconds(5));
  EXPECT_THAT(cluster_.WritesTo("/pods/low-0"), SizeIs(1));
  EXPECT_THAT(cluster_.WritesTo("/pods/low-1"), SizeIs(1));
  EXPECT_EQ(InVain(), "0");
}

// Killed when all victims were gone and one of the binds was done.
TEST_F(LiveEvictionTest, ASchedulerThatFindsTheVictimsGoneBindsTheRest) {
  cluster_.Remove(kube::kPods, "ns", "low-0");
  cluster_.Remove(kube::kPods, "ns", "low-1");
  PutPod("high", 0, "n0", R"("phase":"Running")");
  PutWaiting(1, "n1");
  Start();
  Pass(seconds(5));
  EXPECT_THAT(cluster_.WritesTo("/pods/high-1/binding"), SizeIs(1));
}

// Killed after the first of two binds of "half"; "rival" has taken the room of the other since.
class LiveTakeBackTest : public LiveEvictionTest {
 protected:
  LiveTakeBackTest() {
    for (const char* group : {"low", "high"}) {
      for (const int i : {0, 1}) cluster_.Remove(kube::kPods, "ns", fmt::format("{}-{}", group, i));
      cluster_.Remove(kube::kPodGroups, "ns", group);
    }
    PutHalf();
    PutGroup("high", 1);
    PutPod("half", 0, "n0", R"("phase":"Running")");
    PutPod("half", 1, "", R"("phase":"Pending")");
    PutPod("high", 0, "n1", R"("phase":"Running")");
  }
  void PutHalf(const std::string& conditions = "") {
    cluster_.Put(
        kube::kPodGroups,
        "ns",
        "half",
        R"("spec":{"minMember":2},"status":{"phase":"Unknown","conditions":[)" + conditions + "]}");
  }
};

TEST_F(LiveTakeBackTest, AnIncompleteGangThatHasNoRoomIsEvictedAndToldWhy) {
  Start();
  Pass(seconds(5));
  EXPECT_THAT(Asked(), ElementsAre("PATCH half-0/status", "DELETE half-0"));
  EXPECT_THAT(cluster_.WritesTo("/pods/half-0/status").at(0),
              AllOf(HasSubstr("because of gangpreempt: ns/half cannot be completed: only 1 of its "
                              "2 pods have nodes, and there is no room for the rest of the gang"),
                    HasSubstr("volcano: taking back a gang that cannot be completed")));
  EXPECT_THAT(Events("gangpreempt: 1 of 2 pods, since only 1 of its 2 pods have nodes"), SizeIs(1));
  EXPECT_THAT(Events("Evicting"), IsEmpty()) << "nobody gets the room";
  EXPECT_EQ(InVain(), "0");
  Pass(minutes(1));
  EXPECT_THAT(Asked(), SizeIs(2)) << "it is not evicted twice";
}

TEST_F(LiveTakeBackTest, AGangThatWasScheduledOnceStays) {
  PutHalf(R"({"type":"Scheduled","status":"False"})");
  Start();
  Pass(minutes(2));
  EXPECT_THAT(Asked(), IsEmpty());
}

// Killed between condition and deletion; there is room for the rest now.
TEST_F(LiveTakeBackTest, AMarkOfAGangThatCanBeCompletedByNowIsTakenBack) {
  PutPod("half",
         0,
         "n0",
         R"("phase":"Running","conditions":[{"type":"DisruptionTarget","status":"True",)"
         R"("reason":"PreemptionByScheduler","message":"volcano: taking back a gang that cannot )"
         R"(be completed: gangpreempt for ns/half"}])");
  cluster_.Remove(kube::kPods, "ns", "high-0");
  Start();
  Pass(seconds(5));
  EXPECT_THAT(cluster_.WritesTo("/pods/half-0/status").back(), HasSubstr("EvictionCancelled"));
  EXPECT_THAT(cluster_.WritesTo("/pods/half-0"), IsEmpty());
  EXPECT_THAT(cluster_.WritesTo("/pods/half-1/binding"), SizeIs(1));
}

TEST_F(LiveTakeBackTest, ABudgetThatRefusesIsAskedAgainLater) {
  cluster_.Put(kube::kDisruptionBudgets,
               "ns",
               "all",
               R"("spec":{"minAvailable":0,"selector":{}},"status":{"disruptionsAllowed":1})");
  cluster_.answer = [](const net::HttpRequest& request) {
    const bool refuse = request.query.find("dryRun") != std::string::npos;
    return refuse ? FakeCluster::Answer{429, "{}"} : FakeCluster::Answer{};
  };
  Start();
  Pass(seconds(25));
  EXPECT_THAT(Asked(), ElementsAre("POST half-0/eviction"));
  Pass(seconds(10));
  EXPECT_THAT(Asked(), SizeIs(2));
}

TEST_F(LiveEvictionTest, MarksOfAPlanThatNeverWasAreTakenBack) {
  cluster_.Remove(kube::kPods, "ns", "high-0");
  cluster_.Remove(kube::kPods, "ns", "high-1");
  PutVictim(0, kMark);
  Start();
  Pass(seconds(5));
  EXPECT_THAT(Asked(), ElementsAre("PATCH low-0/status"));
  EXPECT_THAT(cluster_.WritesTo("/pods/low-0/status").at(0), HasSubstr("EvictionCancelled"));
}

// The job is deleted while its victims are stopping.
TEST_F(LiveEvictionTest, AVainPlanIsCounted) {
  Start();
  Pass(seconds(5));
  for (const int i : {0, 1}) PutVictim(i, kMark, true);
  Pass(seconds(5));
  EXPECT_EQ(InVain(), "0");
  for (const int i : {0, 1}) cluster_.Remove(kube::kPods, "ns", fmt::format("high-{}", i));
  cluster_.Remove(kube::kPodGroups, "ns", "high");
  Pass(seconds(5));
  EXPECT_EQ(InVain(), "1");
}

TEST_F(LiveEvictionTest, AVictimThatEndsWellWhileItStopsIsOnItsWayOut) {
  Start();
  Pass(seconds(5));
  PutPod("low",
         0,
         "n0",
         R"("phase":"Succeeded",)" + std::string(kMark),
         R"(,"deletionTimestamp":"2027-01-15T08:00:30Z")");
  Pass(seconds(5));
  EXPECT_THAT(cluster_.WritesTo("/binding"), IsEmpty());
  EXPECT_EQ(InVain(), "0");
}

}  // namespace
}  // namespace strata::live
