#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/test_server.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kDeletedMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kPods = "/api/v1/namespaces/default/pods";

void BindPod(TestServer& server, const std::string& name) {
  const Reply bound = server.Post(std::string(kPods) + "/" + name + "/binding",
                                  {{"apiVersion", "v1"},
                                   {"kind", "Binding"},
                                   {"metadata", {{"name", name}}},
                                   {"target", {{"kind", "Node"}, {"name", "n1"}}}});
  EXPECT_EQ(bound.status, 201) << bound.text;
}

TEST(Delete, AnswersAStatusWithTheUid) {
  TestServer server;
  const json map = server.Post(kDeletedMaps, ConfigMap("a")).body;
  const Reply reply = server.Delete(std::string(kDeletedMaps) + "/a");
  EXPECT_EQ(reply.body["status"], "Success");
  EXPECT_EQ(reply.body["details"],
            json({{"name", "a"}, {"kind", "configmaps"}, {"uid", map["metadata"]["uid"]}}));
  EXPECT_EQ(server.Get(std::string(kDeletedMaps) + "/a").status, 404);
}

TEST(Delete, WaitsForFinalizers) {
  TestServer server;
  const std::string url = std::string(kDeletedMaps) + "/a";
  json map = ConfigMap("a");
  map["metadata"]["finalizers"] = {"x.io/hold"};
  server.Post(kDeletedMaps, map);
  const Reply dying = server.Delete(url);
  EXPECT_TRUE(dying.body["metadata"].contains("deletionTimestamp")) << dying.text;
  const Reply again = server.Post(kDeletedMaps, ConfigMap("a"));
  EXPECT_EQ(again.message(), "object is being deleted: configmaps \"a\" already exists");
  const Reply last =
      server.Patch(url, "merge-patch+json", {{"metadata", {{"finalizers", nullptr}}}});
  EXPECT_EQ(last.status, 200) << last.text;
  EXPECT_EQ(last.body["metadata"]["resourceVersion"], dying.body["metadata"]["resourceVersion"]);
  EXPECT_EQ(server.Get(url).status, 404);
}

TEST(Delete, HasPreconditions) {
  TestServer server;
  server.Post(kDeletedMaps, ConfigMap("a"));
  const Reply reply =
      server.Delete(std::string(kDeletedMaps) + "/a", {{"preconditions", {{"uid", "other"}}}});
  EXPECT_EQ(reply.status, 409);
  EXPECT_THAT(reply.message(),
              HasSubstr("Operation cannot be fulfilled on ConfigMap \"a\": the UID in the "
                        "precondition (other) does not match the UID in record ("));
  EXPECT_EQ(reply.body["details"]["kind"], "ConfigMap");
}

TEST(Delete, OfACollectionReturnsTheDeletedObjects) {
  TestServer server;
  server.Post(kDeletedMaps, ConfigMap("a"));
  server.Post(kDeletedMaps, ConfigMap("b"));
  const Reply reply = server.Delete(std::string(kDeletedMaps) + "?fieldSelector=metadata.name%3Db");
  EXPECT_EQ(reply.body["kind"], "ConfigMapList");
  ASSERT_EQ(reply.body["items"].size(), 1U);
  EXPECT_EQ(reply.body["items"][0]["metadata"]["name"], "b");
  EXPECT_EQ(server.Get(kDeletedMaps).body["items"].size(), 1U);
}

TEST(DeletePod, GivesARunningOneTime) {
  TestServer server;
  server.Post(kPods, PlainPod("a"));
  BindPod(server, "a");
  const Reply dying = server.Delete(std::string(kPods) + "/a");
  EXPECT_EQ(dying.body["metadata"]["deletionGracePeriodSeconds"], 30);
  EXPECT_EQ(dying.body["metadata"]["deletionTimestamp"], "2027-01-15T08:00:30Z");
  const Reply shorter = server.Delete(std::string(kPods) + "/a", {{"gracePeriodSeconds", 5}});
  EXPECT_EQ(shorter.body["metadata"]["deletionGracePeriodSeconds"], 5);
  const Reply longer = server.Delete(std::string(kPods) + "/a", {{"gracePeriodSeconds", 50}});
  EXPECT_EQ(longer.body["metadata"]["deletionGracePeriodSeconds"], 5);
  server.Delete(std::string(kPods) + "/a", {{"gracePeriodSeconds", 0}});
  EXPECT_EQ(server.Get(std::string(kPods) + "/a").status, 404);
}

