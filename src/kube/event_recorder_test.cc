#include "kube/event_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/timestamp.h"
#include "kube/test_fake_transport.h"

namespace strata::kube {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::SizeIs;
using ::testing::StartsWith;

class StoppedClock final : public Clock {
 public:
  [[nodiscard]] Time Now() const override { return time; }
  Time time = *ParseTimestamp("2026-01-02T03:04:05.678Z");
};

EventNote Note(const std::string& message, const std::string& pod = "a") {
  EventNote note;
  note.about = {"Pod", "v1", "ns", pod, "u1", "7"};
  note.type = EventNote::Type::kWarning;
  note.reason = "FailedScheduling";
  note.message = message;
  return note;
}

net::SteadyTime At(Duration time) {
  return net::SteadyTime(time);
}

TEST(EventCorrelator, TheFirstNoteIsAnEvent) {
  EventCorrelator correlator("volcano");
  const StoppedClock clock;
  const auto write = correlator.Decide(Note("no room"), clock.time, At(seconds(0)));
  ASSERT_TRUE(write);
  EXPECT_EQ(write->call.method, "POST");
  EXPECT_EQ(write->call.path, "/api/v1/namespaces/ns/events");
  EXPECT_THAT(write->name, StartsWith("a."));
  const auto body = nlohmann::json::parse(write->call.body);
  EXPECT_EQ(body["involvedObject"],
            (nlohmann::json{{"kind", "Pod"},
                            {"apiVersion", "v1"},
                            {"namespace", "ns"},
                            {"name", "a"},
                            {"uid", "u1"},
                            {"resourceVersion", "7"}}));
  EXPECT_EQ(body["type"], "Warning");
  EXPECT_EQ(body["message"], "no room");
  EXPECT_EQ(body["count"], 1);
  EXPECT_EQ(body["firstTimestamp"], "2026-01-02T03:04:05Z");
  EXPECT_EQ(body["source"]["component"], "volcano");
  EXPECT_EQ(body["metadata"]["name"], write->name);
}

TEST(EventCorrelator, TheSameNoteAgainCountsItUp) {
  EventCorrelator correlator("volcano");
  StoppedClock clock;
  const auto first = correlator.Decide(Note("no room"), clock.time, At(seconds(0)));
  clock.time += seconds(1);
  const auto second = correlator.Decide(Note("no room"), clock.time, At(seconds(1)));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->name, first->name);
  EXPECT_EQ(second->call.method, "PATCH");
  EXPECT_EQ(second->call.body, R"({"count":2,"lastTimestamp":"2026-01-02T03:04:06Z"})");
  ASSERT_TRUE(second->otherwise);
  EXPECT_EQ(second->otherwise->method, "POST");
}

TEST(EventCorrelator, ManySimilarNotesBecomeOne) {
  EventCorrelator correlator("volcano");
  const StoppedClock clock;
  std::set<std::string> names;
  std::string last;
  for (int i = 0; i < 20; ++i) {
    const auto write =
        correlator.Decide(Note("no room on n" + std::to_string(i)), clock.time, At(seconds(i)));
    ASSERT_TRUE(write);
    names.insert(write->name);
    last = write->call.body;
  }
  EXPECT_THAT(names, SizeIs(11));
  EXPECT_EQ(nlohmann::json::parse(last)["message"],
            "(combined from similar events): no room on n19");
  EXPECT_EQ(nlohmann::json::parse(last)["count"], 10);
}

TEST(EventCorrelator, LimitsTheEventsOfOneObject) {
  EventCorrelator correlator("volcano");
  const StoppedClock clock;
  int written = 0;
  for (int i = 0; i < 100; ++i) {
    written += correlator.Decide(Note("x"), clock.time, At(seconds(0))).has_value() ? 1 : 0;
  }
  EXPECT_EQ(written, 25);
  EXPECT_TRUE(correlator.Decide(Note("x", "b"), clock.time, At(seconds(0))));
  EXPECT_FALSE(correlator.Decide(Note("x"), clock.time, At(minutes(4))));
  EXPECT_TRUE(correlator.Decide(Note("x"), clock.time, At(minutes(5) + seconds(1))));
}

TEST(EventCorrelator, ALongMessageEndsWithAWholeCharacter) {
  EventCorrelator correlator("volcano");
  const auto write =
      correlator.Decide(Note(std::string(1023, 'x') + "ä..."), StoppedClock().time, At(seconds(0)));
  const std::string message = nlohmann::json::parse(write->call.body)["message"];
  EXPECT_EQ(message, std::string(1023, 'x'));
}

