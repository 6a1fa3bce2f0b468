// Volcano's rules for jobs, one by one, and random histories that must keep them all.
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "controllers/test_cluster.h"
#include "controllers/test_jobs.h"
#include "tests/support/property.h"

namespace strata::controllers {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::int64_t StatusNumber(TestCluster& cluster, const char* key) {
  return IntegerAt(cluster.At("jobs", "train"), {"status", key});
}

json TimedPolicy(const std::string& event, const std::string& action, const std::string& timeout) {
  json policy = Policy(event, action);
  policy["timeout"] = timeout;
  return policy;
}

TEST(JobPolicies, ActsOnAnEvictedPodThatIsNotReplacedInTime) {
  TestCluster cluster = Running({{"policies", {TimedPolicy("PodEvicted", "AbortJob", "10s")}}});
  cluster.LosePod("train-worker-0");
  cluster.Settle();
  EXPECT_EQ(cluster.Phase(), "Pending");
  EXPECT_THAT(cluster.Names("pods"), SizeIs(2));  // the new one is there and waits
  cluster.now += seconds(9);
  cluster.Settle();
  EXPECT_EQ(cluster.Phase(), "Pending");
  EXPECT_EQ(cluster.again, seconds(1));
  cluster.now += seconds(1);
  cluster.Settle();
  EXPECT_EQ(cluster.Phase(), "Aborted");
}

TEST(JobPolicies, AnEvictedPodThatIsReplacedInTimeIsForgotten) {
  TestCluster cluster = Running({{"policies", {TimedPolicy("PodEvicted", "AbortJob", "10s")}}});
  cluster.LosePod("train-worker-0");
  cluster.Settle();
  cluster.SetPods("Running");
  cluster.Settle();
  EXPECT_EQ(cluster.again, std::nullopt);
  EXPECT_THAT(cluster.memory.lost, IsEmpty());
  cluster.now += seconds(60);
  cluster.Settle();
  EXPECT_EQ(cluster.Phase(), "Running");
}

// Volcano's clients wait for a phase such as Restarting together with pods that terminate.
TEST(JobPolicies, CountsThePodsThatAnActionKillsAsTerminatingInTheSameWrite) {
  for (const auto& [action, phase] : {std::pair("RestartJob", "Restarting"),
                                      std::pair("AbortJob", "Aborting"),
                                      std::pair("CompleteJob", "Completing"),
                                      std::pair("TerminateJob", "Terminating")}) {
    TestCluster cluster = Running({{"policies", {Policy("PodFailed", action)}}});
    cluster.SetPod("train-worker-1", "Failed", 1);
    EXPECT_TRUE(cluster.Step());
    EXPECT_EQ(cluster.Phase(), phase);
    const bool restarts = cluster.Phase() == "Restarting";
    EXPECT_EQ(StatusNumber(cluster, "terminating"), restarts ? 2 : 1) << action;
    EXPECT_EQ(StatusNumber(cluster, "running"), 0) << action;
    EXPECT_EQ(StatusNumber(cluster, "failed"), restarts ? 0 : 1) << action;
  }
}

TEST(JobPolicies, CountsThePodThatARestartOfPartOfTheJobKillsAsTerminating) {
  TestCluster cluster = Running({{"policies", {Policy("PodFailed", "RestartPod")}}});
  cluster.SetPod("train-worker-1", "Failed", 1);
  EXPECT_TRUE(cluster.Step());
  EXPECT_EQ(cluster.Phase(), "Restarting");
  EXPECT_EQ(StatusNumber(cluster, "terminating"), 1);
  EXPECT_EQ(StatusNumber(cluster, "running"), 1);
}

TEST(JobPolicies, CountsWhatACommandKillsAsTerminatingAndTheLastTryAsItIs) {
  TestCluster aborted = Running();
  aborted.Command("AbortJob");
  EXPECT_TRUE(aborted.Step());
  EXPECT_EQ(aborted.Phase(), "Aborting");
  EXPECT_EQ(StatusNumber(aborted, "terminating"), 2);

  TestCluster last = Running({{"maxRetry", 1}, {"policies", {Policy("PodFailed", "RestartJob")}}});
  last.SetPod("train-worker-1", "Failed", 1);
  EXPECT_TRUE(last.Step());
  EXPECT_EQ(last.Phase(), "Restarting");
  EXPECT_EQ(StatusNumber(last, "failed"), 1) << "it is kept: it tells why the job failed";
  EXPECT_EQ(StatusNumber(last, "terminating"), 1);
}

TEST(JobPolicies, IgnoresPodPendingOfAPodThatRunsInTime) {
  TestCluster cluster(
      JobOf({Task("worker", 1)}, {{"policies", {TimedPolicy("PodPending", "AbortJob", "1m")}}}));
  cluster.Settle();
  cluster.SetGroupPhase("Inqueue");
  cluster.Settle();
  EXPECT_EQ(cluster.again, seconds(60));
  cluster.SetPods("Running");
  cluster.now += seconds(120);
  cluster.Settle();
  EXPECT_EQ(cluster.Phase(), "Running");
}

TEST(JobPolicies, ATaskThatRestartsTooOftenHasFailed) {
  TestCluster cluster = Running(
      json::object(), {{"maxRetry", 2}, {"policies", {Policy("TaskFailed", "TerminateJob")}}});
  const auto restart = [&](const char* pod, int times) {
    cluster.At("pods", pod)["status"]["containerStatuses"] = {{{"restartCount", times}}};
  };
  restart("train-worker-0", 1);
  cluster.Settle();
  EXPECT_EQ(cluster.Phase(), "Running");
  restart("train-worker-1", 1);
  cluster.Settle();
  EXPECT_EQ(cluster.Phase(), "Terminated");
}

TEST(JobPolicies, MaxRetryMinusOneMeansThatATaskNeverFails) {
  TestCluster cluster = Running(
      json::object(), {{"maxRetry", -1}, {"policies", {Policy("TaskFailed", "TerminateJob")}}});
  cluster.At("pods", "train-worker-0")["status"]["containerStatuses"] = {{{"restartCount", 99}}};
  cluster.Settle();
  EXPECT_EQ(cluster.Phase(), "Running");
}

TEST(JobPolicies, TheExitCodeIsThatOfTheFirstContainer) {
  TestCluster cluster = Running({{"policies", {{{"exitCode", 3}, {"action", "AbortJob"}}}}});
  cluster.SetPod("train-worker-0", "Failed", 1);
  cluster.At("pods", "train-worker-0")["status"]["containerStatuses"].push_back(
      {{"state", {{"terminated", {{"exitCode", 3}}}}}});
  cluster.Settle();
  EXPECT_EQ(cluster.Phase(), "Running");
  cluster.SetPod("train-worker-1", "Failed", 3);
  cluster.Settle();
  EXPECT_EQ(cluster.Phase(), "Aborted");
}

TEST(JobPolicies, AnyEventIncludesAllExceptPendingAndRunning) {
  TestCluster cluster = Running({{"policies", {Policy("*", "TerminateJob")}}});
  EXPECT_EQ(cluster.Phase(), "Running");
  cluster.SetGroupPhase("Unknown");
  cluster.Settle();
  EXPECT_EQ(cluster.Phase(), "Terminated");
}

TEST(JobPolicies, RestartTaskTakesTheWholeTaskAndNoOther) {
  TestCluster cluster(JobOf({Task("ps", 1), Task("worker", 2)},
                            {{"policies", {Policy("PodFailed", "RestartTask")}}}));
  cluster.Settle();
  cluster.SetGroupPhase("Inqueue");
  cluster.Settle();
  cluster.SetPods("Running");
  cluster.Settle();
  std::map<std::string, std::string> before;
  for (const std::string& name : cluster.Names("pods")) {
    before[name] = TextAt(cluster.At("pods", name), {"metadata", "uid"});
  }
  cluster.SetPod("train-worker-1", "Failed", 1);
  cluster.Settle();
  for (const auto& [name, uid] : before) {
    const bool same = TextAt(cluster.At("pods", name), {"metadata", "uid"}) == uid;
    EXPECT_EQ(same, name == "train-ps-0") << name;
  }
  EXPECT_EQ(StatusNumber(cluster, "version"), 0);
  EXPECT_EQ(StatusNumber(cluster, "retryCount"), 1);
}

TEST(JobPolicies, RestartPartitionTakesThePodsOfThePartition) {
  TestCluster cluster(JobOf(
      {Task("worker", 4, {{"partitionPolicy", {{"totalPartitions", 2}, {"partitionSize", 2}}}})},
      {{"policies", {Policy("PodFailed", "RestartPartition")}}}));
  cluster.Settle();
  cluster.SetGroupPhase("Inqueue");
  cluster.Settle();
  cluster.SetPods("Running");
  cluster.Settle();
  cluster.SetPod("train-worker-3", "Failed", 1);
  cluster.Settle();
  std::vector<std::string> run;
  for (const std::string& name : cluster.Names("pods")) {
    const json& pod = cluster.At("pods", name);
    if (TextAt(pod, {"status", "phase"}) == "Running") run.push_back(name);
  }
  EXPECT_THAT(run, ElementsAre("train-worker-0", "train-worker-1"));
  EXPECT_THAT(cluster.Names("pods"), SizeIs(4));
}

TEST(JobStates, AJobThatIsScaledToNothingStaysAndGrowsAgain) {
  TestCluster cluster = Running();
  json& task = cluster.At("jobs", "train")["spec"]["tasks"][0];
  task["replicas"] = 0;
  task["minAvailable"] = 0;
  cluster.Settle();
  EXPECT_EQ(cluster.Phase(), "Running");
  EXPECT_THAT(cluster.Names("pods"), IsEmpty());
  cluster.At("jobs", "train")["spec"]["tasks"][0]["replicas"] = 1;
  cluster.Settle();
  EXPECT_THAT(cluster.Names("pods"), ElementsAre("train-worker-0"));
}

TEST(JobStates, MinSuccessThatIsMissedIsAFailure) {
  TestCluster cluster = Running({{"minSuccess", 2}, {"minAvailable", 1}});
  cluster.SetPod("train-worker-0", "Succeeded");
  cluster.SetPod("train-worker-1", "Failed", 1);
  cluster.Settle();
  EXPECT_EQ(cluster.Phase(), "Failed");
}

TEST(JobStates, CompletesWhenMinAvailablePodsSucceededThoughATaskWantsMore) {
  TestCluster cluster = Running({{"minAvailable", 1}});  // the task's own minimum is 2
  cluster.SetPod("train-worker-0", "Succeeded");
  cluster.SetPod("train-worker-1", "Failed", 1);
  cluster.Settle();
  EXPECT_EQ(cluster.Phase(), "Completed");
}

TEST(JobStates, SuspendKeepsWhatHasEndedAndResumeStartsAllAnew) {
  TestCluster cluster = Running();
  cluster.SetPod("train-worker-0", "Succeeded");
  cluster.Command("AbortJob");
  cluster.Settle();
  EXPECT_EQ(cluster.Phase(), "Aborted");
  EXPECT_THAT(cluster.Names("pods"), ElementsAre("train-worker-0"));
  cluster.Command("ResumeJob");
  cluster.Settle();
  EXPECT_EQ(cluster.Phase(), "Pending");
  EXPECT_THAT(cluster.Names("pods"), IsEmpty());
  EXPECT_EQ(StatusNumber(cluster, "retryCount"), 1);
}

TEST(JobStates, ACommandForAJobThatHasEndedIsTakenAndDoesNothing) {
  TestCluster cluster = Running();
  cluster.SetPods("Succeeded");
  cluster.Settle();
  for (const char* action : {"RestartJob", "ResumeJob", "AbortJob", "NoSuchAction"}) {
    cluster.Command(action);
    cluster.Settle();
    EXPECT_EQ(cluster.Phase(), "Completed") << action;
    EXPECT_THAT(cluster.Names("commands"), IsEmpty());
  }
}

TEST(JobStates, AJobThatWasAbortedDoesNotExpire) {
  TestCluster cluster = Running({{"ttlSecondsAfterFinished", 1}});
  cluster.Command("AbortJob");
  cluster.Settle();
  cluster.now += seconds(100);
  cluster.Settle();
  EXPECT_TRUE(cluster.Has("jobs", "train"));
}

TEST(JobDependencies, WaitsForAllDependenciesByDefault) {
  for (const char* iteration : {"", "all", "any"}) {
    json depends = {{"name", {"a", "b"}}};
    if (*iteration != '\0') depends["iteration"] = iteration;
    TestCluster cluster(
        JobOf({Task("a", 1), Task("b", 1), Task("c", 1, {{"dependsOn", std::move(depends)}})}));
    cluster.Settle();
    cluster.SetGroupPhase("Inqueue");
    cluster.Settle();
    cluster.SetPod("train-a-0", "Succeeded");
    cluster.Settle();
    EXPECT_EQ(cluster.Has("pods", "train-c-0"), std::string(iteration) == "any") << iteration;
    cluster.SetPod("train-b-0", "Running");
    cluster.Settle();
    EXPECT_TRUE(cluster.Has("pods", "train-c-0")) << iteration;
  }
}

TEST(JobObjects, HostsAndTheConfigOfSshFollowTheSizeAndTheKeysStay) {
  TestCluster cluster =
      Running({{"plugins", {{"svc", json::array()}, {"ssh", json::array()}}}, {"minAvailable", 1}});
  const std::string key = TextAt(cluster.At("secrets", "train-ssh"), {"data", "id_rsa"});
  cluster.At("jobs", "train")["spec"]["tasks"][0]["replicas"] = 3;
  cluster.Settle();
  const json& secret = cluster.At("secrets", "train-ssh");
  EXPECT_THAT(DecodeBase64(TextAt(secret, {"data", "config"})).value_or(""),
              HasSubstr("Host train-worker-2\n"));
  EXPECT_EQ(TextAt(secret, {"data", "id_rsa"}), key);
  EXPECT_THAT(TextAt(cluster.At("configmaps", "train-svc"), {"data", "VC_WORKER_HOSTS"}),
              HasSubstr("train-worker-2.train"));
}

TEST(JobObjects, WorksWhereTheApiHasNoNetworkPolicies) {
  TestCluster cluster(JobOf({Task("worker", 1)}, {{"plugins", {{"svc", json::array()}}}}));
  const JobPlan made = ReconcileJob(cluster.View());
  std::vector<std::string> optional;
  for (const std::vector<Write>& step : made.plan.steps) {
    for (const Write& write : step) {
      if (write.optional) optional.emplace_back(write.resource.plural);
    }
  }
  EXPECT_THAT(optional, ElementsAre("networkpolicies"));
}

// --- random histories

bool IsLive(const std::string& phase) {
  return phase == "Pending" || phase == "Running";
}

bool IsOver(const std::string& phase) {
  return phase == "Completed" || phase == "Failed" || phase == "Terminated";
}

class History {
 public:
  explicit History(TestCluster& cluster) : cluster_(cluster) {}

