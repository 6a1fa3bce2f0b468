#include <string>
#include <utility>
#include <vector>

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
  EXPECT_EQ(
      jobs.CreateError(Job("'minAvailable': 3,")),
      "422 Job.batch.volcano.sh \"train\" is invalid: spec.minAvailable: Invalid value: 3: job "
      "'minAvailable' should not be greater than total replicas: 3 and 2");
  EXPECT_THAT(jobs.CreateError(Job("'plugins': {'nope': []},")), HasSubstr("spec.plugins: "));
  EXPECT_THAT(jobs.CreateError(Job("", "'replicas': 1, 'name': 'Bad_Name',")),
              HasSubstr("spec.tasks[0].name: Invalid value: \"Bad_Name\""));
  EXPECT_THAT(jobs.CreateError(Job("'policies': [{'action': 'AbortJob'}],")),
              HasSubstr("spec.policies[0]: Invalid value: \"object\": either event and exitCode "));
}

// Scripts and Volcano's own tests look for these words.
TEST_F(JobTest, RefusalsHaveVolcanosKeyPhrases) {
  const std::string two =
      "'replicas': 1, 'name': 'a', 'template': {'spec': {'containers': [{'name': 'c', 'image': "
      "'i'}]}}}, {'name': 'a', 'replicas': 1,";
  const auto volumes = [](const std::string& list) { return Job("'volumes': [" + list + "],"); };
  const auto policies = [](const std::string& list) { return Job("'policies': [" + list + "],"); };
  json none = Job();
  none["spec"]["tasks"] = json::array();
  const std::vector<std::pair<json, std::string>> rows = {
      {none, "No task specified in job spec"},
      {Job("", two), "duplicated task name"},
      {Job("", "'replicas': 1, 'minAvailable': 2,"),
       "'minAvailable' is greater than 'replicas' in task"},
      {Job("'minAvailable': 3,"), "job 'minAvailable' should not be greater than total replicas"},
      {Job("'plugins': {'nope': []},"), "unable to find job plugin: nope"},
      {policies("{'event': 'PodFailed', 'exitCode': 1, 'action': 'AbortJob'}"),
       "must not specify event and exitCode simultaneously"},
      {policies("{'action': 'AbortJob'}"), "either event and exitCode should be specified"},
      {policies("{'event': 'PodFailed', 'action': 'Nope'}"), "invalid policy action"},
      {policies("{'event': 'Nope', 'action': 'AbortJob'}"), "invalid policy event"},
      {policies("{'exitCode': 0, 'action': 'AbortJob'}"), "0 is not a valid error code"},
      {policies("{'exitCode': 1, 'action': 'AbortJob'}, {'exitCode': 1, 'action': 'AbortJob'}"),
       "duplicate exitCode 1"},
      {policies("{'event': 'Unknown', 'action': 'AbortJob'}, {'event': 'Unknown', 'action': "
                "'AbortJob'}"),
       "duplicate event Unknown"},
      {policies("{'event': '*', 'action': 'AbortJob'}, {'event': 'Unknown', 'action': "
                "'AbortJob'}"),
       "if there's * here, no other policy should be here"},
      {volumes("{'mountPath': '/v', 'volumeClaimName': 'a'}, {'mountPath': '/v', "
               "'volumeClaimName': 'b'}"),
       "duplicated mountPath: /v"},
      {volumes("{'mountPath': '/v'}"), "either VolumeClaim or VolumeClaimName must be specified"},
      {Job("'networkTopology': {'mode': 'hard', 'highestTierAllowed': 1, 'highestTierName': 'x'},"),
       "must not specify 'highestTierAllowed' and 'highestTierName' in networkTopology "
       "simultaneously"},
  };
  for (const auto& [job, phrase] : rows) {
    EXPECT_THAT(jobs.CreateError(job), HasSubstr(phrase));
  }
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
            "value: \"object\": must not specify 'highestTierAllowed' and 'highestTierName' in "
            "networkTopology simultaneously (want one of them)");
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

TEST_F(QueueTest, AGuaranteeNeedsADeservedAtLeastAsLarge) {
  EXPECT_THAT(queues.CreateError(QueueObject("q", "'guarantee': {'resource': {'cpu': '2'}}")),
              HasSubstr("deserved[cpu] must be >= guarantee[cpu]=2"));
  const std::string few = "'deserved': {'cpu': '1'}, 'guarantee': {'resource': {'cpu': '2'}}";
  EXPECT_THAT(queues.CreateError(QueueObject("q", few)),
              HasSubstr("deserved[cpu]=1 must be >= guarantee[cpu]=2"));
  const std::string enough = "'deserved': {'cpu': '2'}, 'guarantee': {'resource': {'cpu': '2'}}";
  EXPECT_EQ(queues.CreateError(QueueObject("q", enough)), "no error");
  // One that was made before may be labelled and released.
  const json old = QueueObject("q", "'reclaimable': true, 'guarantee': {'resource': {'cpu': '2'}}");
  json labelled = old;
  labelled["metadata"]["labels"] = {{"team", "a"}};
  EXPECT_EQ(queues.UpdateError(old, labelled), "no error");
}

