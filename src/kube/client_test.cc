#include "kube/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/test_fake_transport.h"

namespace strata::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class StubCredentials final : public Credentials {
 public:
  std::string Authorization() override { return "Bearer t" + std::to_string(renewed); }
  void Renew() override { ++renewed; }
  bool Renewing() override { return takes_long; }
  int renewed = 0;
  bool takes_long = false;
};

// A client whose server gives prepared answers, one per request.
struct World {
  struct Answer {
    int status = 200;
    std::string body = "{}";
    std::vector<net::Header> headers = {};
    bool broken = false;
    FakeTransport::Sent sent = FakeTransport::Sent::kMaybe;
  };

  explicit World(std::vector<Answer> prepared, TokenBucket::Limits rate = {})
      : answers(std::move(prepared)) {
    transport.on_request = [this](net::RequestId id, const net::ClientRequest&) {
      const Answer answer = next < answers.size() ? answers[next++] : Answer{};
      if (answer.broken) {
        return transport.Break(id, FakeTransport::Cause::kConnection, answer.sent);
      }
      transport.Respond(id, answer.status, answer.body, answer.headers);
    };
    ClientOptions options;
    options.write_rate = rate;
    options.random = [] { return 0.5; };
    options.credentials = credentials;
    client = std::make_unique<Client>(transport, transport, std::move(options));
  }

  Reply Run(Call call) {
    std::optional<Reply> got;
    client->Start(std::move(call), [&](Reply reply) { got = std::move(reply); });
    transport.Advance(seconds(1000));
    EXPECT_TRUE(got);
    return std::move(*got);
  }

  FakeTransport transport;
  std::vector<Answer> answers;
  std::size_t next = 0;
  std::shared_ptr<StubCredentials> credentials = std::make_shared<StubCredentials>();
  std::unique_ptr<Client> client;
};

const ResourcePath kPod{kPods, "ns", "a", ""};

TEST(Client, SendsWhatTheCallSaysWithCredentials) {
  World world({});
  EXPECT_EQ(*world.Run(UpdateCall(kPod, "{\"x\":1}")), "{}");
  const net::HttpRequest& sent = world.transport.sent.at(0).message;
  EXPECT_EQ(sent.method + " " + sent.path, "PUT /api/v1/namespaces/ns/pods/a");
  EXPECT_EQ(sent.body, "{\"x\":1}");
  std::vector<std::string> headers;
  for (const net::Header& header : sent.headers) {
    headers.push_back(header.name + "=" + header.value);
  }
  EXPECT_THAT(
      headers,
      ElementsAre(
          "Accept=application/json", "Content-Type=application/json", "Authorization=Bearer t0"));
}

TEST(Client, GivesTheServersOwnWordsForAnError) {
  World world(
      {{409,
        R"({"kind":"Status","message":"pods \"a\" already exists","reason":"AlreadyExists"})"}});
  const Reply reply = world.Run(CreateCall({kPods, "ns", "", ""}, "{}"));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().error.code, Code::kConflict);
  EXPECT_EQ(reply.error().error.message, "pods \"a\" already exists");
  EXPECT_TRUE(reply.error().AlreadyExists());
  EXPECT_THAT(world.transport.sent, SizeIs(1));
}

TEST(Client, AnErrorThatIsNoStatusIsItsFirstLine) {
  World world({{404, "404 page not found\n"}, {502, ""}});
  EXPECT_EQ(world.Run(GetCall(kPod)).error().error.message, "404 page not found");
  EXPECT_EQ(ReadFailure(502, {}, "").error.message, "the server answered with HTTP code 502");
  EXPECT_EQ(ReadFailure(400, {}, "a\nb\x1b[0m").error.message, "a b [0m");
}

TEST(Client, ReadsAreTriedAgainAfterTroubles) {
  World world({{500}, {503}, {.broken = true}, {200, "yes"}});
  EXPECT_EQ(*world.Run(GetCall(kPod)), "yes");
  EXPECT_THAT(world.transport.sent, SizeIs(4));
}

