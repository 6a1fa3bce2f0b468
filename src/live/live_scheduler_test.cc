#include "live/live_scheduler.h"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "live/test_fake_cluster.h"

namespace strata::live {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kCurrent = R"("resourceVersion":"103")";  // of the pod, at first
constexpr const char* kBinding = "/namespaces/ns/pods/p/binding";
constexpr const char* kNuma = "/apis/nodeinfo.volcano.sh/v1alpha1/numatopologies";

class TransportClock final : public Clock {
 public:
  explicit TransportClock(const kube::FakeTransport& transport) : transport_(transport) {}
  [[nodiscard]] Time Now() const override {
    return Time{seconds(1'800'000'000)} + transport_.Now().time_since_epoch();
  }

 private:
  const kube::FakeTransport& transport_;
};

// A scheduler and a cluster of one node, one PodGroup and one pod, in one time.
class LiveSchedulerTest : public testing::Test {
 protected:
  LiveSchedulerTest() {
    options_.advises = false;
    options_.random = [] { return 0.5; };
    cluster_.Put(kube::kNodes, "", "n0", R"("status":{"allocatable":{"cpu":"8","pods":"10"}})");
    cluster_.Put(kube::kPodGroups, "ns", "g", R"("spec":{"minMember":1})");
    PutPod("");
  }

  void PutPod(const std::string& node) {
    cluster_.Put(kube::kPods,
                 "ns",
                 "p",
                 R"("spec":{"schedulerName":"volcano")" +
                     (node.empty() ? "" : R"(,"nodeName":")" + node + '"') +
                     R"(,"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]})",
                 R"(,"annotations":{"scheduling.k8s.io/group-name":"g"})");
  }
  void Start() {
    scheduler_ = std::make_unique<LiveScheduler>(*cluster_.client, options_, log_, clock_);
    ASSERT_TRUE(scheduler_->Start());
  }
  // Lets time pass, as the scheduler and its server see it.
  void Pass(Duration time) {
    cluster_.transport.Advance(Duration(0));
    while (time > Duration(0) && !scheduler_->HasLostLease()) {
      const Duration sleep = std::clamp<Duration>(
          scheduler_->Step(), std::chrono::milliseconds(10), std::chrono::milliseconds(500));
      cluster_.transport.Advance(std::min(sleep, time));
      time -= std::min(sleep, time);
    }
    scheduler_->Step();
    cluster_.transport.Advance(Duration(0));
  }
  std::vector<std::string> Binds() const { return cluster_.WritesTo(kBinding); }
  // Events that say `text`.
  std::vector<std::string> Events(const std::string& text) const {
    std::vector<std::string> events = cluster_.WritesTo("/events");
    std::erase_if(events,
                  [&](const std::string& event) { return event.find(text) == std::string::npos; });
    return events;
  }

  FakeCluster cluster_;
  TransportClock clock_{cluster_.transport};
  obs::RecentLines lines_{1 << 20};
  obs::Log log_{"scheduler", clock_, {&lines_}};
  SchedulerOptions options_;
  std::unique_ptr<LiveScheduler> scheduler_;
};

TEST_F(LiveSchedulerTest, BindsAPodOnceAndTellsOfIt) {
  Start();
  Pass(seconds(5));
  EXPECT_THAT(Binds(), SizeIs(1));
  EXPECT_THAT(Binds().front(), HasSubstr("\"n0\""));
  EXPECT_THAT(Events("Successfully assigned ns/p to n0"), SizeIs(1));
  PutPod("n0");
  Pass(minutes(1));
  EXPECT_THAT(Binds(), SizeIs(1));
}

