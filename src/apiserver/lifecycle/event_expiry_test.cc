#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/store/test_support.h"
#include "apiserver/test_server.h"
#include "base/timestamp.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;
using std::chrono::minutes;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kEventUrl = "/api/v1/namespaces/default/events";

json Event(const std::string& name) {
  return {{"apiVersion", "v1"},
          {"kind", "Event"},
          {"metadata", {{"name", name}, {"namespace", "default"}}},
          {"involvedObject", {{"kind", "Pod"}, {"name", "p"}, {"namespace", "default"}}},
          {"reason", "Scheduled"},
          {"type", "Normal"}};
}

std::vector<std::string> EventNames(TestServer& server) {
  std::vector<std::string> names;
  const json list = server.Get(kEventUrl).body;
  for (const json& item : list["items"]) {
    names.push_back(item["metadata"]["name"]);
  }
  return names;
}

TEST(EventExpiry, DeletesAnEventAnHourAfterItsLastWrite) {
  TestServer server;
  EXPECT_EQ(server.Post(kEventUrl, Event("old")).status, 201);
  EXPECT_EQ(server.Post(kEventUrl, Event("again")).status, 201);
  server.timers.Advance(minutes(30));
  server.Patch(std::string(kEventUrl) + "/again", "merge-patch+json", {{"count", 2}});
  server.timers.Advance(minutes(29));
  EXPECT_THAT(EventNames(server), ElementsAre("again", "old"));
  server.timers.Advance(minutes(3));
  EXPECT_THAT(EventNames(server), ElementsAre("again"));
  server.timers.Advance(minutes(27));
  EXPECT_THAT(EventNames(server), ElementsAre("again"));
  server.timers.Advance(minutes(3));
  EXPECT_THAT(EventNames(server), IsEmpty());
}

TEST(EventExpiry, AClockThatIsSetChangesNothing) {
  for (const int hours : {-1, 1}) {
    TestServer server;
    server.Post(kEventUrl, Event("before"));
    server.timers.Advance(minutes(10));
    server.clock.now += std::chrono::hours(hours);
    server.Post(kEventUrl, Event("after"));
    server.timers.Advance(minutes(49));
    EXPECT_THAT(EventNames(server), ElementsAre("after", "before"));
    server.timers.Advance(minutes(3));
    EXPECT_THAT(EventNames(server), ElementsAre("after"));
    server.timers.Advance(minutes(10));
    EXPECT_THAT(EventNames(server), IsEmpty());
  }
}

// A machine whose clock loses 10 % and is corrected all the time.
TEST(EventExpiry, ASlowClockChangesNothing) {
  TestServer server;
  server.Post(kEventUrl, Event("a"));
  for (int i = 0; i < 59; ++i) {
    server.timers.Advance(minutes(1));
    server.clock.now -= std::chrono::seconds(6);
  }
  EXPECT_THAT(EventNames(server), ElementsAre("a"));
  server.timers.Advance(minutes(3));
  EXPECT_THAT(EventNames(server), IsEmpty());
}

TEST(EventExpiry, APauseOfTheProcessCountsOnce) {
  TestServer server;
  server.Post(kEventUrl, Event("before"));
  server.timers.Pause(std::chrono::hours(3));
  server.Post(kEventUrl, Event("after"));
  server.timers.Advance(minutes(59));
  EXPECT_THAT(EventNames(server), ::testing::Contains("after"));
  server.timers.Advance(minutes(5));
  EXPECT_THAT(EventNames(server), IsEmpty());
}

// Events of the future are those of a clock that was set back meanwhile.
TEST(EventExpiry, StoredEventsOfTheFutureCountAsWrittenNow) {
  auto store = MakeMemoryObjectStore();
  const TestClock clock;
  json event = Event("future");
  event["metadata"]["creationTimestamp"] = FormatTimestamp(clock.now + std::chrono::hours(1));
  store->Put({"events", "default", "future"}, 0, std::move(event), [](const auto& stored) {
    EXPECT_TRUE(stored);
  });
  TestServer server(std::move(store));
  server.timers.Advance(minutes(59));
  EXPECT_THAT(EventNames(server), ElementsAre("future"));
  server.timers.Advance(minutes(3));
  EXPECT_THAT(EventNames(server), IsEmpty());
}

TEST(EventExpiry, WatchersSeeTheDeletion) {
  TestServer server;
  server.Post(kEventUrl, Event("a"));
  server.timers.Advance(minutes(50));
  const auto watch = server.Begin("GET", std::string(kEventUrl) + "?watch=true");
  server.timers.Advance(minutes(12));
  const std::vector<json> seen = Events(*watch);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[1]["type"], "DELETED");
}

TEST(EventExpiry, DeletesAsManyAsThereAre) {
  TestServer server;
  for (int i = 0; i < 1000; ++i) server.Post(kEventUrl, Event("e" + std::to_string(i)));
  server.timers.Advance(minutes(62));
  EXPECT_THAT(EventNames(server), IsEmpty());
}

// What the previous process left, by the time of the last occurrence.
TEST(EventExpiry, KnowsTheAgeOfStoredEvents) {
  auto store = MakeMemoryObjectStore();
  const TestClock clock;
  const auto put = [&](const std::string& name, Duration created, Duration last) {
    json event = Event(name);
    event["metadata"]["creationTimestamp"] = FormatTimestamp(clock.now - created);
    event["lastTimestamp"] = FormatTimestamp(clock.now - last);
    store->Put({"events", "default", name}, 0, std::move(event), [](const auto& stored) {
      EXPECT_TRUE(stored);
    });
  };
  put("expired", minutes(90), minutes(61));
  put("middle", minutes(90), minutes(40));
  put("young", minutes(1), minutes(1));
  TestServer server(std::move(store));
  server.timers.Advance(minutes(2));
  EXPECT_THAT(EventNames(server), ElementsAre("middle", "young"));
  server.timers.Advance(minutes(17));
  EXPECT_THAT(EventNames(server), ElementsAre("middle", "young"));
  server.timers.Advance(minutes(3));
  EXPECT_THAT(EventNames(server), ElementsAre("young"));
}

TEST(EventExpiry, ADeletionThatFailedIsTriedAgain) {
  FakeDisk disk;
  TestServer server(disk.OpenStore({}));
  while (disk.busy()) disk.Succeed();
  const auto posted = server.Begin("POST", kEventUrl, Event("a").dump());
  disk.Succeed();
  ASSERT_EQ(TestServer::ToReply(*posted).status, 201);
  while (!disk.busy()) server.timers.Advance(minutes(1));
  disk.Break();
  EXPECT_THAT(EventNames(server), ElementsAre("a"));
  server.timers.Advance(minutes(2));
  ASSERT_TRUE(disk.busy());
  disk.Succeed();
  EXPECT_THAT(EventNames(server), IsEmpty());
}

}  // namespace
}  // namespace strata::apiserver
