#include "virtual_nodes/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/timestamp.h"

namespace strata::virtual_nodes {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

const Time kNow = ParseTimestamp("2026-08-20T10:00:00.250Z").value();

SeenNode NodeOf(const std::string& rest) {
  const auto node = SeenNode::Read(
      R"({"metadata":{"name":"n1","uid":"u1","resourceVersion":"7","labels":{"strata.sh/virtual":"true"}})" +
      rest + "}");
  EXPECT_TRUE(node) << node.error().message;
  return *node;
}
std::string ReadyIs(const std::string& status, const std::string& reason = "x") {
  return R"(,"status":{"conditions":[{"type":"Ready","status":")" + status + R"(","reason":")" +
         reason + R"("}]})";
}
const std::string kTainted =
    R"(,"spec":{"taints":[{"key":"mine","effect":"NoExecute","value":"v"},)"
    R"({"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"}]})";

// What is written to where, or "nothing".
std::string Target(const std::optional<kube::Call>& call) {
  return call ? call->method + " " + call->path : "nothing";
}

TEST(DecideNode, ANodeWithoutStatusBecomesReadyAndGetsItsDefaults) {
  const auto call = DecideNode(NodeOf(""), Reach::kEvery, kNow);
  ASSERT_EQ(Target(call), "PATCH /api/v1/nodes/n1/status");
  const Json body = Json::parse(call->body);
  EXPECT_EQ(body["metadata"], Json::parse(R"({"uid":"u1","resourceVersion":"7"})"));
  EXPECT_EQ(body["status"]["conditions"][0]["status"], "True");
  EXPECT_EQ(body["status"]["conditions"][0]["lastTransitionTime"], "2026-08-20T10:00:00Z");
  EXPECT_EQ(body["status"]["allocatable"]["cpu"], "96");
}

TEST(DecideNode, AStatusThatSomebodyGaveStaysWhenItBecomesReady) {
  const auto call = DecideNode(
      NodeOf(
          R"(,"status":{"allocatable":{"cpu":"4"},"addresses":[{"type":"InternalIP","address":"1.2.3.4"}]})"),
      Reach::kEvery,
      kNow);
  ASSERT_TRUE(call);
  const Json status = Json::parse(call->body)["status"];
  EXPECT_FALSE(status.contains("allocatable"));
  EXPECT_FALSE(status.contains("capacity"));
  EXPECT_FALSE(status.contains("addresses"));
}

TEST(DecideNode, AReadyNodeLosesItsTaintAndOnlyThat) {
  const auto call = DecideNode(NodeOf(kTainted + ReadyIs("True")), Reach::kEvery, kNow);
  ASSERT_EQ(Target(call), "PATCH /api/v1/nodes/n1");
  EXPECT_EQ(Json::parse(call->body)["spec"]["taints"],
            Json::parse(R"([{"key":"mine","effect":"NoExecute","value":"v"}])"));
}

TEST(DecideNode, AnIdleNodeWritesNothing) {
  EXPECT_EQ(Target(DecideNode(NodeOf(ReadyIs("True")), Reach::kEvery, kNow)), "nothing");
  EXPECT_EQ(Target(DecideNode(NodeOf(kTainted + ReadyIs("False")), Reach::kEvery, kNow)),
            "nothing");
  EXPECT_EQ(Target(DecideNode(NodeOf(kTainted + ReadyIs("Unknown")), Reach::kEvery, kNow)),
            "nothing");
}

TEST(DecideNode, AFailedNodeIsTaintedAndStaysFailed) {
  const auto call = DecideNode(NodeOf(ReadyIs("False")), Reach::kEvery, kNow);
  ASSERT_EQ(Target(call), "PATCH /api/v1/nodes/n1");
  EXPECT_THAT(call->body, HasSubstr("node.kubernetes.io/not-ready"));
  EXPECT_THAT(call->body, ::testing::Not(HasSubstr("conditions")));
}

TEST(DecideNode, BesideRealNodesOnlyThoseThatAreLabelledAreTouched) {
  SeenNode node = NodeOf("");
  node.labelled = false;
  EXPECT_EQ(Target(DecideNode(node, Reach::kLabelled, kNow)), "nothing");
  EXPECT_EQ(Target(DecideNode(node, Reach::kEvery, kNow)), "PATCH /api/v1/nodes/n1/status");
}

TEST(DecideNode, RestoresANodeThatWasOnlyLateAndNoOtherUnknownNode) {
  const SeenNode late = NodeOf(ReadyIs("Unknown", "NodeStatusUnknown"));
  EXPECT_EQ(Target(DecideNode(late, Reach::kLabelled, kNow)), "PATCH /api/v1/nodes/n1/status");
  const SeenNode other = NodeOf(ReadyIs("Unknown", "Unplugged"));
  EXPECT_EQ(Target(DecideNode(other, Reach::kLabelled, kNow)), "nothing");
}

