#include <memory>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/store/test_support.h"
#include "apiserver/test_server.h"

// Namespaces and definitions that go, with everything that can come between.
namespace strata::apiserver {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kCrds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr const char* kThing =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.x.io";
constexpr const char* kThings = "/apis/x.io/v1/namespaces/default/things";
constexpr const char* kSpace = "/api/v1/namespaces/x";
constexpr const char* kSpaceMaps = "/api/v1/namespaces/x/configmaps";

json ThingDefinition() {
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", "things.x.io"}}},
          {"spec",
           {{"group", "x.io"},
            {"scope", "Namespaced"},
            {"names", {{"plural", "things"}, {"kind", "Thing"}}},
            {"versions",
             {{{"name", "v1"},
               {"served", true},
               {"storage", true},
               {"schema", {{"openAPIV3Schema", {{"type", "object"}}}}}}}}}}};
}

json Thing(const std::string& name) {
  return {{"apiVersion", "x.io/v1"}, {"kind", "Thing"}, {"metadata", {{"name", name}}}};
}

json Held(json object) {
  object["metadata"]["finalizers"] = {"x.io/hold"};
  return object;
}

const json kLetGo = {{"metadata", {{"finalizers", nullptr}}}};

// A server over a disk that a test can break.
struct OnDisk {
  OnDisk() : OnDisk(std::make_shared<FakeDisk>()) {}
  explicit OnDisk(std::shared_ptr<FakeDisk> old)
      : disk(std::move(old)), server(std::make_unique<TestServer>(disk->OpenStore({}))) {
    Settle();
  }
  void Settle() const {
    while (disk->busy()) disk->Succeed();
  }
  Reply Send(std::string_view method, std::string_view url, const json& body = nullptr) const {
    const auto asked = server->Begin(method, url, body.is_null() ? "" : body.dump());
    Settle();
    return TestServer::ToReply(*asked);
  }
  // kill -9, and a new process over what the disk has.
  [[nodiscard]] OnDisk Restarted() {
    if (disk->busy()) disk->Forget();
    server.reset();
    return OnDisk(disk);
  }

  std::shared_ptr<FakeDisk> disk;
  std::unique_ptr<TestServer> server;
};

TEST(TerminatingNamespace, IsFinishedByTheNextProcess) {
  OnDisk first;
  first.Send("POST", "/api/v1/namespaces", {{"metadata", {{"name", "x"}}}});
  first.Send("POST", kSpaceMaps, ConfigMap("a"));
  first.server->Begin("DELETE", kSpace);
  first.disk->Succeed();  // it is marked; what is in it is still there
  const OnDisk second = first.Restarted();
  EXPECT_EQ(second.Send("GET", kSpace).status, 404);
  EXPECT_EQ(second.Send("GET", kSpaceMaps).body["items"], json::array());
}

TEST(TerminatingNamespace, IsFinishedAfterACommitThatFailed) {
  const OnDisk on;
  on.Send("POST", "/api/v1/namespaces", {{"metadata", {{"name", "x"}}}});
  on.Send("POST", kSpaceMaps, ConfigMap("a"));
  on.server->Begin("DELETE", kSpace);
  on.disk->Succeed();
  on.disk->Break();
  EXPECT_EQ(on.Send("GET", kSpace).body["status"]["phase"], "Terminating");
  on.server->timers.Advance(std::chrono::seconds(2));
  on.Settle();
  EXPECT_EQ(on.Send("GET", kSpace).status, 404);
}

TEST(TerminatingNamespace, PhaseInARequestNeitherStartsNorStopsADeletion) {
  TestServer server;
  server.Post("/api/v1/namespaces", {{"metadata", {{"name", "x"}}}});
  const Reply reply = server.Patch(std::string(kSpace) + "/status",
                                   "merge-patch+json",
                                   {{"status", {{"phase", "Terminating"}}}});
  EXPECT_EQ(reply.body["status"]["phase"], "Active") << reply.text;
  server.Post(kSpaceMaps, Held(ConfigMap("a")));
  server.Delete(kSpace);
  server.Patch(
      std::string(kSpace) + "/status", "merge-patch+json", {{"status", {{"phase", "Active"}}}});
  EXPECT_EQ(server.Get(kSpace).body["status"]["phase"], "Terminating");
  server.Patch(std::string(kSpaceMaps) + "/a", "merge-patch+json", kLetGo);
  EXPECT_EQ(server.Get(kSpace).status, 404);
}