TEST(DeletePod, IsTwoWrites) {
  TestServer server;
  server.Post(kPods, PlainPod("a"));
  const auto watch = server.Begin("GET", std::string(kPods) + "?watch=true");
  const Reply reply = server.Delete(std::string(kPods) + "/a");
  EXPECT_EQ(reply.body["kind"], "Pod");
  const std::vector<json> events = Events(*watch);
  ASSERT_EQ(events.size(), 3U) << watch->answer.body;
  EXPECT_EQ(events[1]["type"], "MODIFIED");
  EXPECT_EQ(events[1]["object"]["metadata"]["generation"], 2);
  EXPECT_EQ(events[1]["object"]["metadata"]["deletionGracePeriodSeconds"], 0);
  EXPECT_EQ(events[2]["type"], "DELETED");
  EXPECT_NE(events[1]["object"]["metadata"]["resourceVersion"],
            events[2]["object"]["metadata"]["resourceVersion"]);
}

TEST(DeleteNamespace, DeletesTheObjectsInIt) {
  TestServer server;
  server.Post("/api/v1/namespaces", {{"metadata", {{"name", "x"}}}});
  json held = ConfigMap("held");
  held["metadata"]["finalizers"] = {"x.io/hold"};
  server.Post("/api/v1/namespaces/x/configmaps", held);
  server.Post("/api/v1/namespaces/x/configmaps", ConfigMap("free"));
  const Reply dying = server.Delete("/api/v1/namespaces/x");
  EXPECT_EQ(dying.body["status"]["phase"], "Terminating") << dying.text;
  const Reply late = server.Post("/api/v1/namespaces/x/configmaps", ConfigMap("late"));
  EXPECT_EQ(late.status, 403);
  EXPECT_EQ(late.body["details"]["causes"][0]["reason"], "NamespaceTerminating");
  EXPECT_EQ(server.Get("/api/v1/namespaces/x/configmaps").body["items"].size(), 1U);
  server.Patch("/api/v1/namespaces/x/configmaps/held",
               "merge-patch+json",
               {{"metadata", {{"finalizers", nullptr}}}});
  EXPECT_EQ(server.Get("/api/v1/namespaces/x").status, 404);
}

TEST(DeleteNamespace, RefusesThoseThatMustStay) {
  TestServer server;
  const Reply reply = server.Delete("/api/v1/namespaces/default");
  EXPECT_EQ(reply.status, 403);
  EXPECT_THAT(reply.message(), HasSubstr("this namespace may not be deleted"));
}

TEST(Binding, GivesANodeOnce) {
  TestServer server;
  server.Post(kPods, PlainPod("a"));
  BindPod(server, "a");
  const json pod = server.Get(std::string(kPods) + "/a").body;
  EXPECT_EQ(pod["spec"]["nodeName"], "n1");
  EXPECT_EQ(pod["status"]["conditions"][0]["type"], "PodScheduled");
  const Reply second =
      server.Post(std::string(kPods) + "/a/binding", {{"target", {{"name", "n2"}}}});
  EXPECT_EQ(second.status, 409);
  EXPECT_EQ(
      second.message(),
      "Operation cannot be fulfilled on pods/binding \"a\": pod a is already assigned to node "
      "\"n1\"");
}

