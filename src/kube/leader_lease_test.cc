#include "kube/leader_lease.h"

#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/timestamp.h"
#include "kube/test_fake_transport.h"
#include "tests/support/property.h"

namespace strata::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

net::SteadyTime At(int s) {
  return net::SteadyTime(seconds(s));
}
const Time kWall = *ParseTimestamp("2026-01-02T03:04:05.067Z");

LeaseSettings Settings(const std::string& identity) {
  LeaseSettings settings;
  settings.ns = "volcano-system";
  settings.name = "volcano";
  settings.identity = identity;
  return settings;
}

std::string LeaseText(const std::string& holder, int version, int transitions = 0) {
  return R"({"kind":"Lease","metadata":{"name":"volcano","resourceVersion":")" +
         std::to_string(version) + R"(","labels":{"keep":"me"}},"spec":{"holderIdentity":")" +
         holder + R"(","leaseDurationSeconds":15,"acquireTime":"then","leaseTransitions":)" +
         std::to_string(transitions) + "}}";
}

TEST(LeaseState, MakesALeaseWhenThereIsNone) {
  LeaseState state(Settings("me"));
  EXPECT_EQ(state.Next(At(0)), LeaseState::Step::kRead);
  state.TakeMissing();
  EXPECT_EQ(state.Next(At(0)), LeaseState::Step::kCreate);
  EXPECT_EQ(state.Body(kWall),
            R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"volcano",)"
            R"("namespace":"volcano-system"},"spec":{"acquireTime":"2026-01-02T03:04:05.067000Z",)"
            R"("leaseTransitions":0,"holderIdentity":"me","leaseDurationSeconds":15,)"
            R"("renewTime":"2026-01-02T03:04:05.067000Z"}})");
}

TEST(LeaseState, LeavesAnothersLeaseAloneUntilItWasStillForItsDuration) {
  LeaseState state(Settings("me"));
  ASSERT_TRUE(state.TakeRead(LeaseText("other", 7), At(100)));
  EXPECT_EQ(state.Next(At(114)), LeaseState::Step::kWait);
  ASSERT_TRUE(state.TakeRead(LeaseText("other", 8), At(114)));  // renewed
  ASSERT_TRUE(state.TakeRead(LeaseText("other", 8, 3), At(120)));
  EXPECT_EQ(state.Next(At(128)), LeaseState::Step::kWait);
  EXPECT_EQ(state.Next(At(129)), LeaseState::Step::kUpdate);
  const auto body = nlohmann::json::parse(state.Body(kWall));
  EXPECT_EQ(body["spec"]["leaseTransitions"], 4);
  EXPECT_EQ(body["metadata"]["labels"]["keep"], "me");
}

