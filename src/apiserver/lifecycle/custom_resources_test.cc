#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/test_server.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr const char* kGizmos = "/apis/x.io/v1/namespaces/default/gizmos";

json GizmoDefinition() {
  return {
      {"apiVersion", "apiextensions.k8s.io/v1"},
      {"kind", "CustomResourceDefinition"},
      {"metadata", {{"name", "gizmos.x.io"}}},
      {"spec",
       {{"group", "x.io"},
        {"scope", "Namespaced"},
        {"names", {{"plural", "gizmos"}, {"kind", "Gizmo"}}},
        {"versions",
         {{{"name", "v1"},
           {"served", true},
           {"storage", true},
           {"subresources", {{"status", json::object()}}},
           {"schema",
            {{"openAPIV3Schema",
              {{"type", "object"},
               {"properties",
                {{"spec",
                  {{"type", "object"},
                   {"properties", {{"size", {{"type", "integer"}, {"default", 3}}}}}}},
                 {"status",
                  {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}}}}}}}}}}}}}};
}

json Gizmo(const std::string& name, const json& spec) {
  return {
      {"apiVersion", "x.io/v1"}, {"kind", "Gizmo"}, {"metadata", {{"name", name}}}, {"spec", spec}};
}

TEST(Definition, IsServedAtOnce) {
  TestServer server;
  const Reply made = server.Post(kDefinitions, GizmoDefinition());
  ASSERT_EQ(made.status, 201) << made.text;
  EXPECT_EQ(made.body["status"]["acceptedNames"]["listKind"], "GizmoList");
  EXPECT_EQ(made.body["status"]["storedVersions"], json({"v1"}));
  const Reply gizmo = server.Post(kGizmos, Gizmo("a", json::object()));
  ASSERT_EQ(gizmo.status, 201) << gizmo.text;
  EXPECT_EQ(gizmo.body["spec"]["size"], 3);
  EXPECT_EQ(gizmo.body["metadata"]["generation"], 1);
}

TEST(Definition, DeletesItsObjectsWhenItIsDeleted) {
  TestServer server;
  server.Post(kDefinitions, GizmoDefinition());
  server.Post(kGizmos, Gizmo("a", json::object()));
  server.Delete(std::string(kDefinitions) + "/gizmos.x.io");
  EXPECT_EQ(server.Get(std::string(kDefinitions) + "/gizmos.x.io").status, 404);
  EXPECT_EQ(server.Get(kGizmos).text, "404 page not found\n");
  server.Post(kDefinitions, GizmoDefinition());
  EXPECT_EQ(server.Get(kGizmos).body["items"], json::array());
}

TEST(Definition, MustMakeSense) {
  TestServer server;
  json bad = GizmoDefinition();
  bad["metadata"]["name"] = "other";
  const Reply reply = server.Post(kDefinitions, bad);
  EXPECT_EQ(reply.status, 422);
  EXPECT_THAT(reply.message(), HasSubstr("must be spec.names.plural+\".\"+spec.group"));
}

TEST(CustomObject, CountsGenerationsOfItsSpecOnly) {
  TestServer server;
  server.Post(kDefinitions, GizmoDefinition());
  server.Post(kGizmos, Gizmo("a", json::object()));
  const std::string url = std::string(kGizmos) + "/a";
  const Reply labelled =
      server.Patch(url, "merge-patch+json", {{"metadata", {{"labels", {{"x", "1"}}}}}});
  EXPECT_EQ(labelled.body["metadata"]["generation"], 1) << labelled.text;
  const Reply status = server.Patch(url + "/status",
                                    "merge-patch+json",
                                    {{"status", {{"phase", "Good"}}},
                                     {"spec", {{"size", 9}}},
                                     {"metadata", {{"labels", {{"x", "2"}}}}}});
  EXPECT_EQ(status.body["status"]["phase"], "Good") << status.text;
  EXPECT_EQ(status.body["spec"]["size"], 3);
  EXPECT_EQ(status.body["metadata"]["labels"]["x"], "1");
  EXPECT_EQ(status.body["metadata"]["generation"], 1);
  const Reply spec = server.Patch(url, "merge-patch+json", {{"spec", {{"size", 4}}}});
  EXPECT_EQ(spec.body["metadata"]["generation"], 2);
  EXPECT_EQ(spec.body["status"]["phase"], "Good");
}

