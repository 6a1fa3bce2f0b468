#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/test_server.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";

TEST(Create, GivesTheObjectItsSystemFields) {
  TestServer server;
  const Reply reply = server.Post(kMaps, ConfigMap("a"));
  EXPECT_EQ(reply.status, 201) << reply.text;
  const json& meta = reply.body["metadata"];
  EXPECT_EQ(meta["namespace"], "default");
  EXPECT_EQ(meta["uid"].get<std::string>().size(), 36U);
  EXPECT_EQ(meta["creationTimestamp"], "2027-01-15T08:00:00Z");
  EXPECT_FALSE(meta.contains("generation"));
  EXPECT_EQ(server.Get(std::string(kMaps) + "/a").body, reply.body);
}

TEST(Create, RejectsANameThatExists) {
  TestServer server;
  server.Post(kMaps, ConfigMap("a"));
  const Reply reply = server.Post(kMaps, ConfigMap("a"));
  EXPECT_EQ(reply.status, 409);
  EXPECT_EQ(reply.message(), "configmaps \"a\" already exists");
  EXPECT_EQ(reply.body["reason"], "AlreadyExists");
}

TEST(Create, NamesWhatHasOnlyAGenerateName) {
  TestServer server;
  json map = ConfigMap("");
  map["metadata"] = {{"generateName", std::string(70, 'x')}};
  const Reply reply = server.Post(kMaps, map);
  EXPECT_EQ(reply.status, 201) << reply.text;
  EXPECT_EQ(reply.body["metadata"]["name"].get<std::string>().size(), 63U);
  EXPECT_EQ(reply.body["metadata"]["generateName"], std::string(70, 'x'));
}

TEST(Create, NeedsItsNamespace) {
  TestServer server;
  const Reply reply = server.Post("/api/v1/namespaces/nope/configmaps", ConfigMap("a"));
  EXPECT_EQ(reply.status, 404);
  EXPECT_EQ(reply.message(), "namespaces \"nope\" not found");
}

TEST(Create, DryRunWritesNothing) {
  TestServer server;
  EXPECT_EQ(server.Post(std::string(kMaps) + "?dryRun=All", ConfigMap("a")).status, 201);
  EXPECT_EQ(server.Get(std::string(kMaps) + "/a").status, 404);
}

TEST(Create, ReadsYamlToo) {
  TestServer server;
  const Reply reply = server.Send("POST",
                                  kMaps,
                                  "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yam}\n",
                                  {{"Content-Type", "application/yaml"}});
  EXPECT_EQ(reply.status, 201) << reply.text;
}

TEST(Create, SaysWhatItCannotRead) {
  TestServer server;
  EXPECT_THAT(
      server.Send("POST", kMaps, "").message(),
      StartsWith("the object provided is unrecognized (must be of type ConfigMap): couldn't "
                 "get version/kind; json parse error:"));
  EXPECT_EQ(server.Send("POST", kMaps, "[]").status, 400);
  EXPECT_EQ(server.Send("POST", kMaps, "null").status, 422);
  EXPECT_EQ(server.Send("POST", kMaps, std::string(10000, '[')).status, 400);
  const Reply text = server.Send("POST", kMaps, "x", {{"Content-Type", "text/plain"}});
  EXPECT_EQ(text.status, 415);
  EXPECT_THAT(text.message(), HasSubstr("application/vnd.kubernetes.protobuf"));
}

TEST(Create, StrictRefusesUnknownFieldsAndWarnTells) {
  TestServer server;
  json map = ConfigMap("a");
  map["gizmo"] = 1;
  const Reply strict = server.Post(std::string(kMaps) + "?fieldValidation=Strict", map);
  EXPECT_EQ(strict.status, 400);
  EXPECT_EQ(strict.message(),
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: "
            "unknown field \"gizmo\"");
  const Reply warn = server.Post(kMaps, map);
  EXPECT_EQ(warn.status, 201);
  EXPECT_EQ(warn.Header("Warning"), "299 - \"unknown field \\\"gizmo\\\"\"");
}