TEST(Client, GivesUpAfterAFewAttempts) {
  World world(std::vector<World::Answer>(50, World::Answer{500}));
  EXPECT_EQ(world.Run(GetCall(kPod)).error().http_status, 500);
  EXPECT_THAT(world.transport.sent, SizeIs(kMaxAttempts));
}

TEST(Client, ACreateIsRepeatedOnlyWhenTheServerHasSeenNothing) {
  const Call create = CreateCall({kPods, "ns", "", ""}, "{}");
  World unseen({{.broken = true, .sent = FakeTransport::Sent::kNo}, {201, "made"}});
  EXPECT_EQ(*unseen.Run(create), "made");
  World maybe({{.broken = true}, {201, "made"}});
  EXPECT_EQ(maybe.Run(create).error().error.code, Code::kUnavailable);
  World error({{500}, {201, "made"}});
  EXPECT_EQ(error.Run(create).error().http_status, 500);
  World later(
      {{429, "", {{"Retry-After", "1"}}}, {503, "", {{"retry-after", "2"}}}, {201, "made"}});
  EXPECT_EQ(*later.Run(create), "made");
}

TEST(Client, RetryAfterIsHonoured) {
  World world({{429, "", {{"Retry-After", "9"}}}});
  bool done = false;
  world.client->Start(GetCall(kPod), [&](const Reply&) { done = true; });
  world.transport.Advance(milliseconds(8999));
  EXPECT_THAT(world.transport.sent, SizeIs(1));
  world.transport.Advance(milliseconds(1));
  EXPECT_TRUE(done);
}

TEST(Client, AForbiddenEvictionIsAnAnswer) {
  World world({{429, R"({"kind":"Status","message":"budget","reason":"TooManyRequests"})"}});
  EXPECT_EQ(world.Run(EvictCall({"ns", "a", "u"}, {})).error().reason, "TooManyRequests");
  EXPECT_THAT(world.transport.sent, SizeIs(1));
}

TEST(Client, RenewsCredentialsWhenTheServerDoesNotKnowUs) {
  World world({{401}, {200, "hello"}});
  EXPECT_EQ(*world.Run(CreateCall({kPods, "ns", "", ""}, "{}")), "hello");
  EXPECT_EQ(world.transport.sent.at(1).message.headers.back().value, "Bearer t1");
}

TEST(Client, WaitsForCredentialsThatAreOnTheirWay) {
  World world({{401}, {200, "hello"}});
  world.credentials->takes_long = true;
  std::optional<Reply> got;
  world.client->Start(GetCall(kPod), [&](Reply reply) { got = std::move(reply); });
  world.transport.Advance(seconds(9));
  EXPECT_THAT(world.transport.sent, SizeIs(1)) << "the old ones would be refused again";
  world.credentials->takes_long = false;
  world.transport.Advance(seconds(1));
  ASSERT_TRUE(got);
  EXPECT_TRUE(*got);
  EXPECT_EQ(world.transport.sent.at(1).message.headers.back().value, "Bearer t1");
}

TEST(Client, CredentialsThatNeverComeAreNotWaitedForForever) {
  World world(std::vector<World::Answer>(10, World::Answer{401}));
  world.credentials->takes_long = true;
  EXPECT_EQ(world.Run(GetCall(kPod)).error().http_status, 401);
}

TEST(Client, WritesArePacedAndReadsAreNot) {
  World world({}, {.rate = 10, .burst = 2});
  int writes = 0;
  int reads = 0;
  for (int i = 0; i < 5; ++i) {
    world.client->Start(UpdateCall(kPod, "{}"), [&](const Reply&) { ++writes; });
    world.client->Start(GetCall(kPod), [&](const Reply&) { ++reads; });
  }
  world.transport.Advance(milliseconds(50));
  EXPECT_EQ(writes, 2);
  EXPECT_EQ(reads, 5);
  world.transport.Advance(milliseconds(102));
  EXPECT_EQ(writes, 3);
  world.transport.Advance(milliseconds(300));
  EXPECT_EQ(writes, 5);
}

