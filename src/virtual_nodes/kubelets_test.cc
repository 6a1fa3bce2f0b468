#include "virtual_nodes/kubelets.h"

#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/property.h"

namespace strata::virtual_nodes {
namespace {

using Json = nlohmann::json;
using Outcome = Kubelets::Outcome;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Nodes and pods behind an API server that knows versions, and the kubelets that look at them: as
// much of a cluster as these decisions need, in a time of its own.
class SmallCluster {
 public:
  explicit SmallCluster(Reach reach = Reach::kEvery) : kubelets(reach) {}

  Kubelets kubelets;
  std::vector<std::string> written;  // "PATCH node/n1"
  Time now{std::chrono::hours(24 * 20000)};

  void Node(const std::string& name, Json status = Json::object(), bool labelled = true) {
    Json node = {{"metadata", {{"name", name}, {"uid", "uid-" + name}}}, {"spec", Json::object()}};
    node["status"] = std::move(status);
    if (labelled) node["metadata"]["labels"] = {{"strata.sh/virtual", "true"}};
    Put("node/" + name, std::move(node));
  }
  void Pod(const std::string& name, const std::string& node, const std::string& run = "") {
    Json pod = {{"metadata", {{"name", name}, {"namespace", "ns"}, {"uid", "uid-" + name}}},
                {"spec", {{"nodeName", node}}},
                {"status", {{"phase", "Pending"}}}};
    pod["spec"]["containers"] = Json::array({Json::object({{"name", "c"}, {"image", "i"}})});
    if (!run.empty()) pod["metadata"]["annotations"] = {{"strata.sh/run-seconds", run}};
    Put("pod/ns/" + name, std::move(pod));
  }
  Json& operator[](const std::string& key) { return objects_[key]; }

  // Somebody else changes it.
  void Patch(const std::string& key, const Json& patch) {
    Json object = objects_[key];
    object.merge_patch(patch);
    Put(key, std::move(object));
  }
  void Remove(const std::string& key) {
    kube::Delta delta = DeltaOf(key, kube::Delta::Type::kDeleted);
    objects_.erase(key);
    EXPECT_TRUE(kubelets.Take(delta));
  }

  Kubelets::Moment Moment() const { return {now, net::SteadyTime(now.time_since_epoch())}; }
  // Everything that is due is written.
  void Settle() {
    while (auto work = kubelets.Next(Moment())) {
      written.push_back(work->call.method + " " + work->key);
      const Outcome outcome = Carry(work->key, work->call);
      kubelets.Finish(work->key, outcome, Moment());
    }
  }
  void Pass(Duration time) {
    now += time;
    Settle();
  }

  // The server's side of a write.
  Outcome Carry(const std::string& key, const kube::Call& call) {
    if (key.starts_with("lease/")) return Outcome::kDone;
    const auto found = objects_.find(key);
    if (found == objects_.end()) return Outcome::kStale;
    Json& object = found->second;
    const Json body = Json::parse(call.body);
    if (call.method == "DELETE") {
      Remove(key);
      return Outcome::kDone;
    }
    if (body["metadata"]["resourceVersion"] != object["metadata"]["resourceVersion"]) {
      return Outcome::kStale;
    }
    Json patch = body;
    patch["metadata"].erase("resourceVersion");
    Patch(key, patch);
    return Outcome::kDone;
  }

 private:
  kube::Delta DeltaOf(const std::string& key, kube::Delta::Type type) {
    const Json& object = objects_[key];
    const bool node = key.starts_with("node/");
    kube::Delta delta;
    delta.type = type;
    delta.source = node ? Kubelets::kNodeSource : Kubelets::kPodSource;
    delta.key = {node ? "" : "ns", object["metadata"]["name"].get<std::string>()};
    delta.text = object.dump();
    return delta;
  }
  void Put(const std::string& key, Json object) {
    const bool is_new = !objects_.contains(key);
    object["metadata"]["resourceVersion"] = std::to_string(++version_);
    objects_[key] = std::move(object);
    EXPECT_TRUE(kubelets.Take(
        DeltaOf(key, is_new ? kube::Delta::Type::kAdded : kube::Delta::Type::kModified)));
  }