TEST(LeaseState, OthersAreToldWholeSecondsThatAreNotLessThanTheDuration) {
  LeaseSettings settings = Settings("me");
  settings.duration = milliseconds(1'001);
  LeaseState state(settings);
  state.TakeMissing();
  EXPECT_EQ(nlohmann::json::parse(state.Body(kWall))["spec"]["leaseDurationSeconds"], 2);
}

TEST(LeaseState, ARenewalKeepsWhenAndHowOftenItWasTaken) {
  LeaseState state(Settings("me"));
  ASSERT_TRUE(state.TakeWritten(LeaseText("me", 9, 3), At(100), At(101)));
  EXPECT_EQ(state.Next(At(102)), LeaseState::Step::kUpdate);
  const auto body = nlohmann::json::parse(state.Body(kWall));
  EXPECT_EQ(body["spec"]["leaseTransitions"], 3);
  EXPECT_EQ(body["spec"]["acquireTime"], "then");
}

TEST(LeaseState, LeadsFromTheMomentOfSendingNotOfTheAnswer) {
  LeaseState state(Settings("me"));
  ASSERT_TRUE(state.TakeWritten(LeaseText("me", 9), At(100), At(108)));
  EXPECT_TRUE(state.Leads(At(109)));
  EXPECT_FALSE(state.Leads(At(110)));
}

TEST(LeaseState, LeadsNoMoreOnceTheLeaseIsAnothersOrGone) {
  LeaseState state(Settings("me"));
  ASSERT_TRUE(state.TakeWritten(LeaseText("me", 9), At(100), At(101)));
  ASSERT_TRUE(state.TakeRead(LeaseText("other", 10), At(102)));
  EXPECT_FALSE(state.Leads(At(102)));
  ASSERT_TRUE(state.TakeWritten(LeaseText("me", 11), At(103), At(103)));
  state.TakeMissing();
  EXPECT_FALSE(state.Leads(At(104)));
}

TEST(LeaseState, WhoMakesALeaseLeadsWhenAnyHolderOfADeletedOneMustHaveStopped) {
  LeaseState state(Settings("me"));
  state.TakeMissing();
  ASSERT_TRUE(state.TakeWritten(LeaseText("me", 9), At(100), At(101)));
  EXPECT_FALSE(state.Leads(At(101)));
  EXPECT_EQ(state.Next(At(102)), LeaseState::Step::kUpdate) << "it keeps it meanwhile";
  ASSERT_TRUE(state.TakeWritten(LeaseText("me", 10), At(110), At(110)));
  EXPECT_FALSE(state.Leads(At(115)));
  EXPECT_TRUE(state.Leads(At(116)));
}

TEST(LeaseState, ALeaseWhoseMakingWasNotAnsweredIsNoLessNew) {
  LeaseState state(Settings("me"));
  state.TakeMissing();
  state.TakeFailure();
  ASSERT_TRUE(state.TakeRead(LeaseText("me", 9), At(105)));
  ASSERT_TRUE(state.TakeWritten(LeaseText("me", 10), At(106), At(106)));
  EXPECT_FALSE(state.Leads(At(115)));
}

TEST(LeaseState, ALeaseOfAnotherThatWaitedIsTakenAsAnyOther) {
  LeaseState state(Settings("me"));
  state.TakeMissing();
  ASSERT_TRUE(state.TakeRead(LeaseText("other", 9), At(105)));
  EXPECT_EQ(state.Next(At(119)), LeaseState::Step::kWait);
  ASSERT_TRUE(state.TakeWritten(LeaseText("me", 10), At(120), At(120)));
  EXPECT_TRUE(state.Leads(At(120)));
}

TEST(LeaseState, AnEmptyHolderIsGivenUpOnlyWithTheDurationThatHoldersLeave) {
  LeaseState state(Settings("me"));
  const std::string given_up =
      R"({"metadata":{"resourceVersion":"1"},"spec":{"holderIdentity":"","leaseDurationSeconds":1}})";
  ASSERT_TRUE(state.TakeRead(given_up, At(100)));
  EXPECT_EQ(state.Next(At(100)), LeaseState::Step::kUpdate);
  ASSERT_TRUE(state.TakeRead(LeaseText("", 2), At(100)));
  EXPECT_EQ(state.Next(At(114)), LeaseState::Step::kWait) << "its holder may not know";
  EXPECT_EQ(state.Next(At(115)), LeaseState::Step::kUpdate);
}

TEST(LeaseState, ACountThatIsTooLargeDoesNotOverflow) {
  LeaseState state(Settings("me"));
  ASSERT_TRUE(state.TakeRead(
      R"({"metadata":{"resourceVersion":"1"},"spec":{"leaseTransitions":9223372036854775807}})",
      At(0)));
  EXPECT_EQ(nlohmann::json::parse(state.Body(kWall))["spec"]["leaseTransitions"], 1'000'000'001);
}

TEST(LeaseState, GivesUpByAnEmptyHolder) {
  LeaseState state(Settings("me"));
  EXPECT_FALSE(state.ReleaseBody(kWall, At(100)));
  ASSERT_TRUE(state.TakeWritten(LeaseText("me", 9), At(100), At(101)));
  const auto body = nlohmann::json::parse(*state.ReleaseBody(kWall, At(102)));
  EXPECT_EQ(body["spec"]["holderIdentity"], "");
  EXPECT_EQ(body["spec"]["leaseDurationSeconds"], 1);
}

TEST(LeaseState, OneThatWasMadeAndNotLedByIsGivenUpWithAWarning) {
  LeaseState state(Settings("me"));
  state.TakeMissing();
  ASSERT_TRUE(state.TakeWritten(LeaseText("me", 9), At(100), At(100)));
  const auto early = nlohmann::json::parse(*state.ReleaseBody(kWall, At(114)));
  EXPECT_EQ(early["spec"]["holderIdentity"], "");
  EXPECT_EQ(early["spec"]["leaseDurationSeconds"], 15)
      << "the holder of a deleted one may lead still";
  const auto late = nlohmann::json::parse(*state.ReleaseBody(kWall, At(115)));
  EXPECT_EQ(late["spec"]["leaseDurationSeconds"], 1);
}

TEST(LeaseState, NonsenseIsAFailure) {
  LeaseState state(Settings("me"));
  for (const char* bad : {"", "[]", "{}", "{\"metadata\":{\"resourceVersion\":1}}"}) {
    EXPECT_FALSE(state.TakeRead(bad, At(0)));
    EXPECT_FALSE(state.TakeWritten(bad, At(0), At(0)));
    EXPECT_EQ(state.Next(At(0)), LeaseState::Step::kRead);
  }
  ASSERT_TRUE(state.TakeRead(R"({"metadata":{"resourceVersion":"1"},"spec":7})", At(0)));
  EXPECT_THAT(state.Body(kWall), HasSubstr("\"holderIdentity\":\"me\""));
}

// The one Lease of a server.
class LeaseServer {
 public:
  struct Answer {
    int status;
    std::string body;
  };
  Answer Handle(const net::HttpRequest& request) {
    if (request.method == "GET") {
      return lease_.is_null() ? Answer{404, ""} : Answer{200, lease_.dump()};
    }
    nlohmann::json body = nlohmann::json::parse(request.body);
    if (request.method == "POST" && !lease_.is_null()) return {409, ""};
    if (request.method == "PUT" &&
        (lease_.is_null() ||
         body["metadata"]["resourceVersion"] != lease_["metadata"]["resourceVersion"])) {
      return {409, ""};
    }
    lease_ = body;
    lease_["metadata"]["resourceVersion"] = std::to_string(++version_);
    return {200, lease_.dump()};
  }
  // What people do by hand.
  void Delete() { lease_ = nullptr; }
  void Empty() {
    if (lease_.is_null()) return;
    lease_["spec"]["holderIdentity"] = "";
    lease_["metadata"]["resourceVersion"] = std::to_string(++version_);
  }

 private:
  nlohmann::json lease_;
  int version_ = 0;
};

// A machine with a clock of its own rate and offset, behind a network that delays and loses.
class SkewedTransport final : public net::Transport {
 public:
  struct Network {
    FakeTransport& world;
    LeaseServer& server;
    std::mt19937_64 random;
    bool faulty = true;
  };
  SkewedTransport(Network& network, double rate, Duration offset)
      : network_(network), rate_(rate), offset_(offset) {}

  bool cut_off = false;

  [[nodiscard]] net::SteadyTime Now() const override {
    const auto passed = static_cast<double>(network_.world.Now().time_since_epoch().count());
    return net::SteadyTime(Duration(static_cast<Duration::rep>(passed * rate_)) + offset_);
  }
  [[nodiscard]] bool OnThread() const override { return true; }
  void Post(std::function<void()> task) override { network_.world.Post(Held(std::move(task))); }
  net::TimerId After(Duration delay, std::function<void()> task) override {
    const auto wanted = std::make_shared<bool>(true);
    const net::TimerId timer =
        network_.world.After(Real(delay), Held([wanted, task = std::move(task)] {
                               if (*wanted) task();
                             }));
    wanted_[timer] = wanted;
    return timer;
  }
  void CancelTimer(net::TimerId timer) override {
    network_.world.CancelTimer(timer);
    const auto found = wanted_.find(timer);
    if (found == wanted_.end()) return;
    if (const auto wanted = found->second.lock()) *wanted = false;
    wanted_.erase(found);
  }
  // The process is stopped (SIGSTOP): its clock goes on, and what is due waits.
  void Pause() { paused_ = true; }
  void Continue() {
    paused_ = false;
    for (const auto& task : std::exchange(held_, {})) task();
  }
  net::RequestId Send(net::ClientRequest request,
                      std::shared_ptr<net::Receiver> receiver) override {
    const net::RequestId id{++last_};
    active_[id] = std::move(receiver);
    After(request.limits.total, [this, id] { Fail(id, net::TransportError::Cause::kTimeout); });
    network_.world.After(Latency(), [this, id, message = request.message] {
      if (Lost()) return;
      const LeaseServer::Answer answer = network_.server.Handle(message);
      if (Lost()) return;
      network_.world.After(Latency(), Held([this, id, answer] {
                             const auto found = active_.find(id);
                             if (cut_off || found == active_.end()) return;
                             const auto to = found->second;
                             active_.erase(found);
                             to->OnHead({answer.status, {}, ""});
                             (void)to->OnBody(answer.body);
                             to->OnEnd({});
                           }));
    });
    return id;
  }
  void Cancel(net::RequestId request) override {
    Post([this, request] { Fail(request, net::TransportError::Cause::kCancelled); });
  }
  void CloseConnections() override {}

 private:
  [[nodiscard]] Duration Real(Duration local) const {
    return Duration(static_cast<Duration::rep>(static_cast<double>(local.count()) / rate_) + 1);
  }
  Duration Latency() {
    if (!network_.faulty) return milliseconds(2);
    return milliseconds(network_.random() % 5 == 0 ? network_.random() % 9000
                                                   : network_.random() % 50);
  }
  bool Lost() { return cut_off || (network_.faulty && network_.random() % 6 == 0); }
  void Fail(net::RequestId id, net::TransportError::Cause cause) {
    const auto found = active_.find(id);
    if (found == active_.end()) return;
    const auto to = found->second;
    active_.erase(found);
    to->OnEnd(
        tl::unexpected(net::TransportError{cause, net::TransportError::Sent::kMaybe, "lost"}));
  }

  [[nodiscard]] std::function<void()> Held(std::function<void()> task) {
    return [this, task = std::move(task)] {
      if (paused_) {
        held_.push_back(task);
      } else {
        task();
      }
    };
  }

  Network& network_;
  double rate_;
  Duration offset_;
  bool paused_ = false;
  std::vector<std::function<void()>> held_;
  std::map<net::TimerId, std::weak_ptr<bool>> wanted_;
  std::uint64_t last_ = 0;
  std::map<net::RequestId, std::shared_ptr<net::Receiver>> active_;
};

// The time of day, which anybody may set.
class WallClock final : public Clock {
 public:
  [[nodiscard]] Time Now() const override { return now; }
  Time now = kWall;
};

struct Candidate {
  Candidate(SkewedTransport::Network& network, double rate, Duration offset)
      : transport(network, rate, offset), client(transport, transport, Options()) {}

  static ClientOptions Options() {
    ClientOptions options;
    options.random = [] { return 0.5; };
    return options;
  }
  void Start(const std::string& identity, std::vector<std::string>* told) {
    LeaderLease::Hooks hooks;
    hooks.started = [=] { told->push_back("+" + identity); };
    hooks.stopped = [=] { told->push_back("-" + identity); };
    hooks.waiting = [this](const std::string& why) { waits.push_back(why); };
    hooks.late_thread = [this] { return late_thread; };
    lease = std::make_unique<LeaderLease>(
        client, Settings(identity), std::move(hooks), clock, [] { return 0.5; });
  }
  [[nodiscard]] bool Leads() const { return lease != nullptr && lease->Leads(); }

  WallClock clock;
  SkewedTransport transport;
  Client client;
  std::string late_thread;         // what hangs
  std::vector<std::string> waits;  // what it heard of waiting
  std::unique_ptr<LeaderLease> lease;
};

struct Election {
  explicit Election(std::uint64_t seed = 1)
      : network{world, server, std::mt19937_64(seed), /*faulty=*/false} {}

  [[nodiscard]] int Leaders() const {
    int count = 0;
    for (const auto& candidate : candidates) count += candidate->Leads() ? 1 : 0;
    return count;
  }

  FakeTransport world;
  LeaseServer server;
  SkewedTransport::Network network;
  std::vector<std::string> told;
  std::vector<std::unique_ptr<Candidate>> candidates;
};

TEST(LeaderLease, OneLeadsAndAnotherFollowsWhenItIsCutOff) {
  Election election;
  for (int i = 0; i < 2; ++i) {
    election.candidates.push_back(std::make_unique<Candidate>(election.network, 1.0, seconds(i)));
    election.candidates.back()->Start("c" + std::to_string(i), &election.told);
  }
  election.world.Advance(seconds(60));
  EXPECT_THAT(election.told, ElementsAre("+c0"));
  election.candidates[0]->transport.cut_off = true;
  election.world.Advance(seconds(25));
  EXPECT_THAT(election.told, ElementsAre("+c0", "-c0", "+c1"));
  EXPECT_TRUE(election.candidates[1]->Leads());
}

TEST(LeaderLease, WhoWaitsIsToldOnceForWhom) {
  Election election;
  for (int i = 0; i < 2; ++i) {
    election.candidates.push_back(std::make_unique<Candidate>(election.network, 1.0, seconds(i)));
    election.candidates.back()->Start("c" + std::to_string(i), &election.told);
  }
  election.world.Advance(seconds(60));
  EXPECT_THAT(election.candidates[0]->waits,
              ElementsAre("lease volcano-system/volcano is new: this process leads after 15s"));
  EXPECT_THAT(election.candidates[1]->waits,
              ElementsAre("lease volcano-system/volcano is held by c0: this process leads when the "
                          "lease is released, or was not renewed for 15s"));
  election.candidates[0]->lease.reset();
  election.world.Advance(seconds(60));
  EXPECT_TRUE(election.candidates[1]->Leads());
  EXPECT_EQ(election.candidates[1]->waits.size(), 1U);
}

TEST(LeaderLease, WhoseLeaseIsDeletedStopsWithItsNextWriteAndLeadsAgainWhenItHasANewOne) {
  Election election;
  election.candidates.push_back(std::make_unique<Candidate>(election.network, 1.0, seconds(0)));
  election.candidates.back()->Start("c0", &election.told);
  election.world.Advance(seconds(60));
  EXPECT_THAT(election.told, ElementsAre("+c0"));
  election.server.Delete();
  election.world.Advance(seconds(3));
  EXPECT_THAT(election.told, ElementsAre("+c0", "-c0"));
  election.world.Advance(seconds(30));
  EXPECT_THAT(election.told, ElementsAre("+c0", "-c0", "+c0"));
}

TEST(LeaderLease, WhoeverGoesGivesTheLeaseAwayAtOnce) {
  Election election;
  for (int i = 0; i < 2; ++i) {
    election.candidates.push_back(std::make_unique<Candidate>(election.network, 1.0, seconds(0)));
    election.candidates.back()->Start("c" + std::to_string(i), &election.told);
  }
  election.world.Advance(seconds(30));
  election.candidates[0]->lease.reset();
  EXPECT_THAT(election.told, ElementsAre("+c0", "-c0"));
  election.world.Advance(seconds(5));
  EXPECT_TRUE(election.candidates[1]->Leads());
}

TEST(LeaderLease, AProcessThatWasPausedDoesNotLeadWhenItGoesOn) {
  Election election;
  for (int i = 0; i < 2; ++i) {
    election.candidates.push_back(std::make_unique<Candidate>(election.network, 1.0, seconds(0)));
    election.candidates.back()->Start("c" + std::to_string(i), &election.told);
  }
  election.world.Advance(seconds(30));
  Candidate& first = *election.candidates[0];
  first.transport.Pause();
  election.world.Advance(std::chrono::hours(1));
  EXPECT_FALSE(first.Leads());
  EXPECT_TRUE(election.candidates[1]->Leads());
  first.transport.Continue();
  EXPECT_FALSE(first.Leads());
  election.world.Advance(seconds(30));
  EXPECT_THAT(election.told, ElementsAre("+c0", "+c1", "-c0"));
}

TEST(LeaderLease, AClockThatIsSetByAnHourChangesNothing) {
  for (const int hours : {-1, 1}) {
    Election election;
    for (int i = 0; i < 2; ++i) {
      election.candidates.push_back(std::make_unique<Candidate>(election.network, 1.0, seconds(0)));
      election.candidates.back()->Start("c" + std::to_string(i), &election.told);
    }
    election.world.Advance(seconds(30));
    for (const auto& candidate : election.candidates) {
      candidate->clock.now += std::chrono::hours(hours);
      election.world.Advance(seconds(60));
    }
    EXPECT_THAT(election.told, ElementsAre("+c0"));
  }
}

TEST(LeaderLease, WhoHasAThreadThatHangsLeadsNoMoreAndLeavesTheLeaseToItsEnd) {
  Election election;
  for (int i = 0; i < 2; ++i) {
    election.candidates.push_back(std::make_unique<Candidate>(election.network, 1.0, seconds(0)));
    election.candidates.back()->Start("c" + std::to_string(i), &election.told);
  }
  election.world.Advance(seconds(30));
  election.candidates[0]->late_thread = "thread worker has not responded for 61 s";
  election.world.Advance(seconds(3));
  EXPECT_THAT(election.told, ElementsAre("+c0", "-c0"));
  election.world.Advance(seconds(20));
  EXPECT_THAT(election.told, ElementsAre("+c0", "-c0", "+c1"));
}

TEST(LeaderLease, WhoKeepsItToItsEndGivesItToNobody) {
  Election election;
  for (int i = 0; i < 2; ++i) {
    election.candidates.push_back(std::make_unique<Candidate>(election.network, 1.0, seconds(0)));
    election.candidates.back()->Start("c" + std::to_string(i), &election.told);
  }
  election.world.Advance(seconds(30));
  election.candidates[0]->lease->KeepToItsEnd();
  election.candidates[0]->lease.reset();
  election.world.Advance(seconds(12));
  EXPECT_THAT(election.told, ElementsAre("+c0", "-c0"));
  election.world.Advance(seconds(10));
  EXPECT_TRUE(election.candidates[1]->Leads());
}

// One thing that goes wrong, or is mended, with one of the candidates, and perhaps with the lease.
void Trouble(Election& election, Candidate& one) {
  using testing::Below;
  const int by_hand = *Below(8);
  if (by_hand < 2) election.server.Delete();
  if (by_hand == 2) election.server.Empty();
  const int what = *Below(6);
  if (what < 3) one.transport.cut_off = what == 0;
  if (what == 3) one.lease.reset();
  if (what == 4) one.clock.now += std::chrono::hours(*Below(3) - 1);
  if (what == 5) one.transport.Pause();
  if (*Below(4) != 0) return;
  for (const auto& candidate : election.candidates) candidate->transport.Continue();
}

void MendAll(Election& election) {
  election.network.faulty = false;
  for (const auto& candidate : election.candidates) {
    candidate->transport.cut_off = false;
    candidate->transport.Continue();
  }
}

TEST(LeaderLeaseProperty, NeverTwoLeadAndInTheEndOneDoes) {
  using testing::Below;
  testing::CheckProperty(100, [] {
    Election election(*rc::gen::arbitrary<std::uint64_t>());
    election.network.faulty = true;
    const int count = 2 + *Below(3);
    int born = 0;
    for (int i = 0; i < count; ++i) {
      const double rate = 0.85 + *Below(31) / 100.0;
      election.candidates.push_back(
          std::make_unique<Candidate>(election.network, rate, seconds(*Below(100'000))));
      election.candidates.back()->Start("c" + std::to_string(born++), &election.told);
    }
    for (int step = 0; step < 1500; ++step) {
      election.world.Advance(milliseconds(200));
      RC_ASSERT(election.Leaders() <= 1);
      if (step % 50 != 0) continue;
      Candidate& one = *election.candidates[static_cast<std::size_t>(*Below(count))];
      Trouble(election, one);
      RC_ASSERT(election.Leaders() <= 1);
      if (one.lease == nullptr) one.Start("c" + std::to_string(born++), &election.told);
    }
    MendAll(election);
    election.world.Advance(seconds(120));
    RC_ASSERT(election.Leaders() == 1);
  });
}

}  // namespace
}  // namespace strata::kube
