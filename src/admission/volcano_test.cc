#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admission/test_rules.h"

namespace strata::admission {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kQueues = "queues.scheduling.volcano.sh";

json QueueObject(const std::string& name,
                 const std::string& spec = "",
                 const std::string& state = "Open") {
  return J("{'metadata': {'name': '" + name + "'}, 'spec': {" + spec + "}, 'status': {'state': '" +
           state + "'}}");
}

class JobTest : public ::testing::Test {
 protected:
  JobTest() {
    jobs.store().Hold(kQueues, QueueObject("root"));
    jobs.store().Hold(kQueues, QueueObject("default"));
  }

  static json Job(const std::string& spec = "", const std::string& task = "'replicas': 2,") {
    return J("{'metadata': {'name': 'train', 'namespace': 'default'}, 'spec': {" + spec +
             "'tasks': [{" + task +
             "'template': {'spec': {'containers': [{'name': 'c', 'image': 'i'}]}}}]}}");
  }

  Admission jobs{"batch.volcano.sh", "Job", "jobs"};
};

TEST_F(JobTest, GetsTheWebhooksDefaults) {
  const json job = jobs.Created(Job("'plugins': {'mpi': ['--master=m']},"));
  const json& spec = job["spec"];
  EXPECT_EQ(spec["queue"], "default");
  EXPECT_EQ(spec["schedulerName"], "volcano");
  EXPECT_EQ(spec["maxRetry"], 3);
  EXPECT_EQ(spec["minAvailable"], 2);
  EXPECT_EQ(spec["plugins"], J("{'mpi': ['--master=m'], 'svc': [], 'ssh': []}"));
  EXPECT_EQ(spec["tasks"][0]["name"], "default0");
  EXPECT_EQ(spec["tasks"][0]["minAvailable"], 2);
  EXPECT_EQ(spec["tasks"][0]["maxRetry"], 3);
  EXPECT_EQ(spec["tasks"][0]["template"],
            J("{'spec': {'containers': [{'name': 'c', 'image': 'i'}]}}"));
  EXPECT_EQ(jobs.Created(job), job);
}

TEST_F(JobTest, HostNetworkPodsAskTheClusterForNames) {
  json job = Job();
  job["spec"]["tasks"][0]["template"]["spec"]["hostNetwork"] = true;
  EXPECT_EQ(jobs.Created(job)["spec"]["tasks"][0]["template"]["spec"]["dnsPolicy"],
            "ClusterFirstWithHostNet");
}

TEST_F(JobTest, ChecksFieldsWithTheReadersOfObjects) {
  EXPECT_EQ(jobs.CreateError(Job("'minAvailable': 3,")),
            "422 Job.batch.volcano.sh \"train\" is invalid: spec.minAvailable: Invalid value: 3: 3 "
            "is more than the replicas of all tasks (2)");
  EXPECT_THAT(jobs.CreateError(Job("'plugins': {'nope': []},")), HasSubstr("spec.plugins: "));
  EXPECT_THAT(jobs.CreateError(Job("", "'replicas': 1, 'name': 'Bad_Name',")),
              HasSubstr("spec.tasks[0].name: Invalid value: \"Bad_Name\""));
  EXPECT_THAT(jobs.CreateError(Job("'policies': [{'action': 'AbortJob'}],")),
              HasSubstr("spec.policies[0]: Invalid value: \"object\": want event or exitCode"));
}

TEST_F(JobTest, TemplatesPassTheRulesOfPods) {
  json job = Job();
  job["spec"]["tasks"][0]["template"]["spec"]["containers"][0].erase("image");
  EXPECT_THAT(jobs.CreateError(job),
              HasSubstr("spec.tasks[0].template.spec.containers[0].image: Required value"));
}

TEST_F(JobTest, RejectsAQueueThatIsMissingClosedOrHasChildren) {
  jobs.store().Hold(kQueues, QueueObject("closed", "", "Closed"));
  jobs.store().Hold(kQueues, QueueObject("team"));
  jobs.store().Hold(kQueues, QueueObject("child", "'parent': 'team'"));
  const std::string at =
      "422 Job.batch.volcano.sh \"train\" is invalid: spec.queue: Invalid value: ";
  EXPECT_EQ(jobs.CreateError(Job("'queue': 'nope',")),
            at + "\"nope\": unable to find job queue: queues.scheduling.volcano.sh \"nope\" not "
                 "found");
  EXPECT_EQ(jobs.CreateError(Job("'queue': 'closed',")),
            at +
                "\"closed\": can only submit job to queue with state `Open`, queue `closed` status "
                "is `Closed`");
  EXPECT_EQ(jobs.CreateError(Job("'queue': 'team',")),
            at + "\"team\": can only submit job to leaf queue, queue `team` has 1 child queues");
  EXPECT_EQ(jobs.CreateError(Job("'queue': 'root',")),
            at + "\"root\": can not submit job to root queue");
  EXPECT_EQ(jobs.CreateError(Job("'queue': 'child',")), "no error");
}

TEST_F(JobTest, UpdatesMayScaleAndNothingElse) {
  const json before = jobs.Created(Job("'volumes': [{'mountPath': '/v', 'volumeClaim': {}}],"));
  json after = before;
  after["spec"]["minAvailable"] = 1;
  after["spec"]["priorityClassName"] = "high";
  after["spec"]["tasks"][0]["replicas"] = 5;
  after["spec"]["tasks"][0]["minAvailable"] = 1;
  after["spec"]["volumes"][0]["volumeClaimName"] = "train-pvc-1";
  EXPECT_EQ(jobs.UpdateError(before, after), "no error");
  after["spec"]["queue"] = "other";
  EXPECT_THAT(jobs.UpdateError(before, after),
              HasSubstr("spec: Forbidden: job updates may not change fields other than"));
  after = before;
  after["spec"]["tasks"].push_back(after["spec"]["tasks"][0]);
  after["spec"]["tasks"][1]["name"] = "second";
  EXPECT_THAT(jobs.UpdateError(before, after),
              HasSubstr("job updates may not add or remove tasks"));
}

TEST_F(JobTest, AJobCreatedWithoutAWebhookMayBeScaled) {
  json after = Job();
  after["spec"]["tasks"][0]["replicas"] = 3;
  EXPECT_EQ(jobs.UpdateError(Job(), after), "no error");
}

TEST_F(JobTest, AReplaceWithTheOriginalManifestChangesNothing) {
  const json before = jobs.Created(Job());
  EXPECT_EQ(jobs.Updated(before, Job()), before);
}

TEST(AdmitPodGroup, RejectsAClosedQueueAndTwoTierFields) {
  Admission groups("scheduling.volcano.sh", "PodGroup", "podgroups");
  groups.store().Hold(kQueues, QueueObject("default"));
  groups.store().Hold(kQueues, QueueObject("closed", "", "Closing"));
  const auto group = [](const std::string& spec) {
    return J("{'metadata': {'name': 'pg', 'namespace': 'default'}, 'spec': {" + spec + "}}");
  };
  EXPECT_EQ(groups.CreateError(group("'minMember': 2")), "no error");
  EXPECT_THAT(
      groups.CreateError(group("'queue': 'closed'")),
      HasSubstr("can only submit PodGroup to queue with state `Open`, queue `closed` status "
                "is `Closing`"));
  EXPECT_EQ(groups.CreateError(group("'networkTopology': {'highestTierAllowed': 1,"
                                     " 'highestTierName': 'rack'}")),
            "422 PodGroup.scheduling.volcano.sh \"pg\" is invalid: spec.networkTopology: Invalid "
            "value: \"object\": highestTierAllowed and highestTierName are both set (want one of "
            "them)");
}

TEST(AdmitHyperNode, RejectsTheTierOfTheVirtualTop) {
  Admission nodes("topology.volcano.sh", "HyperNode", "hypernodes");
  const auto of_tier = [](const std::string& tier) {
    return J("{'metadata': {'name': 's0'}, 'spec': {'tier': " + tier +
             ", 'members': [{'type': 'Node', 'selector': {'exactMatch': {'name': 'n'}}}]}}");
  };
  EXPECT_EQ(nodes.CreateError(of_tier("2147483646")), "no error");
  EXPECT_THAT(nodes.CreateError(of_tier("2147483647")), HasSubstr("spec.tier: "));
}

TEST(AdmitHyperNode, ChecksMembersAndPatterns) {
  Admission nodes("topology.volcano.sh", "HyperNode", "hypernodes");
  const auto node = [](const std::string& spec) {
    return J("{'metadata': {'name': 's0'}, 'spec': {'tier': 1, 'members': " + spec + "}}");
  };
  EXPECT_EQ(
      nodes.CreateError(node("[{'type': 'Node', 'selector': {'exactMatch': {'name': 'n'}}}]")),
      "no error");
  EXPECT_THAT(nodes.CreateError(node("[]")), HasSubstr("spec.members: "));
  EXPECT_THAT(
      nodes.CreateError(node("[{'type': 'Node', 'selector': {'regexMatch': {'pattern': '('}}}]")),
      HasSubstr("spec.members[0].selector.regexMatch.pattern: Invalid value: \"(\": "));
  EXPECT_EQ(nodes.CreateError(J("{'metadata': {'name': 's0'}}")),
            "422 HyperNode.topology.volcano.sh \"s0\" is invalid: spec: Required value");
}

class QueueTest : public ::testing::Test {
 protected:
  QueueTest() {
    Hold(QueueObject("root"));
    Hold(QueueObject("default"));
  }
  void Hold(const json& queue) { queues.store().Hold(kQueues, queue); }