  // Something happens to the job, and its controller comes to rest.
  void Go() {
    constexpr const char* kCommands[] = {"AbortJob", "ResumeJob", "RestartJob", "CompleteJob"};
    constexpr const char* kPhases[] = {"Running", "Running", "Succeeded", "Failed", "Pending"};
    constexpr const char* kGroups[] = {"Inqueue", "Running", "Unknown", "Pending"};
    const std::vector<std::string> pods = cluster_.Names("pods");
    const auto some_pod = [&] {
      return pods[static_cast<std::size_t>(*testing::Below(static_cast<int>(pods.size())))];
    };
    switch (*testing::Below(8)) {
      case 0:
        cluster_.Command(kCommands[*testing::Below(4)]);
        break;
      case 1:
        if (!pods.empty()) cluster_.LosePod(some_pod());
        break;
      case 2:
        cluster_.now += seconds(*testing::Below(30));
        break;
      case 3:
        cluster_.At("jobs", "train")["spec"]["tasks"][0]["replicas"] = *testing::Below(4);
        break;
      case 4:
      case 5:
        if (!cluster_.Names("podgroups").empty()) {
          cluster_.SetGroupPhase(kGroups[*testing::Below(4)]);
        }
        break;
      default:
        if (!pods.empty()) cluster_.SetPod(some_pod(), kPhases[*testing::Below(5)], 3);
    }
    cluster_.Settle();
    Check();
  }