TEST_F(LiveSchedulerTest, ACycleWhoseBudgetEndedIsFollowedByTheNextWithoutDelay) {
  options_.work_per_cycle = 1;  // one job per cycle
  for (const char* name : {"a", "b", "c", "d"}) {
    cluster_.Put(kube::kPodGroups, "ns", name, R"("spec":{"minMember":1})");
    cluster_.Put(kube::kPods,
                 "ns",
                 name,
                 R"("spec":{"schedulerName":"volcano","containers":)"
                 R"([{"name":"c","resources":{"requests":{"cpu":"1"}}}]})",
                 fmt::format(R"(,"annotations":{{"scheduling.k8s.io/group-name":"{}"}})", name));
  }
  Start();
  Pass(options_.schedule_period / 2);
  EXPECT_THAT(Binds(), SizeIs(1));
  EXPECT_THAT(cluster_.WritesTo("/binding"), SizeIs(5));
}

TEST_F(LiveSchedulerTest, BindsNothingBeforeItHasSeenTheWholeCluster) {
  cluster_.unreachable.insert(kNuma);
  Start();
  Pass(minutes(1));
  EXPECT_THAT(Binds(), IsEmpty()) << "nobody knows yet what the nodes tell of NUMA";
  EXPECT_FALSE(scheduler_->IsReady());
  cluster_.unreachable.clear();
  Pass(minutes(2));
  EXPECT_THAT(Binds(), SizeIs(1));
}

TEST_F(LiveSchedulerTest, IsNotReadyWhileAWatchIsOverdue) {
  Start();
  Pass(seconds(5));
  EXPECT_TRUE(scheduler_->IsReady());
  cluster_.silent.insert("/api/v1/nodes");  // its watch has nothing to tell, either
  Pass(minutes(3));
  EXPECT_FALSE(scheduler_->IsReady());
  EXPECT_GT(cluster_.transport.closings, 0);
  cluster_.silent.clear();
  Pass(minutes(3));
  EXPECT_TRUE(scheduler_->IsReady());
}

TEST_F(LiveSchedulerTest, DoesNotWaitForAnOptionalKindThatTheServerDoesNotHave) {
  cluster_.refused[kNuma] = 404;
  Start();
  Pass(seconds(5));
  EXPECT_THAT(Binds(), SizeIs(1));
}

TEST_F(LiveSchedulerTest, WaitsForAnOptionalKindThatItMayNotReadOrThatFails) {
  for (const int status : {401, 403, 500, 503}) {
    cluster_.refused[kNuma] = status;
    Start();
    Pass(minutes(1));
    EXPECT_THAT(Binds(), IsEmpty()) << status << ": it may have NUMA cells that matter";
    scheduler_.reset();
  }
  cluster_.refused.clear();
  Start();
  Pass(minutes(1));
  EXPECT_THAT(Binds(), SizeIs(1));
}

TEST_F(LiveSchedulerTest, ABindThatFailedIsToldAndTriedAgain) {
  int refused = 0;
  cluster_.answer = [&](const net::HttpRequest& request) {
    const bool refuse = request.path.ends_with(kBinding) && ++refused == 1;
    return refuse ? FakeCluster::Answer{422, R"({"kind":"Status","message":"no"})"}
                  : FakeCluster::Answer{};
  };
  Start();
  Pass(minutes(1));
  EXPECT_THAT(Events("\"FailedScheduling\""), SizeIs(1));
  EXPECT_THAT(Binds(), SizeIs(2));
  EXPECT_THAT(Events("Successfully assigned ns/p to n0"), SizeIs(1));
}

// The server holds the bind of a pod beyond the client's patience, and carries it out after the
// scheduler has asked what came of it.
TEST_F(LiveSchedulerTest, ABindThatTheServerHoldsCannotTakeRoomThatWasGivenUp) {
  std::string held;
  std::string version;
  cluster_.answer = [&](const net::HttpRequest& request) {
    if (request.path.ends_with("/pods/p/status") && held.find(kCurrent) != std::string::npos) {
      PutPod("");  // a new version
      version = "another";
      return FakeCluster::Answer{200, R"({"spec":{}})"};
    }
    if (!request.path.ends_with(kBinding) || !held.empty()) return FakeCluster::Answer{};
    held = request.body;
    return FakeCluster::Answer{0, ""};
  };
  Start();
  Pass(seconds(29));
  ASSERT_THAT(Binds(), SizeIs(1));
  Pass(minutes(1));
  EXPECT_EQ(version, "another") << "the pod was written to, and the bind that is held is void";
  EXPECT_THAT(Events("\"FailedScheduling\""), SizeIs(1));
  ASSERT_THAT(Binds(), SizeIs(2));
  EXPECT_THAT(Binds().back(), Not(HasSubstr(kCurrent))) << "by its new version";
}