TEST(RenewLease, IsAnApplyThatAlsoCreates) {
  const kube::Call call = RenewLease(NodeOf(""), kNow);
  EXPECT_EQ(call.method + " " + call.path,
            "PATCH /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1");
  EXPECT_EQ(call.content_type, "application/apply-patch+yaml");
  EXPECT_EQ(Json::parse(call.body)["spec"]["renewTime"], "2026-08-20T10:00:00.250000Z");
}

// ---- pods ----

Json PodJson() {
  return Json::parse(R"({
    "metadata": {"name": "p", "namespace": "ns", "uid": "u2", "resourceVersion": "9"},
    "spec": {"nodeName": "n1", "containers": [{"name": "main", "image": "i"}],
             "initContainers": [{"name": "first", "image": "i"},
                                {"name": "side", "image": "i", "restartPolicy": "Always"}]},
    "status": {"phase": "Pending"}})");
}
SeenPod PodOf(const Json& json) {
  const auto pod = SeenPod::Read(json.dump());
  EXPECT_TRUE(pod) << pod.error().message;
  return *pod;
}
PodAction DecideOn(const Json& json, Host host = Host::kAlive, Time now = kNow) {
  return DecidePod(PodOf(json), {.host = host, .host_ip = "10.1.1.1", .started = {}}, now);
}
std::string TargetOf(const PodAction& action) {
  if (const auto* due = std::get_if<Time>(&action)) return "wait " + FormatTimestamp(*due);
  const auto* call = std::get_if<kube::Call>(&action);
  return call == nullptr ? "nothing" : call->method + " " + call->path;
}
Json StatusIn(const PodAction& action) {
  return Json::parse(std::get<kube::Call>(action).body)["status"];
}
Json RunningJson(const char* run_seconds = "5") {
  Json pod = PodJson();
  pod["metadata"]["annotations"]["strata.sh/run-seconds"] = run_seconds;
  pod["status"] = {{"phase", "Running"}, {"startTime", "2026-08-20T09:59:58Z"}};
  return pod;
}
constexpr const char* kStatusWrite = "PATCH /api/v1/namespaces/ns/pods/p/status";

TEST(DecidePod, ABoundPodRunsAtOnce) {
  const PodAction action = DecideOn(PodJson());
  ASSERT_EQ(TargetOf(action), kStatusWrite);
  const Json status = StatusIn(action);
  EXPECT_EQ(status["phase"], "Running");
  EXPECT_EQ(status["startTime"], "2026-08-20T10:00:00Z");
  EXPECT_EQ(status["hostIP"], "10.1.1.1");
  EXPECT_TRUE(status["containerStatuses"][0]["state"].contains("running"));
  EXPECT_EQ(status["containerStatuses"][0]["ready"], true);
  EXPECT_EQ(status["initContainerStatuses"][0]["state"]["terminated"]["exitCode"], 0);
  EXPECT_TRUE(status["initContainerStatuses"][1]["state"].contains("running"));
}

TEST(DecidePod, NothingHappensToPodsThatAreNotOurs) {
  EXPECT_EQ(TargetOf(DecideOn(PodJson(), Host::kForeign)), "nothing");
  Json unbound = PodJson();
  unbound["spec"].erase("nodeName");
  EXPECT_EQ(TargetOf(DecideOn(unbound)), "nothing");
  Json deleted = PodJson();
  deleted["metadata"]["deletionTimestamp"] = "2026-08-20T10:00:00Z";
  EXPECT_EQ(TargetOf(DecideOn(deleted, Host::kForeign)), "nothing");
}

TEST(DecidePod, NothingStartsOrEndsOnAFailedNode) {
  EXPECT_EQ(TargetOf(DecideOn(PodJson(), Host::kFailed)), "nothing");
  EXPECT_EQ(TargetOf(DecideOn(RunningJson("1"), Host::kFailed)), "nothing");
}

TEST(DecidePod, AStatusThatSomebodyElseWroteIsNotPutBack) {
  // Started, and told to be something else.
  for (const char* phase : {"Pending", "Unknown", "Failed", "Succeeded"}) {
    Json pod = RunningJson("1");
    pod["status"]["phase"] = phase;
    EXPECT_EQ(TargetOf(DecideOn(pod)), "nothing") << phase;
  }
  // Not started, and somebody has said what its containers do.
  Json waiting = PodJson();
  waiting["status"]["containerStatuses"] = {{{"name", "main"}}};
  EXPECT_EQ(TargetOf(DecideOn(waiting)), "nothing");
}

TEST(DecidePod, EndsWhenItsTimeIsOver) {
  EXPECT_EQ(TargetOf(DecideOn(RunningJson("5"))), "wait 2026-08-20T10:00:03Z");
  const PodAction action = DecideOn(RunningJson("2"));
  ASSERT_EQ(TargetOf(action), kStatusWrite);
  const Json status = StatusIn(action);
  EXPECT_EQ(status["phase"], "Succeeded");
  const Json& terminated = status["containerStatuses"][0]["state"]["terminated"];
  EXPECT_EQ(terminated["exitCode"], 0);
  EXPECT_EQ(terminated["startedAt"], "2026-08-20T09:59:58Z");
  EXPECT_EQ(terminated["finishedAt"], "2026-08-20T10:00:00Z");
}

