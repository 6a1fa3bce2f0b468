#include "live/status_writer.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "live/test_slow_server.h"
#include "objects/test_support.h"
#include "whatif/cluster.h"

namespace strata::live {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

QueueSpec QueueOf(const std::string& name, const std::string& parent) {
  QueueSpec spec;
  spec.name = name;
  spec.parent = parent;
  return spec;
}

TEST(AllocatedOfQueues, CountsWhatTheQueuesBelowHold) {
  //   root <- all <- team (2 CPUs), and two queues on a cycle
  ClusterState state;
  state.workload().UpsertQueue(QueueOf("root", ""));
  state.workload().UpsertQueue(QueueOf("all", "root"));
  state.workload().UpsertQueue(QueueOf("team", "all"));
  state.workload().UpsertQueue(QueueOf("x", "y"));
  state.workload().UpsertQueue(QueueOf("y", "x"));
  NodeSpec node;
  node.name = "n";
  node.allocatable.Set(kCpu, 8000);
  ASSERT_TRUE(state.UpsertNode(node));
  JobSpec job;
  job.name = "ns/g";
  job.queue = "team";
  TaskSpec task;
  task.name = "ns/p";
  task.job = state.workload().UpsertJob(job);
  task.status = TaskStatus::kRunning;
  task.node_name = "n";
  task.constraints.request.Set(kCpu, 1500);
  state.workload().AddTask(task);
  const auto allocated = AllocatedOfQueues(state);
  for (const char* name : {"root", "all", "team"}) {
    EXPECT_THAT(allocated.at(name), ElementsAre(Pair("cpu", "1500m"))) << name;
  }
  EXPECT_THAT(allocated.at("x"), IsEmpty());
}

class FixedClock final : public Clock {
 public:
  [[nodiscard]] Time Now() const override { return Time{seconds(1'000'000)}; }
};

constexpr const char* kGangOfTwo = R"(
apiVersion: v1
kind: Node
metadata: {name: node0}
status: {allocatable: {cpu: 8}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: g, namespace: ns, uid: u}
spec: {minMember: 2, queue: default}
status: {phase: Inqueue}
---
apiVersion: v1
kind: Pod
metadata: {name: p-0, namespace: ns, annotations: {scheduling.k8s.io/group-name: g}}
spec: {schedulerName: volcano, containers: [{name: c, image: i}]}
---
apiVersion: v1
kind: Pod
metadata: {name: p-1, namespace: ns, annotations: {scheduling.k8s.io/group-name: g}}
spec: {schedulerName: volcano, containers: [{name: c, image: i}]}
)";

// A gang in a cluster whose API server answers when the test says so.
class StatusWriterTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(feed_.Apply(objects::MustLoad(kGangOfTwo)));
    std::vector<std::string> problems;
    feed_.Settle(problems);
    job_ = feed_.state().workload().FindJob("ns/g").value();
  }

  void WriteRefused(const Refusal& verdict) {
    CycleResult cycle;
    cycle.verdicts.emplace(job_, verdict);
    writer_.Write(feed_, cycle, ++cycles_);
    server_.Settle();
  }
  // The patches of the group that the server has not answered.
  std::vector<std::string> OpenMessages() {
    std::vector<std::string> messages;
    for (const auto& [id, request] : server_.open) {
      if (!request.path.ends_with("/podgroups/g")) continue;
      const auto patch = nlohmann::json::parse(request.body);
      messages.push_back(patch["status"]["conditions"][0]["message"]);
    }
    return messages;
  }
  std::size_t Events() const {
    return static_cast<std::size_t>(
        std::count_if(server_.open.begin(), server_.open.end(), [](const auto& request) {
          return request.second.path.ends_with("/events") &&
                 request.second.body.find("\"PodGroup\"") != std::string::npos;
        }));
  }
  // Answers everything; the patches of the group with `status`.
  void AnswerAll(int status) {
    while (!server_.open.empty()) {
      const bool of_group = server_.open.front().second.path.ends_with("/podgroups/g");
      server_.Answer(of_group ? status : 200);
    }
    mailbox_->Serve(Duration(0));
  }

  SlowServer server_;
  FixedClock clock_;
  std::shared_ptr<kube::Mailbox> mailbox_ = std::make_shared<kube::Mailbox>();
  ClusterState state_;
  ClusterFeed feed_{state_, IsOurs};
  JobId job_;
  std::uint64_t cycles_ = 0;
  CallQueue calls_{*server_.client, {.max_in_flight = 8, .leadership = {}}};
  kube::EventRecorder events_{*server_.client, {.component = "volcano"}, clock_};
  StatusWriter writer_{
      {calls_, events_, clock_, [this] { return server_.transport.Now(); }, [] { return 1.0; }},
      mailbox_};
  const Refusal verdict_{"NotEnoughResources", "no room"};
};

TEST_F(StatusWriterTest, WritesAgainWhatALateRequestOfAnotherHasUndone) {
  const auto shows = [&](const nlohmann::json& status) {
    nlohmann::json group = {{"apiVersion", "scheduling.volcano.sh/v1beta1"}, {"kind", "PodGroup"}};
    group["metadata"] = {{"name", "g"}, {"namespace", "ns"}, {"uid", "u"}};
    group["spec"] = {{"minMember", 2}, {"queue", "default"}};
    group["status"] = status;
    ASSERT_TRUE(feed_.Apply(objects::MustLoad(group.dump())));
    writer_.See(state_, *feed_.FindGroup("ns/g"));
  };
  WriteRefused(verdict_);
  const auto first = std::find_if(server_.open.begin(), server_.open.end(), [](const auto& one) {
    return one.second.path.ends_with("/podgroups/g");
  });
  ASSERT_NE(first, server_.open.end());
  const nlohmann::json written = nlohmann::json::parse(first->second.body)["status"];
  AnswerAll(200);
  shows({{"phase", "Inqueue"}});
  WriteRefused(verdict_);
  EXPECT_THAT(OpenMessages(), IsEmpty()) << "the watch is only behind";
  shows(written);
  shows({{"phase", "Inqueue"}});
  WriteRefused(verdict_);
  EXPECT_THAT(OpenMessages(), ElementsAre("no room"));
}