TEST_F(LiveSchedulerTest, ANewListOfEverythingBindsNothingTwice) {
  Start();
  Pass(seconds(5));
  ASSERT_THAT(Binds(), SizeIs(1));
  cluster_.ExpireWatches();
  Pass(minutes(1));
  EXPECT_THAT(Binds(), SizeIs(1)) << "the bind holds until the pod is seen on its node";
  PutPod("n0");
  cluster_.ExpireWatches();
  Pass(minutes(1));
  EXPECT_THAT(Binds(), SizeIs(1));
}

TEST_F(LiveSchedulerTest, TellsPodPodGroupAndJobOfASchedulerNameThatNobodyServes) {
  Start();
  Pass(seconds(5));
  cluster_.Put(kube::kPods,
               "ns",
               "lost",
               R"("spec":{"schedulerName":"volcanoo","containers":[{"name":"c"}]})",
               R"(,"annotations":{"scheduling.k8s.io/group-name":"g"},"ownerReferences":[)"
               R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":"j",)"
               R"("uid":"uid-j","controller":true}])");
  Pass(minutes(1));
  const std::vector<std::string> told = Events("no scheduler with the name");
  EXPECT_THAT(told, SizeIs(3));
  EXPECT_THAT(told, Contains(AllOf(HasSubstr("\"Pod\""), HasSubstr("FailedScheduling"))));
  EXPECT_THAT(told, Contains(AllOf(HasSubstr("\"PodGroup\""), HasSubstr("SchedulerNotFound"))));
  EXPECT_THAT(told, Contains(AllOf(HasSubstr("\"Job\""), HasSubstr("SchedulerNotFound"))));
  EXPECT_THAT(cluster_.WritesTo("/pods/lost/status"),
              Contains(AllOf(HasSubstr("PodScheduled"), HasSubstr("volcanoo"))));
}

TEST_F(LiveSchedulerTest, TellsAPodThatItsPodGroupDoesNotExist) {
  Start();
  cluster_.Put(kube::kPods,
               "ns",
               "alone",
               R"("spec":{"schedulerName":"volcano","containers":[{"name":"c"}]})",
               R"(,"annotations":{"scheduling.k8s.io/group-name":"absent"})");
  Pass(minutes(1));
  EXPECT_THAT(Events("PodGroup ns/absent does not exist"), SizeIs(1));
  EXPECT_THAT(cluster_.WritesTo("/pods/alone/status"),
              Contains(HasSubstr("PodGroup ns/absent does not exist")));
}

TEST_F(LiveSchedulerTest, TellsThePodGroupThatItsTopologyLimitsNothing) {
  cluster_.Put(kube::kHyperNodes,
               "",
               "rack",
               R"("spec":{"tier":1,"members":[{"type":"Node","selector":{"exactMatch":)"
               R"({"name":"n0"}}}]})");
  cluster_.Put(kube::kPodGroups,
               "ns",
               "g",
               R"("spec":{"minMember":1,"networkTopology":{"mode":"hard",)"
               R"("highestTierAllowed":9}})");
  Start();
  Pass(minutes(1));
  EXPECT_THAT(Events("is above every HyperNode"), SizeIs(1));
  EXPECT_THAT(cluster_.WritesTo("/podgroups/g"),
              Contains(AllOf(HasSubstr(R"("type":"TopologyNotBinding","status":"True")"),
                             HasSubstr("is above every HyperNode"))));
}