json InHierarchy(const std::string& name, const std::string& path, const std::string& weights) {
  json queue = QueueObject(name);
  json& annotations = queue["metadata"]["annotations"] = json::object();
  if (!path.empty()) annotations["volcano.sh/hierarchy"] = path;
  if (!weights.empty()) annotations["volcano.sh/hierarchy-weights"] = weights;
  return queue;
}

TEST_F(QueueTest, ChecksTheAnnotationsOfAHierarchy) {
  const auto error = [&](const std::string& path, const std::string& weights) {
    return queues.CreateError(InHierarchy("q", path, weights));
  };
  EXPECT_EQ(error("root/a", "1/0.5"), "no error");
  EXPECT_THAT(error("root/a", ""), HasSubstr("must have the same length with"));
  EXPECT_THAT(error("root", ""), HasSubstr("is invalid number"));
  EXPECT_THAT(error("", "1/2"), HasSubstr("must have the same length with"));
  EXPECT_THAT(error("root/a/b", "1/2"), HasSubstr("must have the same length with"));
  EXPECT_THAT(error("root/a", "1/-2"), HasSubstr("-2 in the 1/-2 must be larger than 0"));
  EXPECT_THAT(error("root/a", "1/0"), HasSubstr("must be larger than 0"));
  for (const char* weight : {"x", "", "1x", "nan", "inf", " 1"}) {
    EXPECT_THAT(error("root/a", std::string("1/") + weight), HasSubstr("is invalid number"));
  }
}

TEST_F(QueueTest, AQueueIsALeafOfTheHierarchyOfAnnotations) {
  Hold(InHierarchy("dev", "root/sci/dev", "1/1/1"));
  EXPECT_THAT(queues.CreateError(InHierarchy("sci", "root/sci", "1/1")),
              HasSubstr("root/sci is not allowed to be in the sub path of root/sci/dev of queue "
                        "dev"));
  EXPECT_EQ(queues.CreateError(InHierarchy("s", "root/s", "1/1")), "no error");
  const json before = InHierarchy("old", "root/a", "1");
  json labelled = before;
  labelled["metadata"]["labels"] = {{"team", "a"}};
  EXPECT_EQ(queues.UpdateError(before, labelled), "no error");
  EXPECT_THAT(queues.UpdateError(before, InHierarchy("old", "root/a", "1/2/3")),
              HasSubstr("must have the same length with"));
}

TEST_F(QueueTest, RefusalsHaveVolcanosKeyPhrases) {
  EXPECT_THAT(
      queues.CreateError(QueueObject("q", "'deserved': {'cpu': '2'}, 'capability': {'cpu': '1'}")),
      HasSubstr("deserved[cpu]=2 must be <= capability[cpu]=1"));
  Hold(QueueObject("p", "'deserved': {'cpu': '10'}"));
  EXPECT_THAT(queues.CreateError(QueueObject("c", "'parent': 'p', 'deserved': {'cpu': '11'}")),
              HasSubstr("sum of children's deserved (11) exceeds parent's deserved limit (10)"));
  Hold(QueueObject("c", "'parent': 'p'"));
  EXPECT_THAT(queues.DeleteError(QueueObject("p")),
              HasSubstr("queue p can not be deleted because it has 1 child queues: c"));
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
              HasSubstr("cpu of queue p: sum of children's deserved (11) exceeds parent's deserved "
                        "limit (10)"));
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
              HasSubstr("queue busy cannot be the parent queue of queue c because it has jobs"));
}

TEST_F(QueueTest, RejectsDeletingRootDefaultAndQueuesInUse) {
  Hold(QueueObject("p"));
  Hold(QueueObject("c", "'parent': 'p'"));
  EXPECT_EQ(queues.DeleteError(QueueObject("default")),
            "403 queues.scheduling.volcano.sh \"default\" is forbidden: `default` queue can not be "
            "deleted");
  EXPECT_THAT(queues.DeleteError(QueueObject("root")), StartsWith("403"));
  EXPECT_THAT(queues.DeleteError(QueueObject("p")), HasSubstr("it has 1 child queues: c"));
  EXPECT_EQ(queues.DeleteError(QueueObject("c")), "no error");
}

// As in Volcano, where --enable-queue-allocated-pods-check is off by default.
TEST_F(QueueTest, AQueueWithPodsMayBeDeletedUnlessTheyAreProtected) {
  json used = QueueObject("c");
  used["status"]["allocated"] = {{"pods", "3"}};
  EXPECT_EQ(queues.DeleteError(used), "no error");
  EXPECT_THAT(queues.DeleteError(used, UsedQueues::kStay),
              HasSubstr("queue c cannot be deleted because it has allocated Pods: 3"));
  EXPECT_EQ(queues.DeleteError(QueueObject("c"), UsedQueues::kStay), "no error");
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