TEST(Client, AWriteThatIsNotPacedGoesBeforeThoseThatWait) {
  int binds = 0;  // before the client, which reports what it abandons when it ends
  bool renewed = false;
  World world({}, {.rate = 1, .burst = 1});
  for (int i = 0; i < 32; ++i) {
    world.client->Start(BindCall({"ns", "p" + std::to_string(i), ""}, "n", {}),
                        [&](const Reply&) { ++binds; });
  }
  Call renewal = UpdateCall({kLeases, "ns", "lease", ""}, "{}");
  renewal.paced = false;
  world.client->Start(std::move(renewal), [&](const Reply&) { renewed = true; });
  world.transport.Advance(milliseconds(1));
  EXPECT_EQ(binds, 1);
  EXPECT_TRUE(renewed);
}

TEST(Client, CarriesManyCallsAtOnce) {
  World world({});
  std::vector<net::RequestId> held;
  world.transport.on_request = [&](net::RequestId id, const net::ClientRequest&) {
    held.push_back(id);
  };
  std::vector<int> order;
  for (int i = 0; i < 32; ++i) {
    world.client->Start(BindCall({"ns", "p" + std::to_string(i), ""}, "n", {}),
                        [&order, i](const Reply& reply) {
                          if (reply) order.push_back(i);
                        });
  }
  EXPECT_THAT(order, SizeIs(0));
  world.transport.Advance(milliseconds(1));
  ASSERT_THAT(held, SizeIs(32));
  world.transport.Respond(held[31], 201, "{}");
  world.transport.Respond(held[0], 201, "{}");
  EXPECT_THAT(order, ElementsAre(31, 0));
}

TEST(Client, AHeadIsARead) {
  Call head = GetCall(kPod);
  head.method = "HEAD";
  EXPECT_FALSE(head.IsWrite());
}

TEST(Client, ClosingAnswersEveryCallOnce) {
  World world({});
  world.transport.on_request = nullptr;
  int ends = 0;
  for (int i = 0; i < 3; ++i) {
    world.client->Start(GetCall(kPod), [&](const Reply& reply) {
      ++ends;
      EXPECT_THAT(reply.error().error.message, HasSubstr("closing"));
    });
  }
  world.transport.Advance(milliseconds(1));
  world.client.reset();
  EXPECT_EQ(ends, 3);
  world.transport.Advance(seconds(100));
  EXPECT_EQ(ends, 3);
}

// A write that only the leader may make, by a process that leads for ten seconds from now on.
struct LeaderWrite {
  explicit LeaderWrite(World& world) {
    leadership->GrantUntil(world.transport.Now() + seconds(10));
    call.leadership = leadership;
  }
  std::shared_ptr<Leadership> leadership = std::make_shared<Leadership>();
  Call call = UpdateCall(kPod, "{}");
};

TEST(Client, SendsNoRetryOfALeadersCallOnceAnotherMayLead) {
  for (const Repeat repeat : {Repeat::kHarmless, Repeat::kOnlyUnseen}) {
    World world({{429, "{}", {{"Retry-After", "20"}}}});
    LeaderWrite write(world);
    write.call.repeat = repeat;
    const Reply reply = world.Run(write.call);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().error.message, "not the leader any more");
    EXPECT_EQ(
        reply.error().sent,
        repeat == Repeat::kOnlyUnseen ? FakeTransport::Sent::kNo : FakeTransport::Sent::kMaybe);
    EXPECT_THAT(world.transport.sent, SizeIs(1));
  }
}

TEST(Client, SendsALeadersCallAgainWhileItLeads) {
  World world({{429, "{}", {{"Retry-After", "5"}}}});
  EXPECT_TRUE(world.Run(LeaderWrite(world).call));
  EXPECT_THAT(world.transport.sent, SizeIs(2));
}

