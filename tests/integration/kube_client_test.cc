// src/kube against our own API server, over TLS with a CA of its own, in one process.
#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kube/connection.h"
#include "kube/event_recorder.h"
#include "kube/informers.h"
#include "kube/json_text.h"
#include "kube/leader_lease.h"
#include "tests/support/api_cluster.h"

namespace strata::kube {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using Cluster = strata::testing::ApiCluster;

std::string PodText(const std::string& name) {
  return R"({"metadata":{"name":")" + name +
         R"("},"spec":{"schedulerName":"volcano","containers":[{"name":"c","image":"i"}]}})";
}
ResourcePath Pod(const std::string& name) {
  return {kPods, "default", name, ""};
}
ResourcePath Pods() {
  return {kPods, "default", "", ""};
}
nlohmann::json Parsed(const Reply& reply) {
  EXPECT_TRUE(reply) << reply.error().error.message;
  return reply ? nlohmann::json::parse(*reply, nullptr, false) : nlohmann::json();
}

TEST(KubeClient, CreatesBindsEvictsAndReadsTheServersWords) {
  const Cluster cluster;
  const auto connection = cluster.Connect();
  Client& client = connection->client();
  const auto made = Parsed(client.Do(CreateCall(Pods(), PodText("a"))));
  const Reply again = client.Do(CreateCall(Pods(), PodText("a")));
  ASSERT_FALSE(again);
  EXPECT_TRUE(again.error().AlreadyExists());
  EXPECT_EQ(again.error().error.message, "pods \"a\" already exists");

  const PodName pod{"default", "a", made["metadata"]["uid"]};
  EXPECT_TRUE(client.Do(BindCall(pod, "n1", {{"volcano.sh/gpu", "0"}})));
  const auto bound = Parsed(client.Do(GetCall(Pod("a"))));
  EXPECT_EQ(bound["spec"]["nodeName"], "n1");
  EXPECT_EQ(bound["metadata"]["annotations"]["volcano.sh/gpu"], "0");
  EXPECT_EQ(client.Do(BindCall(pod, "n2", {})).error().error.code, Code::kConflict);

  EXPECT_TRUE(client.Do(PatchCall(
      Pod("a"), {PatchType::kStrategic, "", {}}, R"({"metadata":{"labels":{"x":"y"}}})")));
  EXPECT_TRUE(client.Do(EvictCall(pod, {0, "", "", ""})));
  EXPECT_EQ(client.Do(GetCall(Pod("a"))).error().error.code, Code::kNotFound);
  EXPECT_EQ(client.Do(DeleteCall(Pod("a"), {0, pod.uid, "", ""})).error().http_status, 404);
}

TEST(KubeClient, AServerWithAnotherCertificateIsNotTrusted) {
  const Cluster cluster;
  ConnectionConfig config = cluster.config();
  config.cluster.ca.text = net::MakeAuthority("another", SystemClock().Now())->certificate_pem;
  const auto connection = Connection::Open(config, {}, SystemSurroundings());
  const Reply reply = (*connection)->client().Do(GetCall({kNodes, "", "", ""}));
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().error.message, HasSubstr("certificate"));
}

TEST(KubeClient, ListsInPages) {
  const Cluster cluster;
  const auto connection = cluster.Connect();
  for (int i = 0; i < 7; ++i) {
    ASSERT_TRUE(connection->client().Do(CreateCall(Pods(), PodText("p" + std::to_string(i)))));
  }
  ListOptions options;
  options.limit = 3;
  const auto pods = ListObjects(connection->client(), kPods, "", options);
  ASSERT_TRUE(pods) << pods.error().error.message;
  EXPECT_THAT(*pods, SizeIs(7));
  EXPECT_THAT(pods->front(), HasSubstr(R"("kind":"Pod")"));
}

// Applies changes until the view is as `done` wants it.
template <typename Done>
bool FollowUntil(DeltaQueue& queue, std::map<std::string, std::string>& view, const Done& done) {
  const auto deadline = std::chrono::steady_clock::now() + seconds(60);
  while (!done() && std::chrono::steady_clock::now() < deadline) {
    for (const Delta& delta : queue.Wait(seconds(1))) {
      const std::string name = std::to_string(delta.source) + delta.key.name;
      if (delta.type == Delta::Type::kSynced) continue;
      const bool known = view.contains(name);
      EXPECT_EQ(known, delta.type != Delta::Type::kAdded) << name;
      if (delta.type == Delta::Type::kDeleted) {
        view.erase(name);
      } else {
        view[name] = delta.version;
      }
    }
  }
  return done();
}