TEST(DecidePod, TheMomentOfTheStartCountsWhereItIsKnown) {
  const Time started = ParseTimestamp("2026-08-20T09:59:58.900Z").value();
  const PodAction action = DecidePod(PodOf(RunningJson("2")), {Host::kAlive, "", started}, kNow);
  EXPECT_EQ(TargetOf(action), "wait 2026-08-20T10:00:00.900Z");
}

TEST(DecidePod, AnExitCodeIsAFailure) {
  Json pod = RunningJson("0.5");
  pod["metadata"]["annotations"]["strata.sh/exit-code"] = "3";
  pod["spec"]["restartPolicy"] = "Always";
  const Json status = StatusIn(DecideOn(pod));
  EXPECT_EQ(status["phase"], "Failed");
  EXPECT_EQ(status["containerStatuses"][0]["state"]["terminated"]["exitCode"], 3);
}

TEST(DecidePod, AnAnnotationThatCannotBeReadCountsAsNone) {
  for (const char* bad : {"soon", "-1", "1e99", "5 s", "NaN"}) {
    const Json pod = RunningJson(bad);
    EXPECT_EQ(PodOf(pod).bad_annotation, kRunSeconds) << bad;
    EXPECT_EQ(TargetOf(DecideOn(pod)), "nothing") << bad;
  }
  EXPECT_EQ(TargetOf(DecideOn(RunningJson("9000000000000000"))), "wait 2126-07-27T09:59:58Z");
}

TEST(DecidePod, ADeletedPodGoesWithoutGraceAlsoFromANodeThatFailedOrWent) {
  Json pod = RunningJson();
  pod["metadata"]["deletionTimestamp"] = "2026-08-20T10:00:30Z";
  pod["metadata"]["deletionGracePeriodSeconds"] = 30;
  for (const Host host : {Host::kAlive, Host::kFailed, Host::kMissing}) {
    const PodAction action = DecideOn(pod, host);
    ASSERT_EQ(TargetOf(action), "DELETE /api/v1/namespaces/ns/pods/p");
    const Json body = Json::parse(std::get<kube::Call>(action).body);
    EXPECT_EQ(body["gracePeriodSeconds"], 0);
    EXPECT_EQ(body["preconditions"]["uid"], "u2");
  }
}

TEST(DecidePod, ADeletedPodTakesTheTimeThatItsNodeSays) {
  Json pod = RunningJson();
  pod["metadata"]["deletionTimestamp"] = "2026-08-20T10:00:28Z";  // asked at 09:59:58
  pod["metadata"]["deletionGracePeriodSeconds"] = 30;
  const auto after = [&](Duration stop, Host host = Host::kAlive) {
    return TargetOf(DecidePod(PodOf(pod), {host, "", {}, stop}, kNow));
  };
  constexpr const char* kGoes = "DELETE /api/v1/namespaces/ns/pods/p";
  EXPECT_EQ(after(std::chrono::seconds(10)), "wait 2026-08-20T10:00:08Z");
  EXPECT_EQ(after(std::chrono::seconds(2)), kGoes);
  EXPECT_EQ(after(std::chrono::hours(1)), "wait 2026-08-20T10:00:28Z") << "its grace period";
  EXPECT_EQ(after(std::chrono::seconds(10), Host::kFailed), kGoes);
  pod["status"]["phase"] = "Succeeded";
  EXPECT_EQ(after(std::chrono::seconds(10)), kGoes);
}

TEST(SeenNode, ReadsHowLongItsPodsTakeToStop) {
  const auto stop_of = [](const std::string& value) {
    return SeenNode::Read(R"({"metadata":{"name":"n1","annotations":{"strata.sh/stop-seconds":")" +
                          value + "\"}}}")
        ->stop_time;
  };
  EXPECT_EQ(stop_of("10"), std::chrono::seconds(10));
  EXPECT_EQ(stop_of("0.5"), std::chrono::milliseconds(500));
  EXPECT_EQ(stop_of("soon"), Duration(0));
  EXPECT_EQ(stop_of("-1"), Duration(0));
}

TEST(DecidePod, OnlyFinalizersHoldADeletedPodWithoutGrace) {
  Json pod = RunningJson();
  pod["metadata"]["deletionTimestamp"] = "2026-08-20T10:00:00Z";
  pod["metadata"]["deletionGracePeriodSeconds"] = 0;
  pod["metadata"]["finalizers"] = Json::array({"a/b"});
  EXPECT_EQ(TargetOf(DecideOn(pod)), "nothing");
  pod["metadata"].erase("finalizers");
  EXPECT_EQ(TargetOf(DecideOn(pod)), "DELETE /api/v1/namespaces/ns/pods/p");
}

TEST(Seen, RejectsWhatIsNotAnObject) {
  for (const char* bad : {"", "[]", "null", "{\"metadata\":[]}", "{\"metadata\":{\"name\":3}}"}) {
    EXPECT_FALSE(SeenPod::Read(bad)) << bad;
    EXPECT_FALSE(SeenNode::Read(bad)) << bad;
  }
}

}  // namespace
}  // namespace strata::virtual_nodes
