#include "live/binder.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "live/test_slow_server.h"

namespace strata::live {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = Binder::Outcome::Kind;

kube::Call Put(const std::string& name) {
  return kube::UpdateCall({kube::kQueues, "", name, ""}, "{}");
}
const std::string kQueues = "PUT /apis/scheduling.volcano.sh/v1beta1/queues/";

TEST(CallQueue, HasNoMoreUnderWayThanItMayAndSendsUrgentCallsFirst) {
  SlowServer server;
  CallQueue calls(*server.client, {.max_in_flight = 1, .leadership = {}});
  calls.Submit("a", Put("a"), CallQueue::Urgency::kUsual, {});
  calls.Submit("b", Put("b"), CallQueue::Urgency::kUsual, {});
  calls.Submit("c", Put("c"), CallQueue::Urgency::kUrgent, {});
  server.Settle();
  EXPECT_THAT(server.OpenPaths(), ElementsAre(kQueues + "a"));
  server.Answer(200);
  EXPECT_THAT(server.OpenPaths(), ElementsAre(kQueues + "c"));
  server.Answer(200);
  EXPECT_THAT(server.OpenPaths(), ElementsAre(kQueues + "b"));
}

TEST(CallQueue, WritesToOneObjectOneAfterTheOtherAndTheNewestOnly) {
  SlowServer server;
  CallQueue calls(*server.client, {.max_in_flight = 8, .leadership = {}});
  std::vector<int> told;
  for (int i = 0; i < 3; ++i) {
    calls.Submit(
        "x", Put("x" + std::to_string(i)), CallQueue::Urgency::kUsual, [&told, i](const auto&) {
          told.push_back(i);
        });
  }
  server.Settle();
  EXPECT_THAT(server.OpenPaths(), ElementsAre(kQueues + "x0"));
  server.Answer(200);
  EXPECT_THAT(server.OpenPaths(), ElementsAre(kQueues + "x2"));
  server.Answer(200);
  EXPECT_THAT(told, ElementsAre(0, 2));
}

TEST(CallQueue, SendsNothingWhenItMayNot) {
  SlowServer server;
  CallQueue calls(*server.client,
                  {.max_in_flight = 8, .leadership = std::make_shared<kube::Leadership>()});
  std::string error;
  calls.Submit("x", Put("x"), CallQueue::Urgency::kUrgent, [&error](const kube::Reply& reply) {
    error = reply.error().error.message;
  });
  server.Settle();
  EXPECT_THAT(server.OpenPaths(), IsEmpty());
  EXPECT_EQ(error, "not the leader any more");
}

TEST(CallQueue, TellsNobodyOnceItIsGone) {
  SlowServer server;
  bool told = false;
  {
    CallQueue calls(*server.client, {.max_in_flight = 8, .leadership = {}});
    calls.Submit("x", Put("x"), CallQueue::Urgency::kUsual, [&told](const auto&) { told = true; });
    server.Settle();
  }
  server.Answer(200);
  EXPECT_FALSE(told);
}

TEST(CallQueue, DrainsToWhatIsUnderWay) {
  SlowServer server;
  CallQueue calls(*server.client, {.max_in_flight = 1, .leadership = {}});
  calls.Submit("a", Put("a"), CallQueue::Urgency::kUsual, {});
  calls.Submit("b", Put("b"), CallQueue::Urgency::kUsual, {});
  server.Settle();
  EXPECT_FALSE(calls.Drain(Duration(0))) << "the server may still do a";
  calls.Submit("c", Put("c"), CallQueue::Urgency::kUrgent, {});
  server.Answer(200);
  EXPECT_TRUE(calls.Drain(Duration(0)));
  EXPECT_THAT(server.OpenPaths(), IsEmpty()) << "neither what waited nor what came later";
}

class StoppedClock final : public Clock {
 public:
  [[nodiscard]] Time Now() const override { return Time(std::chrono::hours(24)); }
};

struct BindCase {
  SlowServer server;
  StoppedClock clock;
  CallQueue calls{*server.client, {.max_in_flight = 8, .leadership = {}}};
  Binder binder{*server.client, calls, clock};
  std::vector<Binder::Outcome> outcomes;