TEST(Client, AnAttemptOfALeadersCallEndsBeforeAnotherMayLead) {
  World world({});
  (void)world.Run(LeaderWrite(world).call);
  EXPECT_EQ(world.transport.sent.at(0).limits.total, seconds(10));
}

TEST(Client, CancelsTheCallsOfALeaderThatIsNoneAnyMore) {
  std::vector<std::string> ends;
  World world({});
  world.transport.on_request = nullptr;
  LeaderWrite write(world);
  const auto note = [&](const Reply& reply) { ends.push_back(reply.error().error.message); };
  world.client->Start(write.call, note);
  world.client->Start(UpdateCall(kPod, "{}"), note);
  world.transport.Advance(seconds(1));
  world.client->CancelLeaderCalls();
  EXPECT_THAT(ends, SizeIs(0)) << "it still leads";
  write.leadership->Revoke();
  world.client->CancelLeaderCalls();
  EXPECT_THAT(ends, ElementsAre("not the leader any more"));
  world.transport.Advance(seconds(0));
  EXPECT_EQ(world.transport.under_way(), 1U) << "what everybody may do goes on";
}

TEST(Call, NamesPathsAndOptionsAsTheApiDoes) {
  EXPECT_EQ(ListCall(kNodes, "", {"a in (b)", "spec.x=1", 500, "t/1"}).query,
            "labelSelector=a%20in%20%28b%29&fieldSelector=spec.x%3D1&limit=500&continue=t%2F1");
  EXPECT_EQ(ListCall(kNodes, "ignored", {}).path, "/api/v1/nodes");
  EXPECT_EQ(GetCall({kQueues, "", "q", "status"}).path,
            "/apis/scheduling.volcano.sh/v1beta1/queues/q/status");
  EXPECT_EQ(GetCall({kPods, "n/..", "a b", ""}).path, "/api/v1/namespaces/n%2F../pods/a%20b");
  const Call apply =
      PatchCall(kPod, {PatchType::kApply, "strata", PatchOptions::Force::kYes}, "{}");
  EXPECT_EQ(apply.query, "fieldManager=strata&force=true");
  EXPECT_EQ(apply.content_type, "application/apply-patch+yaml");
  EXPECT_EQ(DeleteCall(kPod, {0, "u", "", "Background"}).body,
            R"({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,)"
            R"("preconditions":{"uid":"u"},"propagationPolicy":"Background"})");
}

TEST(Call, ABindCarriesUidAndAnnotations) {
  const Call bind = BindCall({"ns", "a", "u1"}, "n1", {{"volcano.sh/x", "y\xff"}});
  EXPECT_EQ(bind.path, "/api/v1/namespaces/ns/pods/a/binding");
  EXPECT_EQ(bind.body,
            R"({"kind":"Binding","apiVersion":"v1","metadata":{"name":"a","namespace":"ns",)"
            R"("uid":"u1","annotations":{"volcano.sh/x":"y�"}},)"
            R"("target":{"kind":"Node","apiVersion":"v1","name":"n1"}})");
  EXPECT_EQ(bind.repeat, Repeat::kOnlyUnseen);
  EXPECT_THAT(BindCall({"ns", "a", "u1", "7"}, "n1", {}).body,
              HasSubstr(R"("uid":"u1","resourceVersion":"7"})"));
}

TEST(Backoff, DoublesUpToItsLimit) {
  Backoff backoff({milliseconds(100), milliseconds(500)});
  const Random top = [] { return 1.0; };
  std::vector<int> waits;
  for (int i = 0; i < 5; ++i) waits.push_back(static_cast<int>(backoff.Next(top).count()));
  EXPECT_THAT(waits, ElementsAre(100, 200, 400, 500, 500));
  backoff.Reset();
  EXPECT_EQ(backoff.Next([] { return 0.0; }), milliseconds(50));
}

}  // namespace
}  // namespace strata::kube