TEST(Binding, ChecksWhatItPutsIntoThePod) {
  TestServer server;
  server.Post(kPods, PlainPod("a"));
  const auto bind = [&](const json& binding) {
    return server.Post(std::string(kPods) + "/a/binding", binding);
  };
  const json target = {{"kind", "Node"}, {"name", "n1"}};
  EXPECT_THAT(bind({{"target", {{"name", "No Node"}}}}).message(),
              HasSubstr("target.name: Invalid value: \"No Node\""));
  EXPECT_EQ(bind({{"target", {{"kind", "Pod"}, {"name", "n1"}}}}).status, 422);
  EXPECT_EQ(bind({{"target", target}, {"metadata", {{"labels", {{"bad key", "x"}}}}}}).status, 422);
  EXPECT_EQ(bind({{"target", target}, {"metadata", {{"annotations", {{"bad key", "x"}}}}}}).status,
            422);
  EXPECT_EQ(bind({{"target", target},
                  {"metadata", {{"annotations", {{"big", std::string(300'000, 'x')}}}}}})
                .status,
            422);
  EXPECT_FALSE(server.Get(std::string(kPods) + "/a").body["spec"].contains("nodeName"));
  EXPECT_EQ(bind({{"target", target}, {"metadata", {{"labels", {{"k", "v"}}}}}}).status, 201);
}

TEST(Eviction, WithAPreconditionThatFailsSpendsNothing) {
  TestServer server;
  server.Post(kPods, PlainPod("a"));
  BindPod(server, "a");
  server.Patch(
      std::string(kPods) + "/a/status", "merge-patch+json", {{"status", {{"phase", "Running"}}}});
  const std::string budget = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
  server.Post(budget,
              {{"metadata", {{"name", "b"}}},
               {"spec", {{"minAvailable", 1}, {"selector", {{"matchLabels", {{"app", "a"}}}}}}}});
  server.Patch(budget + "/b/status", "merge-patch+json", {{"status", {{"disruptionsAllowed", 1}}}});
  const auto evict = [&](const std::string& version) {
    return server.Post(std::string(kPods) + "/a/eviction",
                       {{"deleteOptions", {{"preconditions", {{"resourceVersion", version}}}}}});
  };
  EXPECT_EQ(evict("1").status, 409);
  EXPECT_EQ(server.Get(budget + "/b").body["status"]["disruptionsAllowed"], 1);
  const std::string version =
      server.Get(std::string(kPods) + "/a").body["metadata"]["resourceVersion"];
  EXPECT_EQ(evict(version).status, 201);
  EXPECT_EQ(server.Get(budget + "/b").body["status"]["disruptionsAllowed"], 0);
}

TEST(Eviction, RespectsABudget) {
  TestServer server;
  server.Post(kPods, PlainPod("a"));
  BindPod(server, "a");
  server.Patch(
      std::string(kPods) + "/a/status", "merge-patch+json", {{"status", {{"phase", "Running"}}}});
  const Reply made = server.Post(
      "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
      {{"metadata", {{"name", "b"}}},
       {"spec", {{"minAvailable", 1}, {"selector", {{"matchLabels", {{"app", "a"}}}}}}}});
  EXPECT_EQ(made.status, 201) << made.text;
  const Reply refused = server.Post(std::string(kPods) + "/a/eviction", json::object());
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.message(), "Cannot evict pod as it would violate the pod's disruption budget.");
  EXPECT_EQ(refused.body["details"]["causes"][0]["reason"], "DisruptionBudget");
  server.Patch("/apis/policy/v1/namespaces/default/poddisruptionbudgets/b/status",
               "merge-patch+json",
               {{"status", {{"disruptionsAllowed", 1}}}});
  const Reply evicted = server.Post(std::string(kPods) + "/a/eviction", json::object());
  EXPECT_EQ(evicted.status, 201) << evicted.text;
  const json pod = server.Get(std::string(kPods) + "/a").body;
  EXPECT_TRUE(pod["metadata"].contains("deletionTimestamp"));
  EXPECT_EQ(pod["status"]["conditions"].back()["type"], "DisruptionTarget");
}

}  // namespace
}  // namespace strata::apiserver