  Admission queues{"scheduling.volcano.sh", "Queue", "queues"};
};

TEST_F(QueueTest, IsReclaimableOnceItHasASpec) {
  EXPECT_EQ(queues.Created(J("{'metadata': {'name': 'q'}}")), J("{'metadata': {'name': 'q'}}"));
  EXPECT_EQ(queues.Created(QueueObject("q"))["spec"], J("{'reclaimable': true}"));
}

TEST_F(QueueTest, GetsTheWebhooksDefaults) {
  EXPECT_EQ(queues.Created(QueueObject("q", "'weight': 0"))["spec"],
            J("{'reclaimable': true, 'weight': 1}"));
  json queue = QueueObject("q");
  queue["metadata"]["annotations"] =
      J("{'volcano.sh/hierarchy': 'a/b', 'volcano.sh/hierarchy-weights': '2/8'}");
  const json created = queues.Created(queue);
  EXPECT_EQ(created["metadata"]["annotations"],
            J("{'volcano.sh/hierarchy': 'root/a/b', 'volcano.sh/hierarchy-weights': '1/2/8'}"));
  EXPECT_EQ(queues.Created(created), created);
}

TEST_F(QueueTest, RejectsGuaranteeAboveDeservedAboveCapability) {
  EXPECT_THAT(
      queues.CreateError(QueueObject("q", "'deserved': {'cpu': '2'}, 'capability': {'cpu': '1'}")),
      HasSubstr("spec.deserved.cpu: "));
  EXPECT_THAT(queues.CreateError(QueueObject("q", "'weight': -1")), HasSubstr("spec.weight: "));
}

TEST_F(QueueTest, RejectsAHierarchyThatIsNotATree) {
  Hold(QueueObject("a"));
  Hold(QueueObject("b", "'parent': 'a'"));
  EXPECT_EQ(queues.CreateError(QueueObject("c", "'parent': 'b'")), "no error");
  EXPECT_THAT(queues.CreateError(QueueObject("c", "'parent': 'nope'")),
              HasSubstr("spec.parent: Invalid value: \"nope\": parent queue nope not found"));
  EXPECT_THAT(queues.CreateError(QueueObject("c", "'parent': 'c'")),
              HasSubstr("a queue cannot be below itself"));
  EXPECT_THAT(queues.UpdateError(QueueObject("a"), QueueObject("a", "'parent': 'b'")),
              HasSubstr("a queue cannot be below itself"));
  std::string parent = "b";
  for (const std::string name : {"l3", "l4", "l5"}) {
    EXPECT_EQ(queues.CreateError(QueueObject(name, "'parent': '" + parent + "'")), "no error");
    Hold(QueueObject(name, "'parent': '" + parent + "'"));
    parent = name;
  }
  EXPECT_THAT(queues.CreateError(QueueObject("l6", "'parent': 'l5'")),
              HasSubstr("deeper than 5 levels"));
}

TEST_F(QueueTest, RejectsChildrenThatExceedTheirParent) {
  Hold(QueueObject("p", "'deserved': {'cpu': '10'}, 'capability': {'cpu': '20'}"));
  Hold(QueueObject("c1", "'parent': 'p', 'deserved': {'cpu': '6'}"));
  EXPECT_EQ(queues.CreateError(QueueObject("c2", "'parent': 'p', 'deserved': {'cpu': '4'}")),
            "no error");
  EXPECT_THAT(queues.CreateError(QueueObject("c2", "'parent': 'p', 'deserved': {'cpu': '5'}")),
              HasSubstr("cpu deserved of the child queues of p is more than its deserved (10)"));
  EXPECT_THAT(queues.CreateError(QueueObject("c2", "'parent': 'p', 'capability': {'cpu': '21'}")),
              HasSubstr("spec.capability: "));
  EXPECT_THAT(queues.UpdateError(QueueObject("p", "'deserved': {'cpu': '10'}"),
                                 QueueObject("p", "'deserved': {'cpu': '5'}")),
              HasSubstr("spec.deserved: "));
}

TEST_F(QueueTest, RejectsAParentThatHasJobs) {
  Hold(QueueObject("busy"));
  queues.store().Hold(
      "podgroups.scheduling.volcano.sh",
      J("{'metadata': {'name': 'pg', 'namespace': 'x'}, 'spec': {'queue': 'busy'}}"));
  EXPECT_THAT(queues.CreateError(QueueObject("c", "'parent': 'busy'")),
              HasSubstr("queue busy cannot be a parent: it has jobs"));
}

TEST_F(QueueTest, RejectsDeletingRootDefaultAndQueuesInUse) {
  Hold(QueueObject("p"));
  Hold(QueueObject("c", "'parent': 'p'"));
  EXPECT_EQ(queues.DeleteError(QueueObject("default")),
            "403 queues.scheduling.volcano.sh \"default\" is forbidden: `default` queue can not be "
            "deleted");
  EXPECT_THAT(queues.DeleteError(QueueObject("root")), StartsWith("403"));
  EXPECT_THAT(queues.DeleteError(QueueObject("p")), HasSubstr("it has child queues: c"));
  json used = QueueObject("c");
  used["status"]["allocated"] = {{"pods", "3"}};
  EXPECT_THAT(queues.DeleteError(used), HasSubstr("it has allocated pods"));
  EXPECT_EQ(queues.DeleteError(QueueObject("c")), "no error");
}

TEST_F(QueueTest, RejectsChangesOfTheResourcesOfRoot) {
  EXPECT_THAT(
      queues.UpdateError(QueueObject("root"), QueueObject("root", "'capability': {'cpu': '1'}")),
      HasSubstr("spec.capability: Forbidden: resources of the root queue are immutable"));
}

TEST_F(QueueTest, RejectsAnUnknownState) {
  EXPECT_THAT(queues.UpdateError(QueueObject("q"), QueueObject("q", "", "Ajar"), "status"),
              HasSubstr("status.state: "));
  EXPECT_EQ(queues.UpdateError(QueueObject("q"), QueueObject("q", "", "Closed"), "status"),
            "no error");
}

}  // namespace
}  // namespace strata::admission
