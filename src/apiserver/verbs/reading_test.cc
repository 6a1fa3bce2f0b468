#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/test_server.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

constexpr const char* kConfigMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kTable = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

json Labelled(const std::string& name, const json& labels) {
  json map = ConfigMap(name);
  map["metadata"]["labels"] = labels;
  return map;
}

std::vector<std::string> Names(const Reply& reply) {
  std::vector<std::string> names;
  for (const json& item : reply.body["items"]) names.push_back(item["metadata"]["name"]);
  return names;
}

std::vector<std::string> Story(const TestExchange& watch) {
  std::vector<std::string> story;
  for (const json& event : Events(watch)) {
    story.push_back(event["type"].get<std::string>() + " " +
                    event["object"]["metadata"].value("name", ""));
  }
  return story;
}

TEST(List, ShowsItemsOfBuiltInKindsBareAndCustomOnesWhole) {
  TestServer server;
  server.Post(kConfigMaps, ConfigMap("a"));
  const Reply maps = server.Get(kConfigMaps);
  EXPECT_EQ(maps.body["kind"], "ConfigMapList");
  EXPECT_FALSE(maps.body["items"][0].contains("kind"));
  const Reply queues = server.Get("/apis/scheduling.volcano.sh/v1beta1/queues");
  EXPECT_EQ(queues.body["items"][0]["kind"], "Queue");
  EXPECT_EQ(queues.body["items"][0]["apiVersion"], "scheduling.volcano.sh/v1beta1");
  EXPECT_EQ(server.Get("/api/v1/pods").body["items"], json::array());
}

TEST(List, SelectsByLabelsAndFields) {
  TestServer server;
  server.Post(kConfigMaps, Labelled("a", {{"x", "1"}}));
  server.Post(kConfigMaps, Labelled("b", {{"x", "2"}, {"y", "1"}}));
  server.Post(kConfigMaps, ConfigMap("c"));
  const auto list = [&](const std::string& query) {
    return Names(server.Get(std::string(kConfigMaps) + "?" + query));
  };
  EXPECT_THAT(list("labelSelector=x%3D1"), ElementsAre("a"));
  EXPECT_THAT(list("labelSelector=x+in+(1,2),!y"), ElementsAre("a"));
  EXPECT_THAT(list("labelSelector=x!=1"), ElementsAre("b", "c"));
  EXPECT_THAT(list("labelSelector=x>1"), ElementsAre("b"));
  EXPECT_THAT(list("fieldSelector=metadata.name!%3Db"), ElementsAre("a", "c"));
  EXPECT_EQ(server.Get(std::string(kConfigMaps) + "?labelSelector=a+b").status, 400);
  EXPECT_EQ(server.Get(std::string(kConfigMaps) + "?fieldSelector=spec.x=1").status, 400);
}

TEST(List, PagesAreOneSnapshot) {
  TestServer server;
  for (const char* name : {"a", "b", "c"}) server.Post(kConfigMaps, ConfigMap(name));
  const Reply first = server.Get(std::string(kConfigMaps) + "?limit=2");
  EXPECT_THAT(Names(first), ElementsAre("a", "b"));
  EXPECT_EQ(first.body["metadata"]["remainingItemCount"], 1);
  server.Delete(std::string(kConfigMaps) + "/c");
  server.Post(kConfigMaps, ConfigMap("d"));
  const std::string token = first.body["metadata"]["continue"];
  const Reply second = server.Get(std::string(kConfigMaps) + "?limit=2&continue=" + token);
  EXPECT_THAT(Names(second), ElementsAre("c"));
  EXPECT_EQ(second.body["metadata"]["resourceVersion"], first.body["metadata"]["resourceVersion"]);
  EXPECT_EQ(server.Get(std::string(kConfigMaps) + "?continue=" + token).status, 410);
  EXPECT_EQ(server.Get(std::string(kConfigMaps) + "?continue=x").status, 400);
}

TEST(List, ShowsThePastByItsVersion) {
  TestServer server;
  server.Post(kConfigMaps, ConfigMap("a"));
  const std::string then =
      server.Post(kConfigMaps, ConfigMap("b")).body["metadata"]["resourceVersion"];
  server.Delete(std::string(kConfigMaps) + "/a");
  server.Post(kConfigMaps, ConfigMap("c"));
  EXPECT_THAT(Names(server.Get(std::string(kConfigMaps) +
                               "?resourceVersionMatch=Exact&resourceVersion=" + then)),
              ElementsAre("a", "b"));
}