TEST_F(StatusWriterTest, SaysAVerdictOnce) {
  WriteRefused(verdict_);
  EXPECT_THAT(OpenMessages(), ElementsAre("no room"));
  EXPECT_EQ(Events(), 1U);
  AnswerAll(200);
  WriteRefused(verdict_);
  EXPECT_THAT(server_.open, IsEmpty());
  EXPECT_EQ(writer_.NextWrite(), std::nullopt);
  WriteRefused({"NotEnoughResources", "less room"});
  EXPECT_THAT(OpenMessages(), ElementsAre("less room"));
}

TEST_F(StatusWriterTest, AGangWhosePodsAreComingIsGivenASecond) {
  const Refusal coming{"NotEnoughTasks", "2 of 3 pods are there"};
  WriteRefused(coming);
  EXPECT_THAT(OpenMessages(), IsEmpty());
  EXPECT_EQ(writer_.NextWrite(), server_.transport.Now() + seconds(1));
  server_.transport.Advance(seconds(1));
  writer_.WriteLate(feed_);
  server_.Settle();
  EXPECT_THAT(OpenMessages(), ElementsAre("2 of 3 pods are there"));
}

TEST_F(StatusWriterTest, AdviceIsOneMoreWriteAndNoEvent) {
  WriteRefused(verdict_);
  AnswerAll(200);
  writer_.Advise(feed_, "ns/g", verdict_, "start with 1 pod");
  server_.Settle();
  EXPECT_THAT(server_.open, SizeIs(1));
  EXPECT_THAT(OpenMessages(), ElementsAre(HasSubstr("let it start: start with 1 pod")));
  AnswerAll(200);
  WriteRefused(verdict_);
  EXPECT_THAT(server_.open, IsEmpty()) << "the verdict is the same";
  writer_.Advise(feed_, "ns/g", {"NotEnoughResources", "of the past"}, "nothing");
  server_.Settle();
  EXPECT_THAT(server_.open, IsEmpty());
}

TEST_F(StatusWriterTest, AdviceThatCouldNotBeWrittenComesAgain) {
  WriteRefused(verdict_);
  AnswerAll(200);
  writer_.Advise(feed_, "ns/g", verdict_, "start with 1 pod");
  server_.Settle();
  AnswerAll(500);
  server_.transport.Advance(seconds(1));
  writer_.WriteLate(feed_);
  server_.Settle();
  EXPECT_THAT(OpenMessages(), ElementsAre(HasSubstr("let it start: start with 1 pod")));
}

TEST_F(StatusWriterTest, ARefusedWriteComesAgainLaterAndLater) {
  WriteRefused(verdict_);
  for (const int wait : {200, 400, 800}) {
    AnswerAll(403);
    const net::SteadyTime failed = server_.transport.Now();
    ASSERT_EQ(writer_.NextWrite(), failed + milliseconds(wait));
    WriteRefused(verdict_);
    EXPECT_THAT(OpenMessages(), IsEmpty()) << "a cycle does not make it come earlier";
    server_.transport.Advance(milliseconds(wait));
    AnswerAll(403);
    writer_.WriteLate(feed_);
    server_.Settle();
    EXPECT_THAT(OpenMessages(), ElementsAre("no room"));
  }
  AnswerAll(200);
  WriteRefused(verdict_);
  EXPECT_EQ(writer_.NextWrite(), std::nullopt);
}

TEST_F(StatusWriterTest, CountsOfPodsAreWrittenTogetherAfterASecond) {
  objects::ObjectSet set = objects::MustLoad(kGangOfTwo);
  set.pod_groups.clear();
  for (objects::Pod& pod : set.pods) {
    pod.spec.node_name = "node0";
    pod.status.phase = objects::PodPhase::kRunning;
  }
  objects::ObjectSet first;
  first.pods = {set.pods[0]};
  ASSERT_TRUE(feed_.Apply(std::move(first)));
  const net::SteadyTime noticed = server_.transport.Now();
  writer_.Write(feed_, {}, ++cycles_);
  server_.transport.Advance(milliseconds(900));
  ASSERT_TRUE(feed_.Apply(std::move(set)));
  writer_.Write(feed_, {}, ++cycles_);
  server_.Settle();
  EXPECT_THAT(server_.open, IsEmpty());
  ASSERT_EQ(writer_.NextWrite(), noticed + seconds(1));
  server_.transport.Advance(milliseconds(100));
  writer_.WriteLate(feed_);
  server_.Settle();
  const auto patch =
      std::find_if(server_.open.begin(), server_.open.end(), [](const auto& request) {
        return request.second.path.ends_with("/podgroups/g");
      });
  ASSERT_NE(patch, server_.open.end());
  EXPECT_EQ(nlohmann::json::parse(patch->second.body)["status"]["running"], 2);
  EXPECT_EQ(writer_.NextWrite(), std::nullopt);
}

}  // namespace
}  // namespace strata::live
