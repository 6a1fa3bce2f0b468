#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/state/list_snapshots.h"
#include "apiserver/test_server.h"

// What one request can make the server hold, say or work through.
namespace strata::apiserver {
namespace {

using nlohmann::json;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr const char* kLimitedMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kLimitedPods = "/api/v1/namespaces/default/pods";

TEST(Limits, ListsAHundredProblemsAndCountsTheRest) {
  TestServer server;
  json map = ConfigMap("a");
  for (int i = 0; i < 150; ++i) map["metadata"]["labels"][fmt::format("bad key {}", i)] = "x";
  const Reply reply = server.Post(kLimitedMaps, map);
  EXPECT_EQ(reply.status, 422);
  const json& causes = reply.body["details"]["causes"];
  ASSERT_EQ(causes.size(), 101U);
  EXPECT_EQ(causes.back()["message"], "and 50 more problems");
  EXPECT_THAT(reply.message(), EndsWith("and 50 more problems]"));
}

TEST(Limits, FieldsAreShownAsFarAsOneCanRead) {
  TestServer server;
  const std::string key(500'000, 'x');
  const Reply strict = server.Send("POST",
                                   std::string(kLimitedMaps) + "?fieldValidation=Strict",
                                   json{{"metadata", {{"name", "a"}}}, {key, 1}}.dump());
  EXPECT_EQ(strict.status, 400);
  EXPECT_LT(strict.text.size(), 5000U);
}

TEST(Limits, WarningsFitIntoAHead) {
  TestServer server;
  json map = ConfigMap("a");
  for (int i = 0; i < 5000; ++i) map[fmt::format("unknown{}", i)] = 1;
  const Reply reply = server.Post(kLimitedMaps, map);
  ASSERT_EQ(reply.status, 201);
  std::size_t bytes = 0;
  std::string last;
  for (const net::Header& header : reply.headers) {
    if (header.name != "Warning") continue;
    bytes += header.value.size();
    last = header.value;
  }
  EXPECT_LT(bytes, 4096U);
  EXPECT_THAT(last, HasSubstr(" more"));
}

TEST(Limits, StrictListsAtMostAHundredFields) {
  TestServer server;
  json map = ConfigMap("a");
  for (int i = 0; i < 300; ++i) map[fmt::format("unknown{}", i)] = 1;
  const Reply reply =
      server.Send("POST", std::string(kLimitedMaps) + "?fieldValidation=Strict", map.dump());
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(reply.message(), HasSubstr(" more"));
  EXPECT_LT(reply.text.size(), 10'000U);
}

TEST(Limits, ASelectorHasAThousandRequirementsAtMost) {
  TestServer server;
  std::string many = "a";
  for (int i = 0; i < 1000; ++i) many += ",a";
  const std::string labels = std::string(kLimitedMaps) + "?labelSelector=";
  EXPECT_EQ(server.Get(labels + many).status, 400);
  EXPECT_EQ(server.Get(labels + many.substr(2)).status, 200);
  std::string fields = "metadata.name!=a";
  for (int i = 0; i < 1000; ++i) fields += ",metadata.name!=a";
  EXPECT_EQ(server.Get(std::string(kLimitedMaps) + "?fieldSelector=" + fields).status, 400);
}

TEST(Limits, ASetOfASelectorMayHaveManyValuesInAnyOrder) {
  TestServer server;
  json map = ConfigMap("a");
  map["metadata"]["labels"] = {{"l", "v7"}};
  server.Post(kLimitedMaps, map);
  std::string values;
  for (int i = 20'000; i > 0; --i) values += fmt::format("{}v{}", values.empty() ? "" : ",", i);
  const std::string url = std::string(kLimitedMaps) + "?labelSelector=l%20";
  EXPECT_EQ(server.Get(url + "in(" + values + ")").body["items"].size(), 1U);
  EXPECT_EQ(server.Get(url + "notin(" + values + ")").body["items"].size(), 0U);
}

TEST(Limits, AnObjectDoesNotGrowAboveThreeMebibytes) {
  TestServer server;
  const std::string url = std::string(kLimitedPods) + "/a";
  server.Post(kLimitedPods, PlainPod("a"));
  for (int i = 0; i < 3; ++i) {
    const Reply grown =
        server.Patch(url + "/status",
                     "merge-patch+json",
                     {{"status", {{fmt::format("m{}", i), std::string(1'200'000, 'x')}}}});
    EXPECT_EQ(grown.status, i < 2 ? 200 : 413) << grown.text.substr(0, 300);
    if (i == 2) {
      EXPECT_EQ(grown.message(), "Request entity too large: limit is 3145728");
    }
  }
  EXPECT_EQ(server.Delete(url).status, 200);
}

TEST(Limits, LongAnswersAreCompressedForClientsThatAcceptGzip) {
  TestServer server;
  const std::string text(200'000, 'x');
  server.Post(kLimitedMaps, ConfigMap("a", {{"k", text}}));
  const std::vector<net::Header> takes = {{"Accept-Encoding", "gzip"}};
  for (const std::string& url : {std::string(kLimitedMaps) + "/a", std::string(kLimitedMaps)}) {
    const Reply zipped = server.Send("GET", url, "", takes);
    EXPECT_EQ(zipped.Header("Content-Encoding"), "gzip") << url;
    EXPECT_LT(zipped.text.size(), 10'000U);
    const Reply plain = server.Get(url);
    EXPECT_EQ(plain.Header("Content-Encoding"), "");
    EXPECT_THAT(plain.text, HasSubstr(text));
  }
  server.Delete(std::string(kLimitedMaps) + "/a");
  server.Post(kLimitedMaps, ConfigMap("b"));
  EXPECT_EQ(server.Send("GET", kLimitedMaps, "", takes).Header("Content-Encoding"), "");
  const auto watch = server.Begin("GET", std::string(kLimitedMaps) + "?watch=true", "", takes);
  EXPECT_THAT(watch->answer.body, HasSubstr("ADDED"));
}

TEST(Pages, AreForTheListTheyWereBegunWith) {
  TestServer server;
  for (const char* name : {"a", "b", "c"}) server.Post(kLimitedMaps, ConfigMap(name));
  const std::string first = std::string(kLimitedMaps) + "?limit=1";
  const std::string token = server.Get(first).body["metadata"]["continue"];
  for (const std::string& other : {std::string("/api/v1/configmaps?limit=1"),
                                   std::string("/api/v1/namespaces/default/secrets?limit=1"),
                                   first + "&labelSelector=a%3Db",
                                   first + "&fieldSelector=metadata.name%3Da"}) {
    EXPECT_EQ(server.Get(other + "&continue=" + token).status, 400) << other;
  }
  EXPECT_EQ(server.Get(first + "&continue=" + token).body["items"][0]["metadata"]["name"], "b");
}

TEST(Pages, SnapshotsAreKeptWithinTheMemoryLimit) {
  ListSnapshots snapshots;
  const auto big = std::make_shared<Snapshot>();
  auto object = std::make_shared<StoredObject>();
  object->body = std::string(std::size_t{100} << 20U, 'x');
  big->objects.push_back(object);
  const Duration now{};
  std::vector<std::uint64_t> ids;
  for (int i = 0; i < 4; ++i) {
    ids.push_back(snapshots.Keep({"list", big}, now + std::chrono::seconds(i)));
  }
  const Duration later = now + std::chrono::seconds(10);
  EXPECT_EQ(snapshots.Find(ids[0], later), nullptr);
  EXPECT_EQ(snapshots.Find(ids[1], later), nullptr);
  EXPECT_NE(snapshots.Find(ids[2], later), nullptr);
  EXPECT_NE(snapshots.Find(ids[3], later), nullptr);
}

}  // namespace
}  // namespace strata::apiserver
