#include "controllers/discoverers.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/object_meta.h"
#include "json/dump.h"
#include "kube/test_fake_transport.h"

namespace strata::controllers {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class SetClock final : public Clock {
 public:
  [[nodiscard]] Time Now() const override { return now; }
  Time now = Time(std::chrono::hours(24));
};

constexpr const char* kRacks = R"({"networkTopologyDiscovery": [{
  "source": "label", "enabled": true, "interval": "1h",
  "config": {"networkTopologyTypes": {"net": [{"nodeLabel": "rack"}, {"nodeLabel": "kubernetes.io/hostname"}]}}}]})";

// Two nodes in two racks, and a source that reads their labels.
class DiscoverersTest : public ::testing::Test {
 protected:
  DiscoverersTest()
      : cache_(Watches()),
        discoverers_({client_,
                      cache_,
                      log_,
                      clock_,
                      [](Duration) { return nullptr; },
                      discovery::Permissions::Only({}, "volcano-system").value(),
                      [this] { Ring(); }}) {
    for (const char* name : {"a", "b"}) {
      kube::Delta delta;
      delta.type = kube::Delta::Type::kAdded;
      delta.key = {"", name};
      delta.uid = name;
      delta.version = "1";
      delta.text = DumpJson({{"metadata",
                              {{"name", name},
                               {"uid", name},
                               {"labels", {{"rack", name}, {"kubernetes.io/hostname", name}}}}}});
      static_cast<void>(cache_.Take(delta));
    }
    EXPECT_TRUE(discoverers_.Configure(kRacks, "conf", std::nullopt));
  }

  static std::vector<Cache::Watched> Watches() {
    std::vector<Cache::Watched> watches(2);
    watches[0].spec.resource = kube::kNodes;
    watches[0].keep = Cache::Keep::kNode;
    watches[1].spec.resource = kube::kHyperNodes;
    return watches;
  }

  void Ring() {
    const std::lock_guard lock(mutex_);
    ++rings_;
    rung_.notify_all();
  }

  // The work once the source, which is asked now, has answered.
  Controller::Work AskAndTake() {
    {
      const std::lock_guard lock(mutex_);
      rings_ = 0;
    }
    Controller::Work early = discoverers_.Work();
    if (!early.plan.steps.empty()) return early;  // it was quick
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(rung_.wait_for(lock, seconds(60), [&] { return rings_ > 0; }));
    lock.unlock();
    return discoverers_.Work();
  }

  kube::FakeTransport transport_;
  kube::Client client_{transport_, transport_, {}};
  SetClock clock_;
  obs::Log log_{"test", clock_, {}};
  Cache cache_;
  std::mutex mutex_;
  std::condition_variable rung_;
  int rings_ = 0;
  Discoverers discoverers_;
};

TEST_F(DiscoverersTest, AsksAgainAnIntervalAfterASuccessfulWrite) {
  const Controller::Work work = AskAndTake();
  ASSERT_THAT(work.plan.steps, SizeIs(1));
  work.done();
  EXPECT_EQ(discoverers_.Work().plan.again, std::chrono::hours(1));
  EXPECT_THAT(obs::MetricsText(discoverers_.Metrics()), HasSubstr("source_up{source=\"label\"} 1"));
}

TEST_F(DiscoverersTest, RetriesAFailedWriteWithGrowingDelays) {
  for (const int pause : {1, 2, 4}) {
    ASSERT_THAT(AskAndTake().plan.steps, SizeIs(1)) << pause;  // and the write fails
    EXPECT_THAT(obs::MetricsText(discoverers_.Metrics()),
                HasSubstr("source_up{source=\"label\"} 0"));
    EXPECT_EQ(discoverers_.Work().plan.again, seconds(pause));
    transport_.Advance(seconds(pause));
  }
  AskAndTake().done();
  EXPECT_EQ(discoverers_.Work().plan.again, std::chrono::hours(1));
}

TEST_F(DiscoverersTest, AClockThatIsSetChangesNoInterval) {
  AskAndTake().done();
  clock_.now -= std::chrono::hours(5);
  EXPECT_EQ(discoverers_.Work().plan.again, std::chrono::hours(1));
  clock_.now += std::chrono::hours(10);
  EXPECT_EQ(discoverers_.Work().plan.again, std::chrono::hours(1));
}

TEST_F(DiscoverersTest, NodesThatChangeBeforeTheAnswerIsWrittenAreNotMissed) {
  const Controller::Work work = AskAndTake();
  discoverers_.NoteNodesChanged();
  work.done();
  EXPECT_LT(discoverers_.Work().plan.again, seconds(1));
}

// The right to edit the ConfigMap is neither one to run programs nor one to read Secrets.
TEST_F(DiscoverersTest, AnEntryThatIsNotAllowedIsReportedAndNotAsked) {
  const kube::ObjectReference conf{.kind = "ConfigMap", .ns = "volcano-system", .name = "conf"};
  EXPECT_TRUE(discoverers_.Configure(R"({"networkTopologyDiscovery": [
      {"source": "exec", "enabled": true, "config": {"command": ["/bin/sh", "-c", "id"]}},
      {"source": "infiniband", "enabled": true},
      {"source": "ufm", "enabled": true, "config": {"endpoint": "https://ufm"},
       "credentials": {"secretRef": {"name": "admin", "namespace": "kube-system"}}}]})",
                                     "conf",
                                     conf));
  const Controller::Work work = discoverers_.Work();
  ASSERT_THAT(work.plan.events, SizeIs(3));
  EXPECT_THAT(work.plan.events[0].message, HasSubstr("program \"/bin/sh\" is not allowed"));
  EXPECT_THAT(work.plan.events[1].message, HasSubstr("program \"ibnetdiscover\" is not allowed"));
  EXPECT_THAT(work.plan.events[2].message, HasSubstr("\"kube-system\" is not allowed"));
  EXPECT_EQ(discoverers_.Work().plan.again, std::nullopt) << "nothing is asked";
}

TEST(PlanDiscoveryErrors, AnEventQuotesNothingOfAProgramsOutput) {
  discovery::SourceConfig entry;
  entry.source = "exec";
  entry.enabled = true;
  entry.config = discovery::ExecConfig{.command = {"/opt/topology"}};
  ReaderAnswers answers;
  answers.answers.emplace_back(
      Result<discovery::CommandOutput>({.exit_code = 1, .out = "", .err = "password: swordfish"}));
  const DiscoveryView view{.sources = {entry}, .nodes = {}, .hypernodes = {}, .secrets = {}};
  const DiscoveryOutcome outcome = PlanDiscovery(view, entry, answers, discovery::Shrink::kRefuse);
  EXPECT_EQ(outcome.error, "exec: /opt/topology: exit status 1: password: swordfish");
  EXPECT_EQ(outcome.event, "exec: the source failed (the log has the reason)");
}

}  // namespace
}  // namespace strata::controllers