  int version_ = 0;
  std::map<std::string, Json> objects_;
};

Json ReadyStatus(const char* status) {
  const Json ready = {{"type", "Ready"}, {"status", status}};
  return Json::object({{"conditions", Json::array({ready})}, {"capacity", {{"cpu", "1"}}}});
}

TEST(Kubelets, APodRunsOnANodeThatBecameReadyFirst) {
  SmallCluster cluster;
  cluster.Pod("p", "n1");
  cluster.Settle();
  EXPECT_THAT(cluster.written, IsEmpty());
  cluster.Node("n1");
  cluster.Settle();
  EXPECT_THAT(cluster.written, ElementsAre("PATCH node/n1", "PATCH pod/ns/p"));
  EXPECT_EQ(cluster["pod/ns/p"]["status"]["phase"], "Running");
}

TEST(Kubelets, IdleWritesNothing) {
  SmallCluster cluster;
  cluster.Node("n1");
  cluster.Pod("p", "n1");
  cluster.Settle();
  cluster.written.clear();
  cluster.Pass(std::chrono::hours(1000));
  EXPECT_THAT(cluster.written, IsEmpty());
  EXPECT_EQ(cluster.kubelets.NextDue(), std::nullopt);
  EXPECT_EQ(cluster.kubelets.pods_kept(), 0U);
}

TEST(Kubelets, APodEndsWhenItsSecondsAreOverToTheMillisecond) {
  SmallCluster cluster;
  cluster.now += Duration(700);
  cluster.Node("n1");
  cluster.Pod("p", "n1", "5");
  cluster.Settle();
  cluster.Pass(Duration(4999));
  EXPECT_EQ(cluster["pod/ns/p"]["status"]["phase"], "Running");
  cluster.Pass(Duration(1));
  EXPECT_EQ(cluster["pod/ns/p"]["status"]["phase"], "Succeeded");
}

TEST(Kubelets, AFailedNodeStartsNothingUntilItIsWrittenReady) {
  SmallCluster cluster;
  cluster.Node("n1", ReadyStatus("True"));
  cluster.Pod("old", "n1", "5");
  cluster.Settle();
  cluster.Patch("node/n1", {{"status", ReadyStatus("False")}});
  cluster.Pod("new", "n1");
  cluster.Pass(std::chrono::seconds(60));
  EXPECT_EQ(cluster["pod/ns/new"]["status"]["phase"], "Pending");
  EXPECT_EQ(cluster["pod/ns/old"]["status"]["phase"], "Running");
  EXPECT_EQ(cluster["node/n1"]["status"]["conditions"][0]["status"], "False");
  cluster.Patch("node/n1", {{"status", ReadyStatus("True")}});
  cluster.Settle();
  EXPECT_EQ(cluster["pod/ns/new"]["status"]["phase"], "Running");
  EXPECT_EQ(cluster["pod/ns/old"]["status"]["phase"], "Succeeded");
}

TEST(Kubelets, WhatOthersWroteWhileAWriteWasUnderWayStays) {
  SmallCluster cluster;
  cluster.Node("n1", ReadyStatus("True"));
  cluster.Pod("p", "n1");
  cluster.Settle();
  cluster.Pod("q", "n1");
  const auto work = cluster.kubelets.Next(cluster.Moment());
  ASSERT_TRUE(work);
  cluster.Patch("pod/ns/q", {{"status", {{"phase", "Failed"}}}});
  EXPECT_EQ(cluster.kubelets.Next(cluster.Moment()), std::nullopt) << "one write at a time";
  cluster.kubelets.Finish(work->key, cluster.Carry(work->key, work->call), cluster.Moment());
  cluster.Settle();
  EXPECT_EQ(cluster["pod/ns/q"]["status"]["phase"], "Failed");
}

TEST(Kubelets, AWriteThatFailedIsTriedAgainEachTimeLater) {
  SmallCluster cluster;
  cluster.Node("n1");
  std::vector<Duration> delays;
  for (int i = 0; i < 4; ++i) {
    const auto work = cluster.kubelets.Next(cluster.Moment());
    ASSERT_TRUE(work);
    cluster.kubelets.Finish(work->key, Outcome::kFailed, cluster.Moment());
    EXPECT_FALSE(cluster.kubelets.Next(cluster.Moment()));
    const auto due = cluster.kubelets.NextDue();
    ASSERT_TRUE(due);
    delays.push_back(*due - cluster.Moment().steady);
    cluster.now += delays.back();
  }
  EXPECT_THAT(delays, ElementsAre(Duration(100), Duration(200), Duration(400), Duration(800)));
}

TEST(Kubelets, ADeletedPodGoesAlsoWhenItsNodeIsGone) {
  SmallCluster cluster;
  cluster.Node("n1", ReadyStatus("True"));
  cluster.Pod("p", "n1");
  cluster.Settle();
  cluster.Remove("node/n1");
  cluster.Patch(
      "pod/ns/p",
      {{"metadata",
        {{"deletionTimestamp", "2026-01-01T00:00:00Z"}, {"deletionGracePeriodSeconds", 30}}}});
  cluster.written.clear();
  cluster.Settle();
  EXPECT_THAT(cluster.written, ElementsAre("DELETE pod/ns/p"));
  EXPECT_EQ(cluster.kubelets.pods_kept(), 0U);
}

TEST(Kubelets, BesideRealNodesLeasesAreRenewedWhileANodeLives) {
  SmallCluster cluster(Reach::kLabelled);
  cluster.Node("n1", ReadyStatus("True"));
  cluster.Node("real", ReadyStatus("True"), false);
  cluster.Settle();
  cluster.Pass(kRenewEvery);
  EXPECT_THAT(cluster.written, ElementsAre("PATCH lease/n1", "PATCH lease/n1"));
  cluster.Patch("node/n1", {{"status", ReadyStatus("False")}});
  cluster.Settle();
  cluster.written.clear();
  cluster.Pass(kRenewEvery);
  EXPECT_THAT(cluster.written, IsEmpty());
}

TEST(Kubelets, IsSettledOnceBothListsWereSeenAndNothingIsToBeDone) {
  SmallCluster cluster;
  cluster.Node("n1");
  kube::Delta synced;
  EXPECT_TRUE(cluster.kubelets.Take(synced));
  cluster.Settle();
  EXPECT_FALSE(cluster.kubelets.IsSettled());
  EXPECT_TRUE(cluster.kubelets.Take(synced));
  EXPECT_TRUE(cluster.kubelets.IsSettled());
  cluster.Node("n2");
  const auto work = cluster.kubelets.Next(cluster.Moment());
  EXPECT_FALSE(cluster.kubelets.IsSettled());
  cluster.kubelets.Finish(work->key, Outcome::kDone, cluster.Moment());
  EXPECT_TRUE(cluster.kubelets.IsSettled());
}

TEST(Kubelets, AnObjectThatCannotBeReadIsLeftAlone) {
  Kubelets kubelets(Reach::kEvery);
  kube::Delta delta;
  delta.type = kube::Delta::Type::kAdded;
  delta.source = Kubelets::kPodSource;
  delta.text = R"({"metadata":[]})";
  EXPECT_FALSE(kubelets.Take(delta));
}

// A Node of two GPUs, whose agent has registered them.
Json NodeWithAgent() {
  return {
      {"annotations",
       {{"strata.sh/agent", R"({"version":"virtual","identity":"pods"})"},
        {"hami.io/node-nvidia-register",
         R"([{"id":"GPU-0","count":1,"devmem":1000,"devcore":100,"type":"T","health":true},)"
         R"({"id":"GPU-1","count":1,"devmem":1000,"devcore":100,"type":"T","health":true}])"}}}};
}

// Asks for a GPU, by a scheduler that chose `gpu` for it.
Json GpuPod(const std::string& gpu) {
  const std::string record = gpu + ",NVIDIA,1000,100:;";
  const Json limits = {{"nvidia.com/gpu", "1"}};
  const Json container = {{"name", "c"}, {"image", "i"}, {"resources", {{"limits", limits}}}};
  return {{"metadata",
           {{"annotations",
             {{"hami.io/vgpu-node", "n1"},
              {"hami.io/vgpu-devices-allocated", record},
              {"hami.io/vgpu-devices-to-allocate", record},
              {"hami.io/bind-phase", "allocating"}}}}},
          {"spec", {{"containers", Json::array({container})}}}};
}

class ClusterWithAgent : public SmallCluster {
 public:
  ClusterWithAgent() {
    Node("n1", ReadyStatus("True"));
    Patch("node/n1", {{"metadata", NodeWithAgent()}});
  }
  void StopAgent(bool stop) {
    const Json value = stop ? Json("true") : Json();
    Patch("node/n1", {{"metadata", {{"annotations", {{"strata.sh/agent-stopped", value}}}}}});
  }
  Json PhaseOf(const std::string& pod) {
    return (*this)["pod/ns/" + pod]["metadata"]["annotations"]["hami.io/bind-phase"];
  }
};

TEST(Kubelets, APodWithGpusStartsAfterTheAgentHasServedIt) {
  ClusterWithAgent cluster;
  cluster.Pod("p", "n1");
  cluster.Patch("pod/ns/p", GpuPod("GPU-1"));
  cluster.Settle();
  EXPECT_THAT(cluster.written, ElementsAre("PATCH pod/ns/p", "PATCH pod/ns/p"));
  EXPECT_EQ(cluster.PhaseOf("p"), "success");
  EXPECT_EQ(cluster["pod/ns/p"]["status"]["phase"], "Running");
  EXPECT_EQ(cluster.kubelets.agents().served(), 1U);
  cluster.Remove("pod/ns/p");
  EXPECT_EQ(cluster.kubelets.agents().served(), 0U);
}

TEST(Kubelets, APodWhoseRecordIsWrongFailsInTheWordsOfAKubelet) {
  ClusterWithAgent cluster;
  cluster.Pod("p", "n1");
  cluster.Patch("pod/ns/p", GpuPod("GPU-9"));
  cluster.Settle();
  EXPECT_EQ(cluster.PhaseOf("p"), "failed");
  const Json status = cluster["pod/ns/p"]["status"];
  EXPECT_EQ(status["phase"], "Failed");
  EXPECT_EQ(status["reason"], "UnexpectedAdmissionError");
  EXPECT_THAT(status["message"].get<std::string>(),
              ::testing::HasSubstr("its record names GPU-9, which this node does not have"));
}

TEST(Kubelets, PodsWithGpusDoNotStartWhileTheAgentIsStopped) {
  ClusterWithAgent cluster;
  cluster.StopAgent(true);
  cluster.Pod("p", "n1");
  cluster.Patch("pod/ns/p", GpuPod("GPU-0"));
  cluster.Pod("without", "n1");
  cluster.Pass(std::chrono::hours(1));
  EXPECT_EQ(cluster["pod/ns/without"]["status"]["phase"], "Running");
  EXPECT_EQ(cluster["pod/ns/p"]["status"]["phase"], "Pending");
  EXPECT_EQ(cluster.PhaseOf("p"), "allocating");
  cluster.StopAgent(false);
  cluster.Settle();
  EXPECT_EQ(cluster["pod/ns/p"]["status"]["phase"], "Running");
  EXPECT_EQ(cluster.PhaseOf("p"), "success");
}

TEST(Kubelets, AnAnswerOfTheAgentThatCameTooLateIsGivenAgain) {
  ClusterWithAgent cluster;
  cluster.Pod("p", "n1");
  cluster.Patch("pod/ns/p", GpuPod("GPU-0"));
  const auto work = cluster.kubelets.Next(cluster.Moment());
  ASSERT_TRUE(work);
  cluster.Patch("pod/ns/p", {{"metadata", {{"labels", {{"x", "y"}}}}}});
  cluster.kubelets.Finish(work->key, cluster.Carry(work->key, work->call), cluster.Moment());
  EXPECT_EQ(cluster.PhaseOf("p"), "allocating");
  cluster.Settle();
  EXPECT_EQ(cluster.PhaseOf("p"), "success");
  EXPECT_EQ(cluster["pod/ns/p"]["status"]["phase"], "Running");
}

// A cluster to which things happen at random.
class RandomHistory {
 public:
  SmallCluster cluster;
  std::set<std::string> nodes;
  std::set<std::string> pods;