TEST(List, WaitsThreeSecondsForTheFuture) {
  TestServer server;
  const auto exchange = server.Begin("GET", std::string(kConfigMaps) + "?resourceVersion=99999999");
  EXPECT_FALSE(exchange->answered);
  server.timers.Advance(std::chrono::seconds(3));
  const Reply reply = TestServer::ToReply(*exchange);
  EXPECT_EQ(reply.status, 504);
  EXPECT_EQ(reply.Header("Retry-After"), "1");
  EXPECT_EQ(reply.body["details"]["causes"][0]["reason"], "ResourceVersionTooLarge");
}

TEST(List, IsATableForKubectl) {
  TestServer server;
  server.Post(kConfigMaps, ConfigMap("a"));
  const Reply reply = server.Send("GET", kConfigMaps, "", {{"Accept", kTable}});
  EXPECT_EQ(reply.body["kind"], "Table");
  EXPECT_EQ(reply.body["rows"][0]["cells"][0], "a");
  EXPECT_EQ(reply.body["rows"][0]["object"]["kind"], "PartialObjectMetadata");
  EXPECT_FALSE(reply.body["columnDefinitions"].empty());
}

TEST(List, CanBeMetadataOnlyOrYaml) {
  TestServer server;
  server.Post(kConfigMaps, ConfigMap("a"));
  const Reply partial =
      server.Send("GET",
                  kConfigMaps,
                  "",
                  {{"Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}});
  EXPECT_EQ(partial.body["kind"], "PartialObjectMetadataList");
  EXPECT_FALSE(partial.body["items"][0].contains("data"));
  const Reply yaml = server.Send("GET", kConfigMaps, "", {{"Accept", "application/yaml"}});
  EXPECT_NE(yaml.text.find("kind: ConfigMapList"), std::string::npos);
  EXPECT_EQ(server.Send("GET", kConfigMaps, "", {{"Accept", "image/png"}}).status, 406);
}

TEST(Watch, TellsWhatHappens) {
  TestServer server;
  server.Post(kConfigMaps, ConfigMap("a"));
  const auto watch = server.Begin("GET", std::string(kConfigMaps) + "?watch=true");
  server.Post(kConfigMaps, ConfigMap("b"));
  server.Patch(std::string(kConfigMaps) + "/b", "merge-patch+json", {{"data", {{"x", "1"}}}});
  server.Delete(std::string(kConfigMaps) + "/b");
  EXPECT_THAT(Story(*watch), ElementsAre("ADDED a", "ADDED b", "MODIFIED b", "DELETED b"));
  EXPECT_EQ(Events(*watch)[0]["object"]["kind"], "ConfigMap");
  EXPECT_FALSE(watch->ended);
}

TEST(Watch, WithASelectorReportsObjectsThatEnterAndLeaveIt) {
  TestServer server;
  const std::string url = std::string(kConfigMaps) + "/a";
  server.Post(kConfigMaps, ConfigMap("a"));
  const auto watch =
      server.Begin("GET", std::string(kConfigMaps) + "?watch=true&labelSelector=x%3D1");
  server.Patch(url, "merge-patch+json", {{"metadata", {{"labels", {{"x", "1"}}}}}});
  const Reply left =
      server.Patch(url, "merge-patch+json", {{"metadata", {{"labels", {{"x", "2"}}}}}});
  EXPECT_THAT(Story(*watch), ElementsAre("ADDED a", "DELETED a"));
  const json gone = Events(*watch)[1]["object"];
  EXPECT_EQ(gone["metadata"]["labels"]["x"], "1");
  EXPECT_EQ(gone["metadata"]["resourceVersion"], left.body["metadata"]["resourceVersion"]);
}

TEST(Watch, EndsInTimeWithABookmarkBefore) {
  TestServer server;
  const auto watch = server.Begin(
      "GET", std::string(kConfigMaps) + "?watch=true&allowWatchBookmarks=true&timeoutSeconds=10");
  server.timers.Advance(std::chrono::seconds(8));
  EXPECT_THAT(Story(*watch), ElementsAre("BOOKMARK "));
  EXPECT_FALSE(watch->ended);
  server.timers.Advance(std::chrono::seconds(2));
  EXPECT_TRUE(watch->ended);
}

TEST(Watch, BookmarksComeAndItEndsInTimeWhenTheClockIsSet) {
  for (const int hours : {-1, 1}) {
    TestServer server;
    const auto watch = server.Begin(
        "GET",
        std::string(kConfigMaps) + "?watch=true&allowWatchBookmarks=true&timeoutSeconds=600");
    server.timers.Advance(std::chrono::seconds(90));
    EXPECT_EQ(Story(*watch).size(), 1U);
    server.clock.now += std::chrono::hours(hours);
    server.timers.Advance(std::chrono::seconds(509));
    EXPECT_EQ(Story(*watch).size(), 10U) << "one each minute, and one before the end";
    EXPECT_FALSE(watch->ended);
    server.timers.Advance(std::chrono::seconds(1));
    EXPECT_TRUE(watch->ended);
  }
}

TEST(Watch, EndsOnceAfterAPause) {
  TestServer server;
  const auto watch = server.Begin(
      "GET", std::string(kConfigMaps) + "?watch=true&allowWatchBookmarks=true&timeoutSeconds=600");
  server.timers.Pause(std::chrono::hours(1));
  EXPECT_FALSE(watch->ended);
  server.timers.Advance(std::chrono::seconds(0));
  EXPECT_TRUE(watch->ended);
  EXPECT_LE(Story(*watch).size(), 1U);
}

TEST(Watch, MarksTheEndOfTheInitialEvents) {
  TestServer server;
  server.Post(kConfigMaps, ConfigMap("a"));
  const auto watch = server.Begin("GET",
                                  std::string(kConfigMaps) +
                                      "?watch=true&sendInitialEvents=true&"
                                      "resourceVersionMatch=NotOlderThan&"
                                      "allowWatchBookmarks=true");
  EXPECT_THAT(Story(*watch), ElementsAre("ADDED a", "BOOKMARK "));
  EXPECT_EQ(Events(*watch)[1]["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"],
            "true");
  EXPECT_EQ(server.Get(std::string(kConfigMaps) + "?watch=true&sendInitialEvents=true").status,
            422);
}

TEST(Watch, FromTooLongAgoIsOneError) {
  TestServer server(HistoryLimits{.events = 2});
  for (const char* name : {"a", "b", "c", "d"}) server.Post(kConfigMaps, ConfigMap(name));
  const auto watch =
      server.Begin("GET", std::string(kConfigMaps) + "?watch=true&resourceVersion=1");
  EXPECT_EQ(watch->answer.status, 200);
  EXPECT_TRUE(watch->ended);
  const std::vector<json> events = Events(*watch);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0]["type"], "ERROR");
  EXPECT_EQ(events[0]["object"]["code"], 410);
  EXPECT_EQ(events[0]["object"]["reason"], "Expired");
  EXPECT_THAT(events[0]["object"]["message"].get<std::string>(),
              ::testing::StartsWith("too old resource version: 1 ("));
}

TEST(Watch, FromTheFutureIsSilent) {
  TestServer server;
  const auto watch =
      server.Begin("GET", std::string(kConfigMaps) + "?watch=true&resourceVersion=99999999");
  server.Post(kConfigMaps, ConfigMap("a"));
  EXPECT_EQ(watch->answer.body, "");
  EXPECT_FALSE(watch->ended);
}

TEST(Watch, FromTheFutureIsNotTakenBackByABookmark) {
  TestServer server;
  const auto watch = server.Begin(
      "GET",
      "/api/v1/"
      "configmaps?watch=true&resourceVersion=5000&allowWatchBookmarks=true&timeoutSeconds=10");
  server.timers.Advance(std::chrono::seconds(9));
  const std::vector<json> events = Events(*watch);
  ASSERT_EQ(events.size(), 1U) << watch->answer.body;
  EXPECT_EQ(events[0]["object"]["metadata"]["resourceVersion"], "5000");
}

TEST(Watch, AsTablesHasColumnsOnce) {
  TestServer server;
  const auto watch =
      server.Begin("GET", std::string(kConfigMaps) + "?watch=true", "", {{"Accept", kTable}});
  server.Post(kConfigMaps, ConfigMap("a"));
  server.Post(kConfigMaps, ConfigMap("b"));
  const std::vector<json> events = Events(*watch);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_FALSE(events[0]["object"]["columnDefinitions"].empty());
  EXPECT_TRUE(events[1]["object"]["columnDefinitions"].is_null());
  EXPECT_EQ(events[1]["object"]["rows"][0]["cells"][0], "b");
}

TEST(Watch, IsFreedWhenItsClientDisconnects) {
  TestServer server;
  auto watch = server.Begin("GET", std::string(kConfigMaps) + "?watch=true");
  watch->Drop();
  watch.reset();
  EXPECT_EQ(server.Post(kConfigMaps, ConfigMap("a")).status, 201);
  server.timers.Advance(std::chrono::hours(2));
}

}  // namespace
}  // namespace strata::apiserver