TEST(Create, StrictRefusesAnAnnotationThatTheSchedulerCannotReadAndWarnTells) {
  TestServer server;
  json map = ConfigMap("a");
  map["metadata"]["annotations"]["hami.io/gpu-scheduler-policy"] = "topologyaware";
  const Reply strict = server.Post(std::string(kMaps) + "?fieldValidation=Strict", map);
  EXPECT_EQ(strict.status, 400);
  EXPECT_THAT(strict.message(),
              HasSubstr("metadata.annotations[hami.io/gpu-scheduler-policy]: \"topologyaware\" is "
                        "not a policy"));
  const Reply warn = server.Post(kMaps, map);
  EXPECT_EQ(warn.status, 201);
  EXPECT_THAT(warn.Header("Warning"), HasSubstr("topologyaware"));
}

TEST(Create, WarnsAboutADuplicateField) {
  TestServer server;
  const Reply reply =
      server.Send("POST", kMaps, R"({"metadata":{"name":"a"},"data":{"k":"1","k":"2"}})");
  EXPECT_EQ(reply.status, 201) << reply.text;
  EXPECT_THAT(reply.Header("Warning"), HasSubstr("duplicate field"));
}

TEST(Create, RefusesAWrongTypeInTheWordsOfGo) {
  TestServer server;
  const Reply reply = server.Post(kMaps, ConfigMap("a", {{"k", 1}}));
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(
      reply.message(),
      HasSubstr("cannot unmarshal number into Go struct field ConfigMap.data of type string"));
}

TEST(Get, NamesTheResourceThatIsMissing) {
  TestServer server;
  const Reply reply = server.Get("/apis/scheduling.k8s.io/v1/priorityclasses/nope");
  EXPECT_EQ(reply.status, 404);
  EXPECT_EQ(reply.message(), "priorityclasses.scheduling.k8s.io \"nope\" not found");
  EXPECT_EQ(reply.body["details"],
            json({{"name", "nope"}, {"group", "scheduling.k8s.io"}, {"kind", "priorityclasses"}}));
}

TEST(Get, KnowsThreeKindsOf404) {
  TestServer server;
  EXPECT_EQ(server.Get("/api/v1/gizmos").message(),
            "the server could not find the requested resource");
  EXPECT_EQ(server.Get("/api/v1/gizmos").body["details"], json::object());
  EXPECT_EQ(server.Get("/apis/no.such/v1/x").text, "404 page not found\n");
  EXPECT_EQ(server.Get("/apis/topology.volcano.sh/v1alpha1/gizmos").text, "404 page not found\n");
}

TEST(Update, KeepsTheVersionWhenNothingChanges) {
  TestServer server;
  const json map = server.Post(kMaps, ConfigMap("a")).body;
  const Reply same = server.Put(std::string(kMaps) + "/a", map);
  EXPECT_EQ(same.status, 200) << same.text;
  EXPECT_EQ(same.body["metadata"]["resourceVersion"], map["metadata"]["resourceVersion"]);
}

TEST(Update, RefusesAStaleVersion) {
  TestServer server;
  json map = server.Post(kMaps, ConfigMap("a")).body;
  map["data"]["k"] = "w";
  EXPECT_EQ(server.Put(std::string(kMaps) + "/a", map).status, 200);
  map["data"]["k"] = "x";
  const Reply stale = server.Put(std::string(kMaps) + "/a", map);
  EXPECT_EQ(stale.status, 409);
  EXPECT_EQ(
      stale.message(),
      "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please "
      "apply your changes to the latest version and try again");
}

TEST(Update, OfALeaseRequiresAVersionAndCreatesAMissingOne) {
  TestServer server;
  const std::string url = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l";
  const json lease = {{"metadata", {{"name", "l"}}}, {"spec", {{"holderIdentity", "me"}}}};
  EXPECT_EQ(server.Put(url, lease).status, 201);
  const Reply reply = server.Put(url, lease);
  EXPECT_EQ(reply.status, 422);
  EXPECT_EQ(reply.message(),
            "leases.coordination.k8s.io \"l\" is invalid: metadata.resourceVersion: Invalid value: "
            "0: must be specified for an update");
}