TEST(CustomObject, IsCheckedByItsSchema) {
  TestServer server;
  server.Post(kDefinitions, GizmoDefinition());
  const Reply wrong = server.Post(kGizmos, Gizmo("a", {{"size", "big"}}));
  EXPECT_EQ(wrong.status, 422);
  EXPECT_THAT(wrong.message(), HasSubstr("spec.size: Invalid value: \"string\""));
  EXPECT_THAT(wrong.message(), ::testing::StartsWith("Gizmo.x.io \"a\" is invalid: "));
  EXPECT_THAT(server.Post(kGizmos, {{"metadata", {{"name", "a"}}}}).message(),
              HasSubstr("Object 'Kind' is missing in"));
  json other = Gizmo("a", json::object());
  other["kind"] = "Queue";
  EXPECT_THAT(server.Post(kGizmos, other).message(),
              HasSubstr("kind: Invalid value: \"Queue\": must be Gizmo"));
  other["apiVersion"] = "x.io/v9";
  EXPECT_EQ(server.Post(kGizmos, other).message(),
            "the API version in the data (x.io/v9) does not match the expected API version "
            "(x.io/v1)");
}

TEST(Birth, BringsNamespacesAndOpenQueues) {
  TestServer server;
  EXPECT_EQ(server.Get("/api/v1/namespaces").body["items"].size(), 5U);
  const Reply queue = server.Get("/apis/scheduling.volcano.sh/v1beta1/queues/default");
  EXPECT_EQ(queue.body["status"]["state"], "Open") << queue.text;
  EXPECT_EQ(server.Get("/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups/x/status")
                .status,
            404);
}

TEST(Documents, AreServed) {
  TestServer server;
  EXPECT_EQ(server.Get("/readyz").text, "ok");
  EXPECT_EQ(server.Get("/version").body["major"], "1");
  EXPECT_EQ(server.Get("/api/v1").body["kind"], "APIResourceList");
  EXPECT_EQ(server.Get("/apis").body["kind"], "APIGroupList");
  EXPECT_EQ(server.Get("/nope").text, "404 page not found\n");
  const Reply v2 = server.Send(
      "GET",
      "/apis",
      "",
      {{"Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}});
  EXPECT_EQ(v2.Header("Content-Type"),
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
}

// The definitions are read once per process; their status is of each cluster.
TEST(OwnDefinitions, ASecondServerServesThemWithItsOwnTimes) {
  TestServer first;
  TestClock clock;
  clock.now += std::chrono::hours(1);
  const std::unique_ptr<ObjectStore> store = MakeMemoryObjectStore({});
  TestTimers timers(clock);
  TestRandom random;
  ApiServer second(*store, timers, clock, random, {});
  ASSERT_TRUE(second.Start());
  const auto definition = [](const ObjectStore& in) {
    const ObjectRef stored = in.Get(
        {"customresourcedefinitions.apiextensions.k8s.io", "", "queues.scheduling.volcano.sh"});
    return stored == nullptr ? json() : json::parse(stored->body);
  };
  const json ours = definition(*first.store);
  const json theirs = definition(*store);
  const json::json_pointer time("/status/conditions/0/lastTransitionTime");
  EXPECT_EQ(ours.value(time, ""), "2027-01-15T08:00:00Z");
  EXPECT_EQ(theirs.value(time, ""), "2027-01-15T09:00:00Z");
  EXPECT_EQ(ours["spec"], theirs["spec"]);
  EXPECT_NE(second.table().Find("scheduling.volcano.sh", "v1beta1", "queues"), nullptr);
}

TEST(Owners, AreNotRecordedWhereTheProgramDoesNotWantThem) {
  const auto owners = [](bool records) {
    ApiServerOptions options;
    options.records_owners = records;
    TestServer server(HistoryLimits{}, options);
    const json map = {{"metadata", {{"name", "m"}}}, {"data", {{"a", "1"}}}};
    server.Post("/api/v1/namespaces/default/configmaps", map);
    const char* path = "/api/v1/namespaces/default/configmaps/m";
    server.Patch(path, "merge-patch+json", {{"data", {{"a", "2"}}}});
    return server.Get(path).body["metadata"].contains("managedFields");
  };
  EXPECT_TRUE(owners(true));
  EXPECT_FALSE(owners(false));
}

TEST(AccessReview, AllowsEverything) {
  TestServer server;
  const Reply reply =
      server.Post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                  {{"spec", {{"resourceAttributes", {{"verb", "get"}, {"resource", "pods"}}}}}});
  EXPECT_EQ(reply.status, 201) << reply.text;
  EXPECT_EQ(reply.body["status"]["allowed"], true);
}

}  // namespace
}  // namespace strata::apiserver