  void Step() {
    const std::string node = "n" + std::to_string(*rc::gen::inRange(0, 3));
    const std::string pod = "p" + std::to_string(*rc::gen::inRange(0, 6));
    switch (*rc::gen::inRange(0, 6)) {
      case 0:
        return ChangeNode(node);
      case 1:
        return ChangePod(pod, node);
      case 2:
        if (nodes.erase(node) > 0) cluster.Remove("node/" + node);
        return;
      case 3:
        return DeletePod(pod);
      case 4:
        return cluster.Pass(Duration(*rc::gen::inRange(0, 4000)));
      default:
        return cluster.Settle();
    }
  }

  bool IsAlive(const std::string& node) {
    return nodes.contains(node) &&
           cluster["node/" + node]["status"]["conditions"][0]["status"] == "True";
  }

 private:
  void ChangeNode(const std::string& node) {
    if (nodes.insert(node).second) return cluster.Node(node);
    const bool good = *rc::gen::arbitrary<bool>();
    cluster.Patch("node/" + node, {{"status", ReadyStatus(good ? "True" : "False")}});
  }
  void ChangePod(const std::string& pod, const std::string& node) {
    if (pods.insert(pod).second) {
      return cluster.Pod(pod, node, *rc::gen::element<std::string>("", "3", "0"));
    }
    const Json labels = {{"x", std::to_string(*rc::gen::inRange(0, 9))}};
    cluster.Patch("pod/ns/" + pod, {{"metadata", {{"labels", labels}}}});
  }
  void DeletePod(const std::string& pod) {
    if (pods.erase(pod) == 0) return;
    const Json mark = {{"deletionTimestamp", "2026-01-01T00:00:00Z"}};
    cluster.Patch("pod/ns/" + pod, {{"metadata", mark}});
    cluster.Settle();
  }
};

// Whatever happened in whatever order: when everything has settled and time has passed, every pod
// of a live node runs or has ended, and nothing is written any more.
TEST(KubeletsProperty, EveryHistoryEndsWhereItShould) {
  testing::CheckProperty(200, [] {
    RandomHistory history;
    const int steps = *rc::gen::inRange(1, 60);
    for (int step = 0; step < steps; ++step) history.Step();
    history.cluster.Settle();
    history.cluster.Pass(std::chrono::seconds(10));
    for (const std::string& pod : history.pods) {
      const Json& object = history.cluster["pod/ns/" + pod];
      if (!history.IsAlive(object["spec"]["nodeName"])) continue;
      const bool ends = object["metadata"].contains("annotations");
      RC_ASSERT(object["status"]["phase"] == (ends ? "Succeeded" : "Running"));
    }
    history.cluster.written.clear();
    history.cluster.Pass(std::chrono::hours(1));
    RC_ASSERT(history.cluster.written.empty());
  });
}

}  // namespace
}  // namespace strata::virtual_nodes