// As after a bind that a former leader had sent and the server carried out late.
TEST_F(LiveSchedulerTest, TellsOnceOfANodeWhosePodsRequestMoreThanItHas) {
  Start();
  Pass(seconds(5));
  cluster_.Put(kube::kPods,
               "ns",
               "late",
               R"("spec":{"schedulerName":"volcano","nodeName":"n0","containers":[)"
               R"({"name":"c","resources":{"requests":{"cpu":"8"}}}]})",
               R"(,"annotations":{"scheduling.k8s.io/group-name":"g"})");
  Pass(minutes(1));
  PutPod("n0");
  Pass(minutes(1));
  ASSERT_THAT(Events("NodeOvercommitted"), SizeIs(1));
  EXPECT_THAT(Events("NodeOvercommitted").front(),
              HasSubstr("pods request 9 cpu, the node has 8; nothing is placed there"));
}

TEST_F(LiveSchedulerTest, AnInvalidConfigurationIsToldAndThePreviousOneStays) {
  cluster_.Put(kube::kConfigMaps,
               "volcano-system",
               "volcano-scheduler-configmap",
               R"("data":{"volcano-scheduler.conf":"actions: fly"})");
  Start();
  Pass(seconds(5));
  EXPECT_THAT(Events("InvalidConfiguration"), SizeIs(1));
  EXPECT_THAT(Binds(), SizeIs(1)) << "by the default configuration";
}

// As Volcano's chart names it: after the release, and the key after the file.
TEST_F(LiveSchedulerTest, TheConfigMapMayHaveAnotherName) {
  cluster_.Put(kube::kConfigMaps,
               "batch",
               "prod-scheduler-configmap",
               R"("data":{"volcano-scheduler-ci.conf":"actions: fly"})");
  options_.conf_map = "batch/prod-scheduler-configmap";
  Start();
  Pass(seconds(5));
  EXPECT_THAT(Events("InvalidConfiguration"), SizeIs(1));
  EXPECT_THAT(lines_.Since(0).lines, Not(Contains(HasSubstr("ConfigMap not found"))));
}

TEST_F(LiveSchedulerTest, TheDefaultConfigurationIsTakenWithAWord) {
  Start();
  Pass(seconds(5));
  EXPECT_THAT(lines_.Since(0).lines,
              Contains(AllOf(HasSubstr("ConfigMap not found, using the default configuration"),
                             HasSubstr("volcano-system/volcano-scheduler-configmap"))));
}

// A server that keeps one lease until `alive` is false; then it answers no write any more.
struct LeaseServer {
  FakeCluster::Answer operator()(const net::HttpRequest& request) const {
    if (request.path.find("/leases") == std::string::npos) return {*alive ? 201 : 0, "{}"};
    if (request.method == "GET") return {lease->empty() ? 404 : 200, *lease};
    if (!*alive) return {0, ""};
    *lease = request.body;
    if (lease->find("resourceVersion") == std::string::npos) {
      lease->insert(lease->find("\"name\":\"volcano\""), "\"resourceVersion\":\"7\",");
    }
    return {request.method == "POST" ? 201 : 200, *lease};
  }
  std::shared_ptr<std::string> lease = std::make_shared<std::string>();
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);
};

class LiveSchedulerWithLeaseTest : public LiveSchedulerTest {
 protected:
  LiveSchedulerWithLeaseTest() {
    cluster_.answer = server;
    options_.lease.emplace();
    options_.lease->ns = "volcano-system";
    options_.lease->name = "volcano";
    options_.lease->identity = "me";
  }
  const LeaseServer server;
};

TEST_F(LiveSchedulerWithLeaseTest, ALostLeaseEndsItAndNothingIsBoundAfterwards) {
  Start();
  Pass(minutes(1));
  EXPECT_THAT(Binds(), SizeIs(1));
  *server.alive = false;
  Pass(minutes(1));
  EXPECT_TRUE(scheduler_->HasLostLease());
  scheduler_->Drain(Duration(0));
  EXPECT_FALSE(scheduler_->Finish());
}