void LateInformersSeeWhatManyWritersDo(ReflectorState::Streaming streaming) {
  const Cluster cluster;
  const auto connection = cluster.Connect();
  Client& client = connection->client();
  constexpr int kWrites = 600;
  DeltaQueue queue;
  Informers::Options options;
  options.page_size = 5;
  options.streaming = streaming;
  Informers informers(client, queue, options);
  std::atomic<int> left = kWrites;
  for (int i = 0; i < kWrites; ++i) {
    const std::string name = "p" + std::to_string(i % 40);
    Call call = i % 3 == 0 ? CreateCall(Pods(), PodText(name))
                : i % 3 == 1
                    ? PatchCall(Pod(name),
                                {PatchType::kMerge, "", {}},
                                R"({"metadata":{"labels":{"i":")" + std::to_string(i) + R"("}}})")
                    : DeleteCall(Pod(name), {0, "", "", ""});
    client.Start(std::move(call), [&left](const Reply&) { --left; });
    if (i == kWrites / 4) informers.Add({kPods, "", "", ""});
    if (i == kWrites / 2) informers.Add({kPods, "default", "", ""});
  }
  std::map<std::string, std::string> view;
  ASSERT_TRUE(FollowUntil(queue, view, [&] { return left == 0; }));
  const auto pods = ListObjects(client, kPods, "", {});
  ASSERT_TRUE(pods);
  std::map<std::string, std::string> truth;
  for (const std::string& text : *pods) {
    const auto head = ReadHead(text);
    ASSERT_TRUE(head);
    truth["0" + head->key.name] = head->version;
    truth["1" + head->key.name] = head->version;
  }
  EXPECT_TRUE(FollowUntil(queue, view, [&] { return view == truth; }));
}

TEST(KubeClient, InformersThatStreamListsSeeWhatManyWritersDo) {
  LateInformersSeeWhatManyWritersDo(ReflectorState::Streaming::kTry);
}
TEST(KubeClient, InformersThatReadPagesSeeWhatManyWritersDo) {
  LateInformersSeeWhatManyWritersDo(ReflectorState::Streaming::kNever);
}

TEST(KubeClient, LeasesAndEventsAreTakenByTheServer) {
  const Cluster cluster;
  const auto connection = cluster.Connect();
  Client& client = connection->client();
  LeaseSettings settings;
  settings.ns = "volcano-system";
  settings.name = "volcano";
  settings.identity = "one";
  settings.duration = seconds(1);  // which the first waits, since it makes the lease
  settings.renew = seconds(60);    // longer than any stall; nobody else wants it
  settings.retry = std::chrono::milliseconds(20);
  {
    std::promise<void> leads;
    const LeaderLease lease(
        client, settings, {[&leads] { leads.set_value(); }, nullptr, nullptr}, SystemClock(), [] {
          return 0.0;
        });
    leads.get_future().wait();
    EXPECT_TRUE(lease.Leads());
    const auto read = Parsed(client.Do(GetCall({kLeases, "volcano-system", "volcano", ""})));
    EXPECT_EQ(read["spec"]["holderIdentity"], "one");
  }
  std::promise<void> follows;
  settings.identity = "two";
  const LeaderLease next(
      client, settings, {[&follows] { follows.set_value(); }, nullptr, nullptr}, SystemClock(), [] {
        return 0.0;
      });
  follows.get_future().wait();
  const auto read = Parsed(client.Do(GetCall({kLeases, "volcano-system", "volcano", ""})));
  EXPECT_EQ(read["spec"]["holderIdentity"], "two");
  EXPECT_EQ(read["spec"]["leaseTransitions"], 1);

  DeltaQueue queue;
  Informers informers(client, queue, {});
  informers.Add({kEvents, "default", "", ""});
  EventRecorder recorder(client, {}, SystemClock());
  EventNote note;
  note.about = {"Pod", "v1", "default", "a", "u", ""};
  note.reason = "Scheduled";
  note.message = "Successfully assigned default/a to n1";
  for (int i = 0; i < 3; ++i) recorder.Record(note);
  std::string last;
  const auto deadline = std::chrono::steady_clock::now() + seconds(60);
  while (last.find(R"("count":3)") == std::string::npos &&
         std::chrono::steady_clock::now() < deadline) {
    for (const Delta& delta : queue.Wait(seconds(1))) {
      if (delta.type != Delta::Type::kSynced) last = delta.text;
    }
  }
  EXPECT_THAT(last, HasSubstr(R"("count":3)"));
  EXPECT_THAT(last, HasSubstr("Successfully assigned default/a to n1"));
}

}  // namespace
}  // namespace strata::kube