TEST(EventCorrelator, AClockThatWentBackDoesNotPutTheLastBeforeTheFirst) {
  EventCorrelator correlator("volcano");
  const Time wall = StoppedClock().time;
  ASSERT_TRUE(correlator.Decide(Note("x"), wall, At(seconds(0))));
  const auto again = correlator.Decide(Note("x"), wall - std::chrono::hours(1), At(seconds(1)));
  EXPECT_EQ(again->call.body, R"({"count":2,"lastTimestamp":"2026-01-02T03:04:05Z"})");
}

TEST(EventCorrelator, ALongNameIsCutToANameThatAServerTakes) {
  EventCorrelator correlator("volcano");
  const std::string name = std::string(229, 'a') + "-." + std::string(10, 'b');
  const auto write = correlator.Decide(Note("x", name), StoppedClock().time, At(seconds(0)));
  EXPECT_THAT(write->name, StartsWith(std::string(229, 'a') + ".1"));
}

TEST(EventCorrelator, AnEventOfAClusterObjectIsInDefault) {
  EventCorrelator correlator("volcano");
  EventNote note = Note("hello");
  note.about.ns = "";
  EXPECT_EQ(correlator.Decide(note, StoppedClock().time, At(seconds(0)))->call.path,
            "/api/v1/namespaces/default/events");
}

struct RecorderWorld {
  RecorderWorld() {
    transport.on_request = [this](net::RequestId id, const net::ClientRequest& request) {
      const int status = next_status;
      next_status = 200;
      if (hold) {
        held.push_back(id);
      } else {
        transport.Respond(id, status, "{}");
      }
      calls.push_back(request.message.method);
    };
    ClientOptions options;
    options.random = [] { return 0.5; };
    client = std::make_unique<Client>(transport, transport, options);
    recorder =
        std::make_unique<EventRecorder>(*client, EventRecorder::Options{"volcano", 5, 2}, clock);
  }
  FakeTransport transport;
  StoppedClock clock;
  int next_status = 200;
  bool hold = false;
  std::vector<net::RequestId> held;
  std::vector<std::string> calls;
  std::unique_ptr<Client> client;
  std::unique_ptr<EventRecorder> recorder;
};

TEST(EventRecorder, AnEventIsMadeBeforeItIsCounted) {
  RecorderWorld world;
  world.hold = true;
  world.recorder->Record(Note("x"));
  world.recorder->Record(Note("x"));
  world.transport.Advance(seconds(1));
  EXPECT_THAT(world.calls, ::testing::ElementsAre("POST"));
  world.transport.Respond(world.held.at(0), 201, "{}");
  world.transport.Advance(seconds(1));
  EXPECT_THAT(world.calls, ::testing::ElementsAre("POST", "PATCH"));
}

TEST(EventRecorder, AnEventThatIsGoneIsMadeAgain) {
  RecorderWorld world;
  world.recorder->Record(Note("x"));
  world.transport.Advance(seconds(1));
  world.next_status = 404;
  world.recorder->Record(Note("x"));
  world.transport.Advance(seconds(1));
  EXPECT_THAT(world.calls, ::testing::ElementsAre("POST", "PATCH", "POST"));
}

TEST(EventRecorder, MayBeDestroyedDuringAWrite) {
  RecorderWorld world;
  world.hold = true;
  world.recorder->Record(Note("x"));
  world.recorder->Record(Note("x"));
  world.transport.Advance(seconds(1));
  world.recorder.reset();
  world.transport.Respond(world.held.at(0), 404, "{}");
  world.client.reset();
  world.transport.Advance(seconds(100));
  EXPECT_THAT(world.calls, SizeIs(1));
}

TEST(EventRecorder, DropsEventsBeyondItsLimit) {
  RecorderWorld world;
  world.hold = true;
  for (int i = 0; i < 20; ++i) world.recorder->Record(Note("x", "p" + std::to_string(i)));
  EXPECT_EQ(world.recorder->dropped(), 15U);
  world.transport.Advance(seconds(1));
  EXPECT_THAT(world.calls, SizeIs(2));
  world.recorder.reset();
  for (const net::RequestId id : world.held) world.transport.Respond(id, 201, "{}");
  world.transport.Advance(seconds(1));
  EXPECT_THAT(world.calls, SizeIs(2));
}

}  // namespace
}  // namespace strata::kube