// The server asks the leader to come back later; by then another one leads.
TEST_F(LiveSchedulerWithLeaseTest, ARetryOfABindIsNotSentOnceTheLeaseIsLost) {
  cluster_.answer = [this](const net::HttpRequest& request) {
    if (!request.path.ends_with(kBinding)) return server(request);
    *server.alive = false;
    return FakeCluster::Answer{429, "{}", {{"Retry-After", "20"}}};
  };
  Start();
  Pass(minutes(1));
  ASSERT_TRUE(scheduler_->HasLostLease());
  cluster_.transport.Advance(minutes(5));
  EXPECT_THAT(Binds(), SizeIs(1));
}

// The last leader has just filled the node and released the lease; the watch of pods is behind.
TEST_F(LiveSchedulerWithLeaseTest, BindsNothingBeforeItHasSeenWhatTheLastLeaderBound) {
  const auto lease_of = [](const char* holder, int duration, int version) {
    return fmt::format(
        R"({{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{{"name":"volcano",)"
        R"("resourceVersion":"{}"}},"spec":{{"holderIdentity":"{}","leaseDurationSeconds":{}}}}})",
        version,
        holder,
        duration);
  };
  *server.lease = lease_of("other", 15, 7);
  Start();
  Pass(seconds(5));
  cluster_.stale.insert("/api/v1/pods");
  cluster_.Put(kube::kPods,
               "ns",
               "bound",
               R"("spec":{"schedulerName":"volcano","nodeName":"n0","containers":[)"
               R"({"name":"c","resources":{"requests":{"cpu":"8"}}}]})");
  *server.lease = lease_of("", 1, 8);
  Pass(seconds(20));
  EXPECT_THAT(Binds(), IsEmpty());
  EXPECT_THAT(Events("\"Unschedulable\""), Not(IsEmpty())) << "it decides by what it has seen";
}

TEST_F(LiveSchedulerWithLeaseTest, ANewLeaderDoesNotWaitForAnOptionalKindThatIsMissing) {
  cluster_.refused[kNuma] = 404;
  Start();
  Pass(minutes(1));
  EXPECT_THAT(Binds(), SizeIs(1));
}

TEST_F(LiveSchedulerWithLeaseTest, ABindIsCancelledBeforeAnotherMayLead) {
  cluster_.answer = [this](const net::HttpRequest& request) {
    if (!request.path.ends_with(kBinding)) return server(request);
    *server.alive = false;
    return FakeCluster::Answer{0, ""};
  };
  Start();
  Pass(minutes(1));
  ASSERT_TRUE(scheduler_->HasLostLease());
  for (const net::ClientRequest& sent : cluster_.transport.sent) {
    if (!sent.message.path.ends_with(kBinding)) continue;
    EXPECT_LE(sent.limits.total, options_.lease->renew);
  }
}

// The thread of the scheduler does nothing for two minutes, while the others go on.
TEST_F(LiveSchedulerWithLeaseTest, GivesUpTheLeaseWhenItsThreadHangs) {
  Start();
  Pass(minutes(1));
  EXPECT_EQ(scheduler_->LateThread(), "");
  cluster_.transport.Advance(seconds(70));
  EXPECT_THAT(scheduler_->LateThread(), HasSubstr("thread scheduler has not responded for 7"));
  const std::size_t writes = cluster_.WritesTo("/leases/volcano").size();
  cluster_.transport.Advance(minutes(1));
  EXPECT_THAT(cluster_.WritesTo("/leases/volcano"), SizeIs(writes)) << "it is not renewed";
  Pass(seconds(1));
  EXPECT_TRUE(scheduler_->HasLostLease());
}

}  // namespace
}  // namespace strata::live
