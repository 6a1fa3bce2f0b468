#include "controllers/job_reconcile.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/test_cluster.h"
#include "controllers/test_jobs.h"
#include "tests/support/property.h"

namespace strata::controllers {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(ReconcileJob, ANewJobGetsItsPodGroupAndIsPending) {
  TestCluster cluster(JobOf({Task("worker", 2)}));
  cluster.Settle();
  EXPECT_EQ(cluster.GroupName(), "train-uid-1");
  EXPECT_EQ(cluster.Phase(), "Pending");
  EXPECT_THAT(cluster.Names("pods"), IsEmpty());
  const json& group = cluster.At("podgroups", "train-uid-1");
  EXPECT_EQ(group["spec"]["minMember"], 2);
  EXPECT_EQ(group["spec"]["minTaskMember"]["worker"], 2);
  EXPECT_EQ(group["metadata"]["ownerReferences"][0]["uid"], "uid-1");
}

TEST(ReconcileJob, CreatesPodsOnceThePodGroupIsAdmitted) {
  TestCluster cluster(JobOf({Task("worker", 2)}));
  cluster.Settle();
  cluster.SetGroupPhase("Inqueue");
  cluster.Settle();
  EXPECT_THAT(cluster.Names("pods"), ElementsAre("train-worker-0", "train-worker-1"));
  const json& pod = cluster.At("pods", "train-worker-1");
  EXPECT_EQ(pod["spec"]["unheardOf"]["kept"], true);
  EXPECT_EQ(pod["spec"]["schedulerName"], "volcano");
  EXPECT_EQ(pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"], "train-uid-1");
  EXPECT_EQ(pod["metadata"]["annotations"]["volcano.sh/task-index"], "1");
  EXPECT_EQ(pod["metadata"]["annotations"]["volcano.sh/template-uid"], "train-worker");
  EXPECT_EQ(pod["metadata"]["labels"]["volcano.sh/job-name"], "train");
  EXPECT_EQ(pod["metadata"]["ownerReferences"][0]["controller"], true);
}

TEST(ReconcileJob, PodsOfAJobThatNamesNoSchedulerGetOurs) {
  for (const std::string name : {"", "other"}) {
    json job = JobOf({Task("worker", 1)});
    job["spec"]["schedulerName"] = name;
    TestCluster cluster(job);
    cluster.scheduler = "tide";
    cluster.Settle();
    cluster.SetGroupPhase("Inqueue");
    cluster.Settle();
    EXPECT_EQ(cluster.At("pods", "train-worker-0")["spec"]["schedulerName"],
              name.empty() ? "tide" : name);
  }
}

TEST(ReconcileJob, PodsTakeThePriorityClassOfTheJobUnlessTheirTemplateNamesOne) {
  const json own = {{"template", {{"spec", {{"priorityClassName", "low"}}}}}};
  TestCluster cluster(
      JobOf({Task("chief", 1, own), Task("worker", 1)}, {{"priorityClassName", "high"}}));
  cluster.Settle();
  cluster.SetGroupPhase("Inqueue");
  cluster.Settle();
  EXPECT_EQ(TextAt(cluster.At("pods", "train-chief-0"), {"spec", "priorityClassName"}), "low");
  EXPECT_EQ(TextAt(cluster.At("pods", "train-worker-0"), {"spec", "priorityClassName"}), "high");
}

TEST(ReconcileJob, SelectsThePodsOfAPartitionedTaskByMatchLabels) {
  const json parts = {{"partitionPolicy", {{"totalPartitions", 2}, {"partitionSize", 1}}}};
  TestCluster cluster(JobOf({Task("worker", 2, parts)}));
  cluster.Settle();
  const json& group = cluster.At("podgroups", cluster.GroupName());
  EXPECT_EQ(group["spec"]["subGroupPolicy"][0]["labelSelector"],
            (json{{"matchLabels", {{"volcano.sh/task-spec", "worker"}}}}));
}

TEST(ReconcileJob, TellsInItsStatusWhatTheServerRefusesUntilItDoesNot) {
  TestCluster cluster(JobOf({Task("worker", 2)}));
  cluster.Settle();
  cluster.SetGroupPhase("Inqueue");
  cluster.fails = [](const Write& write) { return write.resource.plural == "pods"; };
  cluster.Step();
  cluster.memory.refusal = "create pods default/train-worker-0: no PriorityClass";
  cluster.Step();
  const json& state = cluster.At("jobs", "train")["status"]["state"];
  EXPECT_EQ(state["phase"], "Pending");
  EXPECT_EQ(state["reason"], "FailedCreate");
  EXPECT_EQ(state["message"], "create pods default/train-worker-0: no PriorityClass");
  const json told = cluster.At("jobs", "train");
  cluster.Step();
  EXPECT_EQ(cluster.At("jobs", "train"), told) << "the same refusal is not written again";
  std::vector<std::string> concerned;
  for (const auto& about : ReconcileJob(cluster.View()).plan.concerned) {
    concerned.push_back(about.kind + " " + about.name);
  }
  EXPECT_THAT(concerned, ElementsAre("Job train", "PodGroup train-uid-1"));
  cluster.fails = [](const Write&) { return false; };
  cluster.Settle();
  EXPECT_THAT(cluster.Names("pods"), SizeIs(2));
  EXPECT_FALSE(cluster.At("jobs", "train")["status"]["state"].contains("message"));
}

TEST(ReconcileJob, TellsOnceOfWhatItsPodGroupWarns) {
  TestCluster cluster(JobOf({Task("worker", 1)}));
  cluster.Settle();
  cluster.At("podgroups", cluster.GroupName())["status"] = {
      {"phase", "Pending"},
      {"conditions",
       {{{"type", "TopologyNotBinding"}, {"status", "True"}, {"message", "above the top"}}}}};
  cluster.Settle();
  cluster.Settle();
  EXPECT_EQ(std::count(cluster.told.begin(), cluster.told.end(), "above the top"), 1);
}

TEST(ReconcileJob, RunsAndCompletes) {
  TestCluster cluster = Running();
  EXPECT_EQ(cluster.Phase(), "Running");
  EXPECT_EQ(cluster.At("jobs", "train")["status"]["running"], 2);
  EXPECT_EQ(cluster.At("jobs", "train")["status"]["taskStatusCount"]["worker"]["phase"]["Running"],
            2);
  cluster.now += std::chrono::seconds(90);
  cluster.SetPods("Succeeded");
  cluster.Settle();
  EXPECT_EQ(cluster.Phase(), "Completed");
  const json& status = cluster.At("jobs", "train")["status"];
  EXPECT_EQ(status["succeeded"], 2);
  EXPECT_EQ(status["runningDuration"], "1m30s");
  std::vector<std::string> phases;
  for (const json& condition : status["conditions"]) phases.push_back(condition["status"]);
  EXPECT_THAT(phases, ElementsAre("Pending", "Running", "Completed"));
  EXPECT_THAT(cluster.Names("podgroups"), IsEmpty());
  EXPECT_THAT(cluster.Names("pods"), SizeIs(2));
}

// Whatever a clock is set to, a job ends, its status is written, and it ran for no negative time.
TEST(ReconcileJob, CompletesWhenTheClockIsSet) {
  for (const int hours : {-1, 1}) {
    TestCluster cluster = Running();
    cluster.now += std::chrono::hours(hours);
    cluster.SetPod("train-worker-0", "Succeeded");
    cluster.Settle();
    EXPECT_EQ(cluster.At("jobs", "train")["status"]["running"], 1);
    cluster.SetPods("Succeeded");
    cluster.Settle();
    EXPECT_EQ(cluster.Phase(), "Completed");
    EXPECT_EQ(cluster.At("jobs", "train")["status"]["runningDuration"],
              hours < 0 ? "0s" : "1h0m0s");
  }
}

TEST(ReconcileJob, WritesPodCountsOncePerSecondAndANewPhaseAtOnce) {
  TestCluster cluster(JobOf({Task("worker", 3)}));
  cluster.Settle();
  cluster.SetGroupPhase("Inqueue");
  cluster.Settle();
  cluster.SetPod("train-worker-0", "Running");
  EXPECT_FALSE(cluster.Step());
  EXPECT_EQ(cluster.again, std::chrono::seconds(1));
  cluster.now += std::chrono::milliseconds(600);
  cluster.SetPod("train-worker-1", "Running");
  EXPECT_FALSE(cluster.Step());
  EXPECT_EQ(cluster.again, std::chrono::milliseconds(400));
  cluster.now += std::chrono::milliseconds(400);
  EXPECT_TRUE(cluster.Step());
  const json& status = cluster.At("jobs", "train")["status"];
  EXPECT_EQ(status["running"], 2);
  EXPECT_EQ(status["pending"], 1);
  cluster.SetPod("train-worker-2", "Running");
  EXPECT_TRUE(cluster.Step());
  EXPECT_EQ(cluster.Phase(), "Running");
  EXPECT_FALSE(cluster.memory.counts_since);
}

TEST(ReconcileJob, CountsDoNotWaitLongerWhenTheClockIsSetBack) {
  TestCluster cluster = Running();
  cluster.SetPod("train-worker-0", "Succeeded");
  EXPECT_FALSE(cluster.Step());
  cluster.now -= std::chrono::hours(1);
  EXPECT_FALSE(cluster.Step());
  EXPECT_EQ(cluster.again, std::chrono::seconds(1));
}

TEST(ReconcileJob, FailsWhenAPodFailsAndNoPolicySaysOtherwise) {
  TestCluster cluster = Running();
  cluster.SetPod("train-worker-0", "Succeeded");
  cluster.SetPod("train-worker-1", "Failed", 1);
  cluster.Settle();
  EXPECT_EQ(cluster.Phase(), "Failed");
}

TEST(ReconcileJob, EnoughSuccessesCompleteItEarly) {
  TestCluster cluster = Running({{"minSuccess", 1}});
  cluster.SetPod("train-worker-0", "Succeeded");
  cluster.Settle();
  EXPECT_EQ(cluster.Phase(), "Completed");
  EXPECT_THAT(cluster.Names("pods"), ElementsAre("train-worker-0"));
}

TEST(ReconcileJob, RestartJobStartsAllPodsAnewAndWaitsForItsTurn) {
  TestCluster cluster = Running({{"policies", {Policy("PodFailed", "RestartJob")}}});
  cluster.SetPod("train-worker-1", "Failed", 1);
  cluster.Settle();
  EXPECT_EQ(cluster.Phase(), "Pending");
  EXPECT_THAT(cluster.Names("pods"), IsEmpty());
  EXPECT_EQ(TextAt(cluster.At("podgroups", cluster.GroupName()), {"status", "phase"}), "Pending");
  EXPECT_EQ(cluster.At("jobs", "train")["status"]["retryCount"], 1);
  EXPECT_EQ(cluster.At("jobs", "train")["status"]["version"], 1);
  EXPECT_THAT(cluster.told, ElementsAre(HasSubstr("RestartJob")));
  cluster.SetGroupPhase("Inqueue");
  cluster.Settle();
  EXPECT_EQ(
      cluster.At("pods", "train-worker-0")["metadata"]["annotations"]["volcano.sh/job-version"],
      "1");
}

TEST(ReconcileJob, AJobTakenOverFromVolcanoKeepsItsGroupAndWaitsForItsTurnWhenRestarted) {
  TestCluster cluster = Running({{"policies", {Policy("PodFailed", "RestartJob")}}});
  json& metadata = cluster.At("podgroups", cluster.GroupName())["metadata"];
  const std::string uid = metadata["uid"];
  metadata.erase("annotations");
  cluster.Settle();
  EXPECT_EQ(cluster.At("podgroups", cluster.GroupName())["metadata"]["uid"], uid);
  cluster.SetPod("train-worker-1", "Failed", 1);
  cluster.Settle();
  EXPECT_NE(cluster.At("podgroups", cluster.GroupName())["metadata"]["uid"], uid);
  EXPECT_THAT(cluster.Names("pods"), IsEmpty()) << "none before it is admitted again";
}

TEST(ReconcileJob, SaysOnceWhyItsGroupWaits) {
  TestCluster cluster(JobOf({Task("worker", 2)}));
  cluster.Settle();
  cluster.SetGroupPhase("Inqueue");
  json& status = cluster.At("podgroups", cluster.GroupName())["status"];
  status["conditions"] = {
      {{"type", "Unschedulable"}, {"status", "True"}, {"message", "too little cpu"}}};
  cluster.Settle();
  status["conditions"][0]["message"] = "too little cpu; this alone would let it start: more";
  cluster.Settle();
  EXPECT_THAT(cluster.told, ElementsAre(HasSubstr("unschedule,reason: too little cpu")));
  status["conditions"][0]["status"] = "False";
  cluster.Settle();
  status["conditions"][0]["status"] = "True";
  cluster.Settle();
  EXPECT_THAT(cluster.told, SizeIs(2)) << "it waits again";
}

TEST(ReconcileJob, WarnsOfAnUnsupportedPlugin) {
  TestCluster cluster(JobOf({Task("worker", 1)}, {{"plugins", {{"hcclrank", json::array()}}}}));
  cluster.Settle();
  EXPECT_THAT(cluster.told, ElementsAre(HasSubstr("job plugin \"hcclrank\" is not supported")));
  EXPECT_FALSE(cluster.At("jobs", "train")["status"].contains("controlledResources"));
}

TEST(ReconcileJob, TheLastRetryKeepsTheFailedPods) {
  TestCluster cluster =
      Running({{"maxRetry", 1}, {"policies", {Policy("PodFailed", "RestartJob")}}});
  cluster.SetPod("train-worker-1", "Failed", 1);
  cluster.Settle();
  EXPECT_EQ(cluster.Phase(), "Failed");
  EXPECT_THAT(cluster.Names("pods"), ElementsAre("train-worker-1"));
}

TEST(ReconcileJob, RestartPodReplacesThatPodOnly) {
  TestCluster cluster = Running({{"policies", {Policy("PodFailed", "RestartPod")}}});
  const std::string kept = TextAt(cluster.At("pods", "train-worker-0"), {"metadata", "uid"});
  const std::string failed = TextAt(cluster.At("pods", "train-worker-1"), {"metadata", "uid"});
  cluster.SetPod("train-worker-1", "Failed", 1);
  cluster.Settle();
  EXPECT_EQ(TextAt(cluster.At("pods", "train-worker-0"), {"metadata", "uid"}), kept);
  EXPECT_NE(TextAt(cluster.At("pods", "train-worker-1"), {"metadata", "uid"}), failed);
  EXPECT_EQ(cluster.At("jobs", "train")["status"]["retryCount"], 1);
}

TEST(ReconcileJob, PoliciesOfTheTaskOverrideThoseOfTheJob) {
  TestCluster cluster = Running({{"policies", {Policy("PodFailed", "RestartJob")}}},
                                {{"policies", {{{"exitCode", 3}, {"action", "AbortJob"}}}}});
  cluster.SetPod("train-worker-1", "Failed", 3);
  cluster.Settle();
  EXPECT_EQ(cluster.Phase(), "Aborted");
}

TEST(ReconcileJob, APodThatWasLostIsReplacedOrAPolicyActs) {
  TestCluster plain = Running();
  plain.LosePod("train-worker-0");
  plain.Settle();
  EXPECT_THAT(plain.Names("pods"), SizeIs(2));
  EXPECT_EQ(plain.Phase(), "Pending");  // below minAvailable until the new one runs

  TestCluster watched = Running({{"policies", {Policy("PodEvicted", "TerminateJob")}}});
  watched.LosePod("train-worker-0");
  watched.Settle();
  EXPECT_EQ(watched.Phase(), "Terminated");
  EXPECT_THAT(watched.Names("pods"), IsEmpty());
}

// A pod that is told to go, with the words of the one who evicts it.
void EvictPod(TestCluster& cluster, const std::string& name, const json& conditions) {
  json& pod = cluster.At("pods", name);
  pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  pod["status"]["conditions"] = conditions;
}

json Target(const std::string& message) {
  return {{"type", "DisruptionTarget"}, {"status", "True"}, {"message", message}};
}

TEST(ReconcileJob, SaysWhoEvictsItsPodsUntilAllRunAgain) {
  const std::string why = "Pod is evicted, because of preempt: default/high needs room";
  TestCluster cluster = Running();
  const json ready = {
      {"type", "Ready"}, {"status", "False"}, {"reason", "Evict"}, {"message", why}};
  EvictPod(cluster, "train-worker-0", json::array({ready, Target("Eviction API: evicting")}));
  cluster.Settle();
  const auto state = [&](const char* key) {
    return TextAt(cluster.At("jobs", "train"), {"status", "state", key});
  };
  EXPECT_EQ(state("reason"), "PodEvicted");
  EXPECT_EQ(state("message"), why);

  cluster.LosePod("train-worker-0");
  cluster.Settle();
  EXPECT_EQ(cluster.Phase(), "Pending");
  EXPECT_EQ(state("message"), why) << "gone, and not replaced by one that runs";

  cluster.SetPods("Running");
  cluster.Settle();
  EXPECT_EQ(cluster.Phase(), "Running");
  EXPECT_EQ(state("reason"), "");
  EXPECT_EQ(state("message"), "");
}

// The scheduler has let the gang go back in front of its queue.
TEST(ReconcileJob, AJobWithoutItsPodsIsPendingAlsoWhileNoneMayBeMade) {
  TestCluster cluster = Running();
  cluster.SetGroupPhase("Pending");
  for (const char* pod : {"train-worker-0", "train-worker-1"}) cluster.LosePod(pod);
  cluster.Settle();
  EXPECT_THAT(cluster.Names("pods"), IsEmpty());
  EXPECT_EQ(cluster.Phase(), "Pending");
}

TEST(ReconcileJob, SaysWhoEvictedThePodsOfAJobThatAPolicyAborts) {
  TestCluster cluster = Running({{"policies", {Policy("PodEvicted", "AbortJob")}}});
  EvictPod(cluster, "train-worker-1", json::array({Target("Eviction API: evicting")}));
  cluster.Settle();
  cluster.LosePod("train-worker-1");
  cluster.Settle();
  EXPECT_EQ(cluster.Phase(), "Aborted");
  const json& state = cluster.At("jobs", "train")["status"]["state"];
  EXPECT_EQ(state.value("reason", ""), "PodEvicted");
  EXPECT_EQ(state.value("message", ""), "Eviction API: evicting");
}

TEST(ReconcileJob, APodThatIsDeletedByItsOwnerWasNotEvicted) {
  TestCluster cluster = Running();
  EvictPod(cluster, "train-worker-0", json::array());
  cluster.Settle();
  EXPECT_FALSE(cluster.At("jobs", "train")["status"]["state"].contains("reason"));
}

TEST(ReconcileJob, ATimeoutPutsTheActionOff) {
  const json policy = {{"event", "PodFailed"}, {"action", "AbortJob"}, {"timeout", "10s"}};
  TestCluster cluster = Running({{"policies", {policy}}});
  cluster.SetPod("train-worker-1", "Failed", 1);
  cluster.Settle();
  EXPECT_EQ(cluster.Phase(), "Running");
  EXPECT_EQ(cluster.again, std::chrono::seconds(10));
  cluster.now += std::chrono::seconds(10);
  cluster.Settle();
  EXPECT_EQ(cluster.Phase(), "Aborted");
}

TEST(ReconcileJob, TaskCompletedCanCompleteTheJob) {
  TestCluster cluster(
      JobOf({Task("master", 1, {{"policies", {Policy("TaskCompleted", "CompleteJob")}}}),
             Task("worker", 2)}));
  cluster.Settle();
  cluster.SetGroupPhase("Running");
  cluster.Settle();
  cluster.SetPods("Running");
  cluster.Settle();
  cluster.SetPod("train-master-0", "Succeeded");
  cluster.Settle();
  EXPECT_EQ(cluster.Phase(), "Completed");
  EXPECT_THAT(cluster.Names("pods"), ElementsAre("train-master-0"));
}

TEST(ReconcileJob, CommandsSuspendAndResumeAndAreTakenOnce) {
  TestCluster cluster = Running();
  cluster.Command("AbortJob");
  cluster.Settle();
  EXPECT_EQ(cluster.Phase(), "Aborted");
  EXPECT_THAT(cluster.Names("pods"), IsEmpty());
  EXPECT_THAT(cluster.Names("podgroups"), IsEmpty());
  EXPECT_THAT(cluster.Names("commands"), IsEmpty());
  cluster.Command("ResumeJob");
  cluster.Settle();
  EXPECT_EQ(cluster.Phase(), "Pending");
  EXPECT_THAT(cluster.Names("podgroups"), SizeIs(1));
  EXPECT_THAT(cluster.Names("commands"), IsEmpty());
}

TEST(ReconcileJob, CreatesAndDeletesPodsWhenScaled) {
  TestCluster cluster = Running({{"minAvailable", 1}});
  cluster.At("jobs", "train")["spec"]["tasks"][0]["replicas"] = 3;
  cluster.Settle();
  EXPECT_THAT(cluster.Names("pods"), SizeIs(3));
  cluster.At("jobs", "train")["spec"]["tasks"][0]["replicas"] = 1;
  cluster.At("jobs", "train")["spec"]["tasks"][0]["minAvailable"] = 1;
  cluster.Settle();
  EXPECT_THAT(cluster.Names("pods"), ElementsAre("train-worker-0"));
  EXPECT_EQ(cluster.At("podgroups", cluster.GroupName())["spec"]["minTaskMember"]["worker"], 1);
}

TEST(ReconcileJob, ATaskWaitsForWhatItDependsOn) {
  TestCluster cluster(
      JobOf({Task("master", 1), Task("worker", 1, {{"dependsOn", {{"name", {"master"}}}}})}));
  cluster.Settle();
  cluster.SetGroupPhase("Inqueue");
  cluster.Settle();
  EXPECT_THAT(cluster.Names("pods"), ElementsAre("train-master-0"));
  cluster.SetPod("train-master-0", "Running");
  cluster.Settle();
  EXPECT_THAT(cluster.Names("pods"), ElementsAre("train-master-0", "train-worker-0"));
}

TEST(ReconcileJob, DeletesTheJobAfterItsTtl) {
  TestCluster cluster = Running({{"ttlSecondsAfterFinished", 60}});
  cluster.SetPods("Succeeded");
  cluster.Settle();
  EXPECT_EQ(cluster.again, std::chrono::seconds(60));
  cluster.now += std::chrono::seconds(60);
  EXPECT_TRUE(cluster.Step());
  EXPECT_FALSE(cluster.Has("jobs", "train"));
}

TEST(ReconcileJob, ReportsAnInvalidJobAndLeavesItUnchanged) {
  TestCluster cluster(JobOf({}));
  EXPECT_FALSE(cluster.Step());
  EXPECT_THAT(cluster.told, ElementsAre(HasSubstr("tasks")));
}

// Whatever fails on the way, the job ends as it does when nothing fails, and nothing is made twice.
TEST(ReconcileJobProperty, FailedWritesChangeNothingInTheEnd) {
  testing::CheckProperty(100, [] {
    const int size = 1 + *testing::Below(4);
    const bool svc = *testing::Below(2) == 1;
    const std::vector<int> luck = *rc::gen::container<std::vector<int>>(60, testing::Below(3));
    std::size_t at = 0;
    const auto unlucky = [&](const Write&) { return at < luck.size() && luck[at++] == 0; };
    const auto play = [&](bool faults) {
      json more = {{"policies", {Policy("PodFailed", "RestartJob")}}};
      if (svc) more["plugins"] = {{"svc", json::array()}, {"ssh", json::array()}};
      TestCluster cluster(JobOf({Task("worker", size)}, more));
      if (faults) cluster.fails = unlucky;
      cluster.Settle();
      cluster.SetGroupPhase("Inqueue");
      cluster.Settle();
      cluster.SetPods("Running");
      cluster.Settle();
      cluster.SetPod("train-worker-0", "Failed", 1);
      cluster.Settle();
      cluster.SetGroupPhase("Inqueue");
      cluster.Settle();
      cluster.SetPods("Succeeded");
      cluster.Settle();
      cluster.Settle();
      return cluster;
    };
    TestCluster calm = play(false);
    TestCluster rough = play(true);
    RC_ASSERT(rough.Phase() == "Completed");
    RC_ASSERT(calm.Phase() == "Completed");
    RC_ASSERT(rough.Names("pods") == calm.Names("pods"));
    RC_ASSERT(rough.creates == calm.creates);
    json after = rough.At("jobs", "train")["status"];
    json expected = calm.At("jobs", "train")["status"];
    RC_ASSERT(after == expected);
  });
}

}  // namespace
}  // namespace strata::controllers