 private:
  void Check() {
    const std::string phase = cluster_.Phase();
    const json& job = cluster_.At("jobs", "train");
    const std::int64_t version = IntegerAt(job, {"status", "version"});
    const std::int64_t retries = IntegerAt(job, {"status", "retryCount"});
    RC_ASSERT(version >= version_);
    RC_ASSERT(retries >= retries_);
    RC_ASSERT(retries <= 3);
    if (IsOver(phase_)) RC_ASSERT(phase == phase_);
    RC_ASSERT(ListAt(job, {"status", "conditions"}).back()["status"] == phase);
    RC_ASSERT(cluster_.Names("commands").empty());
    RC_ASSERT(cluster_.twice.empty());
    RC_ASSERT(cluster_.Names("podgroups").empty() != IsLive(phase));
    for (const std::string& name : cluster_.Names("pods")) {
      const PodSeen pod = SeePod(cluster_.At("pods", name));
      if (!IsLive(phase)) {
        RC_ASSERT(pod.finished());
        continue;
      }
      RC_ASSERT(pod.job_version == version);
      RC_ASSERT(pod.index < IntegerAt(job["spec"]["tasks"][0], {"replicas"}));
    }
    version_ = version;
    retries_ = retries;
    phase_ = phase;
  }

  TestCluster& cluster_;
  std::string phase_;
  std::int64_t version_ = 0;
  std::int64_t retries_ = 0;
};

// Whatever happens to a job under whatever policy, its controller comes to rest, versions and
// retries only grow, what is over stays over, and no pod is left where none may be.
TEST(JobProperty, RandomHistoriesKeepTheRules) {
  testing::CheckProperty(100, [] {
    constexpr const char* kEvents[] = {
        "PodFailed", "PodEvicted", "PodPending", "TaskCompleted", "TaskFailed", "Unknown", "*"};
    constexpr const char* kActions[] = {"AbortJob",
                                        "RestartJob",
                                        "RestartTask",
                                        "RestartPod",
                                        "RestartPartition",
                                        "TerminateJob",
                                        "CompleteJob",
                                        "ResumeJob"};
    json policy = Policy(kEvents[*testing::Below(7)], kActions[*testing::Below(8)]);
    if (policy["event"] == "PodPending" || *testing::Below(3) == 0) policy["timeout"] = "10s";
    TestCluster cluster(JobOf({Task("worker", 2, {{"minAvailable", 0}})},
                              {{"policies", {policy}}, {"minAvailable", 0}}));
    cluster.Settle();
    History history(cluster);
    const int length = 1 + *testing::Below(25);
    for (int i = 0; i < length; ++i) history.Go();
  });
}

}  // namespace
}  // namespace strata::controllers