  BindCase() {
    binder.Bind({.pod = {"ns", "p", "u1", "5"}, .node = "n", .annotations = {{"k", "v"}}},
                [this](Binder::Outcome outcome) { outcomes.push_back(std::move(outcome)); });
    server.Settle();
  }
};

TEST(Binder, WritesNodeAndAnnotationsInOneStep) {
  BindCase bind;
  EXPECT_THAT(bind.server.OpenPaths(), ElementsAre("POST /api/v1/namespaces/ns/pods/p/binding"));
  EXPECT_THAT(bind.server.open[0].second.body, HasSubstr(R"("k":"v")"));
  bind.server.Answer(201);
  ASSERT_EQ(bind.outcomes.size(), 1U);
  EXPECT_EQ(bind.outcomes[0].kind, Kind::kBound);
}

TEST(Binder, AConflictWithAPodThatHasANodeIsNoFailure) {
  BindCase bind;
  bind.server.Answer(409, R"({"kind":"Status","reason":"Conflict","message":"taken","code":409})");
  EXPECT_THAT(bind.server.OpenPaths(), ElementsAre("GET /api/v1/namespaces/ns/pods/p"));
  bind.server.Answer(200, R"({"spec":{"nodeName":"n"}})");
  ASSERT_EQ(bind.outcomes.size(), 1U);
  EXPECT_EQ(bind.outcomes[0].kind, Kind::kBound);
}

const std::string kFence = "PATCH /api/v1/namespaces/ns/pods/p/status";

// The bind may have been done: its room is nobody else's before somebody has said so.
TEST(Binder, AsksUntilThereIsAnAnswer) {
  BindCase bind;
  for (int answers = 0; bind.outcomes.empty() && answers < 100; ++answers) {
    if (bind.server.open.empty()) bind.server.transport.Advance(std::chrono::minutes(1));
    ASSERT_FALSE(bind.server.open.empty());
    const bool is_fence = bind.server.open[0].second.method == "PATCH";
    EXPECT_EQ(bind.binder.IsUnsure(), is_fence);
    if (is_fence && answers > 20) {
      bind.server.Answer(200, R"({"spec":{"nodeName":"n"}})");
    } else {
      bind.server.Answer(503, "{}");
    }
  }
  ASSERT_EQ(bind.outcomes.size(), 1U);
  EXPECT_EQ(bind.outcomes[0].kind, Kind::kBound);
  EXPECT_FALSE(bind.binder.IsUnsure());
}

// The server may still carry it out: a write to the pod makes the version stale that it names.
TEST(Binder, ABindWithoutAnAnswerIsMadeVoidBeforeItsRoomIsGivenUp) {
  BindCase bind;
  EXPECT_THAT(bind.server.open[0].second.body, HasSubstr(R"("uid":"u1","resourceVersion":"5")"));
  bind.server.open.clear();
  bind.server.transport.Advance(std::chrono::seconds(31));
  ASSERT_THAT(bind.server.OpenPaths(), ElementsAre(kFence));
  EXPECT_THAT(bind.server.open[0].second.body, HasSubstr(R"("uid":"u1")"));
  EXPECT_THAT(bind.server.open[0].second.body, HasSubstr("the bind to n at version 5 had no"));
  EXPECT_THAT(bind.outcomes, IsEmpty());
  bind.server.Answer(200, R"({"spec":{}})");
  ASSERT_EQ(bind.outcomes.size(), 1U);
  EXPECT_EQ(bind.outcomes[0].kind, Kind::kFailed);
}

TEST(Binder, APodThatChangedIsBoundByItsNewVersion) {
  BindCase bind;
  bind.server.Answer(409, R"({"kind":"Status","reason":"Conflict","message":"stale","code":409})");
  bind.server.Answer(200, R"({"metadata":{"uid":"u1","resourceVersion":"6"},"spec":{}})");
  ASSERT_THAT(bind.server.OpenPaths(), ElementsAre("POST /api/v1/namespaces/ns/pods/p/binding"));
  EXPECT_THAT(bind.server.open[0].second.body, HasSubstr(R"("resourceVersion":"6")"));
  bind.server.Answer(201);
  ASSERT_EQ(bind.outcomes.size(), 1U);
  EXPECT_EQ(bind.outcomes[0].kind, Kind::kBound);
}

TEST(Binder, APodThatChangesAllTheTimeIsDecidedAgain) {
  BindCase bind;
  for (int version = 6; bind.outcomes.empty() && version < 100; ++version) {
    bind.server.Answer(409, "{}");
    bind.server.Answer(200,
                       R"({"metadata":{"uid":"u1","resourceVersion":")" + std::to_string(version) +
                           R"("},"spec":{}})");
  }
  ASSERT_EQ(bind.outcomes.size(), 1U);
  EXPECT_EQ(bind.outcomes[0].kind, Kind::kFailed);
}

TEST(Binder, ARefusalLeavesNothingInDoubt) {
  BindCase bind;
  bind.server.Answer(409, R"({"kind":"Status","reason":"Conflict","message":"taken","code":409})");
  EXPECT_THAT(bind.server.OpenPaths(), ElementsAre("GET /api/v1/namespaces/ns/pods/p"));
  EXPECT_FALSE(bind.binder.IsUnsure());
}

TEST(Binder, WhatWasNotSentLeavesNothingInDoubt) {
  SlowServer server;
  CallQueue calls(*server.client,
                  {.max_in_flight = 8, .leadership = std::make_shared<kube::Leadership>()});
  const StoppedClock clock;
  Binder binder(*server.client, calls, clock);
  binder.Bind({.pod = {"ns", "p", "u1"}, .node = "n", .annotations = {}}, [](const auto&) {});
  server.Settle();
  EXPECT_THAT(server.OpenPaths(), ElementsAre("GET /api/v1/namespaces/ns/pods/p"));
  EXPECT_FALSE(binder.IsUnsure());
}

TEST(Binder, APodThatHasNoNodeAfterwardsIsToBeDecidedAgain) {
  for (const char* pod : {R"({"spec":{}})", R"({"spec":{"nodeName":7}})", "[", "null"}) {
    BindCase bind;
    bind.server.Answer(422, R"({"kind":"Status","reason":"Invalid","message":"no","code":422})");
    bind.server.Answer(200, pod);
    ASSERT_EQ(bind.outcomes.size(), 1U) << pod;
    EXPECT_EQ(bind.outcomes[0].kind, Kind::kFailed) << pod;
    EXPECT_THAT(bind.outcomes[0].error, HasSubstr("no")) << pod;
  }
}

}  // namespace
}  // namespace strata::live