TEST(Patch, TakesFourKinds) {
  TestServer server;
  const std::string url = std::string(kMaps) + "/a";
  server.Post(kMaps, ConfigMap("a"));
  const Reply merge = server.Patch(url, "merge-patch+json", {{"data", {{"m", "1"}}}});
  EXPECT_EQ(merge.status, 200) << merge.text;
  const Reply strategic = server.Patch(url, "strategic-merge-patch+json", {{"data", {{"s", "1"}}}});
  EXPECT_EQ(strategic.status, 200) << strategic.text;
  const Reply added =
      server.Patch(url, "json-patch+json", {{{"op", "add"}, {"path", "/data/j"}, {"value", "1"}}});
  EXPECT_EQ(added.status, 200) << added.text;
  const Reply applied = server.Patch(url + "?fieldManager=me",
                                     "apply-patch+yaml",
                                     {{"apiVersion", "v1"},
                                      {"kind", "ConfigMap"},
                                      {"metadata", {{"name", "a"}}},
                                      {"data", {{"a", "1"}}}});
  EXPECT_EQ(applied.status, 200) << applied.text;
  EXPECT_EQ(applied.body["data"],
            json({{"a", "1"}, {"j", "1"}, {"k", "v"}, {"m", "1"}, {"s", "1"}}));
}

TEST(Patch, RefusesWhatItDoesNotKnow) {
  TestServer server;
  server.Post(kMaps, ConfigMap("a"));
  const std::string url = std::string(kMaps) + "/a";
  EXPECT_EQ(server.Patch(url, "json", json::object()).message(), "415: Unsupported Media Type");
  EXPECT_EQ(server
                .Patch("/apis/scheduling.volcano.sh/v1beta1/queues/default",
                       "strategic-merge-patch+json",
                       json::object())
                .status,
            415);
  EXPECT_EQ(server.Patch(url, "json-patch+json", json::object()).status, 400);
  EXPECT_EQ(
      server.Patch(url, "json-patch+json", {{{"op", "test"}, {"path", "/data/x"}, {"value", 1}}})
          .message(),
      "the server rejected our request due to an error in our request");
  EXPECT_EQ(
      server.Patch(url, "apply-patch+yaml", ConfigMap("a")).message(),
      "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for "
      "apply patch");
}

TEST(Apply, CreatesMissingObjectsAndReportsConflicts) {
  TestServer server;
  const std::string url = std::string(kMaps) + "/a";
  EXPECT_EQ(server.Patch(url + "?fieldManager=one", "apply-patch+yaml", ConfigMap("a")).status,
            201);
  const json other = ConfigMap("a", {{"k", "w"}});
  const Reply conflict = server.Patch(url + "?fieldManager=two", "apply-patch+yaml", other);
  EXPECT_EQ(conflict.status, 409);
  EXPECT_THAT(conflict.message(),
              StartsWith("Apply failed with 1 conflict: conflict with \"one\""));
  EXPECT_THAT(conflict.message(), HasSubstr(": .data.k"));
  EXPECT_EQ(conflict.body["details"]["causes"][0]["reason"], "FieldManagerConflict");
  const Reply forced =
      server.Patch(url + "?fieldManager=two&force=true", "apply-patch+yaml", other);
  EXPECT_EQ(forced.status, 200) << forced.text;
  EXPECT_EQ(forced.body["data"]["k"], "w");
}

TEST(Options, AreValidatedAsObjects) {
  TestServer server;
  const Reply reply = server.Post(std::string(kMaps) + "?dryRun=x", ConfigMap("a"));
  EXPECT_EQ(reply.status, 422);
  EXPECT_EQ(reply.message(),
            "CreateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"x\"]: "
            "supported values: \"All\"");
  EXPECT_EQ(server.Get(std::string(kMaps) + "?limit=abc").status, 400);
  EXPECT_EQ(server.Get(std::string(kMaps) + "?limit=-1").status, 200);
  EXPECT_EQ(server.Get(std::string(kMaps) + "?resourceVersionMatch=Exact").status, 422);
}

TEST(Methods, ThatAreNotThereAre405) {
  TestServer server;
  EXPECT_EQ(server.Send("HEAD", kMaps).status, 405);
  EXPECT_EQ(server.Send("PUT", kMaps).status, 405);
  EXPECT_EQ(server.Send("PUT", "/apis/topology.volcano.sh/v1alpha1/hypernodes").message(),
            "name must be provided");
}

TEST(Answers, ArePrettyForPeople) {
  TestServer server;
  const Reply curl = server.Send("GET", kMaps, "", {{"User-Agent", "curl/7.88"}});
  EXPECT_THAT(curl.text, HasSubstr("\n  \"items\": ["));
  EXPECT_EQ(server.Get(kMaps).text.find('\n'), server.Get(kMaps).text.size() - 1);
}

}  // namespace
}  // namespace strata::apiserver