TEST(TerminatingDefinition, IsFinishedByTheNextProcess) {
  OnDisk first;
  first.Send("POST", kCrds, ThingDefinition());
  ASSERT_EQ(first.Send("POST", kThings, Thing("a")).status, 201);
  first.server->Begin("DELETE", kThing);
  first.disk->Succeed();
  const OnDisk second = first.Restarted();
  EXPECT_EQ(second.Send("GET", kThing).status, 404);
  EXPECT_EQ(second.Send("GET", kThings).status, 404);
  second.Send("POST", kCrds, ThingDefinition());
  EXPECT_EQ(second.Send("GET", kThings).body["items"], json::array());
}

TEST(TerminatingDefinition, IsFinishedAfterACommitThatFailed) {
  const OnDisk on;
  on.Send("POST", kCrds, ThingDefinition());
  on.Send("POST", kThings, Thing("a"));
  on.server->Begin("DELETE", kThing);
  on.disk->Succeed();
  on.disk->Break();
  EXPECT_EQ(on.Send("GET", kThing).status, 200);
  on.server->timers.Advance(std::chrono::seconds(2));
  on.Settle();
  EXPECT_EQ(on.Send("GET", kThing).status, 404);
}

TEST(TerminatingDefinition, IsEmptiedAgainWhenItIsDeletedAgain) {
  const OnDisk on;
  on.Send("POST", kCrds, ThingDefinition());
  on.Send("POST", kThings, Thing("a"));
  on.server->Begin("DELETE", kThing);
  on.disk->Succeed();
  on.disk->Break();
  EXPECT_EQ(on.Send("DELETE", kThing).status, 200);
  EXPECT_EQ(on.Send("GET", kThing).status, 404);
}

TEST(TerminatingDefinition, WaitsForTheFinalizersOfOthers) {
  TestServer server;
  server.Post(kCrds, Held(ThingDefinition()));
  server.Post(kThings, Thing("a"));
  server.Delete(kThing);
  const Reply waits = server.Get(kThing);
  EXPECT_EQ(waits.body["metadata"]["finalizers"], json({"x.io/hold"})) << waits.text;
  EXPECT_EQ(server.Get(kThings).body["items"], json::array());
  server.Patch(kThing, "merge-patch+json", kLetGo);
  EXPECT_EQ(server.Get(kThing).status, 404);
}

TEST(TerminatingDefinition, IsRemovedWithTheLastFinalizerOfItsObjects) {
  TestServer server;
  server.Post(kCrds, ThingDefinition());
  server.Post(kThings, Held(Thing("a")));
  server.Delete(kThing);
  EXPECT_EQ(server.Get(kThing).status, 200);
  server.Patch(std::string(kThings) + "/a", "merge-patch+json", kLetGo);
  EXPECT_EQ(server.Get(kThing).status, 404);
}

TEST(TerminatingDefinition, RejectsNewObjects) {
  TestServer server;
  server.Post(kCrds, ThingDefinition());
  server.Post(kThings, Held(Thing("a")));
  server.Delete(kThing);
  const Reply late = server.Post(kThings, Thing("late"));
  EXPECT_EQ(late.status, 405);
  EXPECT_THAT(late.message(), HasSubstr("terminating"));
}

TEST(TerminatingDefinition, RejectsNewObjectsWhileItsRemovalIsBeingWritten) {
  const OnDisk on;
  on.Send("POST", kCrds, ThingDefinition());
  on.server->Begin("DELETE", kThing);
  const auto late = on.server->Begin("POST", kThings, Thing("late").dump());
  on.Settle();
  EXPECT_EQ(late->answer.status, 404);
}

TEST(TerminatingDefinition, OfQueuesIsRemovedDespiteTheSystemQueues) {
  TestServer server;
  const std::string queues = std::string(kCrds) + "/queues.scheduling.volcano.sh";
  const Reply deleted = server.Delete(queues);
  EXPECT_EQ(deleted.status, 200) << deleted.text;
  EXPECT_EQ(server.Get(queues).status, 404);
}

TEST(TerminatingDefinition, EndsTheWatchesOfItsKind) {
  TestServer server;
  server.Post(kCrds, ThingDefinition());
  const auto watch = server.Begin("GET", std::string(kThings) + "?watch=true");
  const auto other = server.Begin("GET", std::string(kSpaceMaps) + "?watch=true");
  EXPECT_FALSE(watch->ended);
  server.Delete(kThing);
  EXPECT_TRUE(watch->ended);
  EXPECT_FALSE(other->ended);
}

TEST(Definition, KeepsScopeAndKind) {
  TestServer server;
  server.Post(kCrds, ThingDefinition());
  const Reply scope = server.Patch(kThing, "merge-patch+json", {{"spec", {{"scope", "Cluster"}}}});
  EXPECT_EQ(scope.status, 422);
  EXPECT_THAT(scope.message(),
              HasSubstr("spec.scope: Invalid value: \"Cluster\": field is immutable"));
  const Reply kind =
      server.Patch(kThing, "merge-patch+json", {{"spec", {{"names", {{"kind", "Other"}}}}}});
  EXPECT_EQ(kind.status, 422) << kind.text;
}

TEST(Definition, ThatServesNoVersionAnyMoreServesNothing) {
  TestServer server;
  server.Post(kCrds, ThingDefinition());
  EXPECT_EQ(server.Get(kThings).status, 200);
  json definition = server.Get(kThing).body;
  definition["spec"]["versions"][0]["served"] = false;
  ASSERT_EQ(server.Put(kThing, definition).status, 200);
  EXPECT_EQ(server.Get(kThings).status, 404);
}

TEST(Definition, WithARuleThatIsNotSupportedIsRefusedByName) {
  TestServer server;
  json definition = ThingDefinition();
  json& schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
  schema["x-kubernetes-validations"] = {{{"rule", "self.nobody.knows()"}}};
  const Reply refused = server.Post(kCrds, definition);
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(refused.text,
              HasSubstr(R"(x-kubernetes-validations[0].rule: Invalid value: )"
                        R"(\"self.nobody.knows()\": compilation failed: )"
                        R"(function \"knows\" is not supported)"));
}

TEST(Definition, RuleAboutThePreviousStateHoldsOfUpdates) {
  TestServer server;
  json definition = ThingDefinition();
  json& schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
  schema["properties"] = {
      {"spec", {{"type", "object"}, {"properties", {{"color", {{"type", "string"}}}}}}}};
  schema["properties"]["spec"]["x-kubernetes-validations"] = {
      {{"rule", "self.color == oldSelf.color"}, {"message", "color is immutable"}}};
  ASSERT_EQ(server.Post(kCrds, definition).status, 201);
  json thing = Thing("t");
  thing["spec"] = {{"color", "red"}};
  const Reply made = server.Post(kThings, thing);
  ASSERT_EQ(made.status, 201) << made.text;
  const std::string url = std::string(kThings) + "/t";
  EXPECT_EQ(
      server.Patch(url, "merge-patch+json", {{"metadata", {{"labels", {{"a", "b"}}}}}}).status,
      200);
  const Reply refused = server.Patch(url, "merge-patch+json", {{"spec", {{"color", "blue"}}}});
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(refused.text, HasSubstr("spec: Invalid value: color is immutable"));
}

TEST(Definition, IndexesWritesThatAreOnTheirWayToTheDisk) {
  const OnDisk on;
  on.Send("POST", kCrds, ThingDefinition());
  json selectable = on.Send("GET", kThing).body;
  json& version = selectable["spec"]["versions"][0];
  version["selectableFields"] = {{{"jsonPath", ".spec.color"}}};
  version["schema"]["openAPIV3Schema"]["properties"] = {
      {"spec", {{"type", "object"}, {"properties", {{"color", {{"type", "string"}}}}}}}};
  const auto update = on.server->Begin("PUT", kThing, selectable.dump());
  json red = Thing("red");
  red["spec"] = {{"color", "red"}};
  const auto created = on.server->Begin("POST", kThings, red.dump());
  on.Settle();
  EXPECT_EQ(update->answer.status, 200) << update->answer.body;
  EXPECT_EQ(created->answer.status, 201) << created->answer.body;
  const Reply found = on.Send("GET", std::string(kThings) + "?fieldSelector=spec.color%3Dred");
  EXPECT_EQ(found.body["items"].size(), 1U) << found.text;
}

}  // namespace
}  // namespace strata::apiserver
