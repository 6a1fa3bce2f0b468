// The smaller controllers: queues, plain pods, HyperNodes, garbage, discovery.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/cache.h"
#include "controllers/discovery_plan.h"
#include "controllers/garbage.h"
#include "controllers/hypernode_status.h"
#include "controllers/job_controller.h"
#include "controllers/object_meta.h"
#include "controllers/pod_group_reconcile.h"
#include "controllers/queue_reconcile.h"
#include "json/access.h"
#include "json/dump.h"
#include "json/parse.h"

namespace strata::controllers {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ObjectRef Seen(json object) {
  return std::make_shared<const json>(std::move(object));
}

// "status q", "create podgroup-x": the writes of a plan, in order.
std::vector<std::string> Deeds(const Plan& plan) {
  constexpr const char* kVerbs[] = {"create", "ensure", "replace", "patch", "delete"};
  std::vector<std::string> deeds;
  for (const std::vector<Write>& step : plan.steps) {
    for (const Write& write : step) {
      deeds.push_back(std::string(kVerbs[static_cast<std::size_t>(write.verb)]) + " " + write.name +
                      (write.subresource.empty() ? "" : " " + write.subresource));
    }
  }
  return deeds;
}

json BodyOf(const Plan& plan, std::size_t step) {
  return ParseJsonOrNull(plan.steps.at(step).at(0).body);
}

ObjectRef Queue(const std::string& name,
                const std::string& state,
                const json& more = json::object()) {
  json queue = {{"metadata", {{"name", name}, {"uid", "u-" + name}}},
                {"spec", {{"parent", "root"}}},
                {"status", {{"state", state}}}};
  queue.merge_patch(more);
  return Seen(std::move(queue));
}

ObjectRef Group(const std::string& queue, const std::string& phase) {
  return Seen({{"spec", {{"queue", queue}}}, {"status", {{"phase", phase}}}});
}

ObjectRef CommandTo(const std::string& action) {
  return Seen({{"metadata", {{"name", "c"}, {"namespace", "default"}, {"uid", "u-c"}}},
               {"action", action}});
}

TEST(ReconcileQueue, CountsItsGroups) {
  const GroupCounts counts = CountGroups({Group("q", "Pending"),
                                          Group("q", ""),
                                          Group("q", "Running"),
                                          Group("other", "Running")})["q"];
  const Plan plan = ReconcileQueue(
      {.queue = Queue("q", "Open"), .parent = nullptr, .commands = {}, .groups = counts});
  EXPECT_THAT(Deeds(plan), ElementsAre("patch q status"));
  EXPECT_EQ(BodyOf(plan, 0)["status"], (json{{"pending", 2}, {"running", 1}}));
}

TEST(ReconcileQueue, LeavesAQueueAloneThatIsAsItShouldBe) {
  const Plan plan = ReconcileQueue(
      {.queue = Queue("q", "Open"), .parent = nullptr, .commands = {}, .groups = {}});
  EXPECT_THAT(Deeds(plan), IsEmpty());
}

TEST(ReconcileQueue, AClosedQueueIsClosingWhileItHasGroups) {
  GroupCounts one;
  one.running = 1;
  const Plan busy = ReconcileQueue({.queue = Queue("q", "Open", {{"status", {{"running", 1}}}}),
                                    .parent = nullptr,
                                    .commands = {CommandTo("CloseQueue")},
                                    .groups = one});
  EXPECT_THAT(Deeds(busy), ElementsAre("patch q status", "delete c"));
  EXPECT_EQ(BodyOf(busy, 0)["status"]["state"], "Closing");
  const Plan empty = ReconcileQueue(
      {.queue = Queue("q", "Closing"), .parent = nullptr, .commands = {}, .groups = {}});
  EXPECT_EQ(BodyOf(empty, 0)["status"]["state"], "Closed");
}

TEST(ReconcileQueue, FollowsItsParentAndCannotBeOpenedAlone) {
  const ObjectRef shut = Queue("parent", "Closed");
  const Plan close =
      ReconcileQueue({.queue = Queue("q", "Open"), .parent = shut, .commands = {}, .groups = {}});
  EXPECT_THAT(Deeds(close), ElementsAre("patch q", "patch q status"));
  const json marked = {{"metadata", {{"annotations", {{"volcano.sh/closed-by-parent", "true"}}}}}};
  const Plan refused = ReconcileQueue({.queue = Queue("q", "Closed", marked),
                                       .parent = shut,
                                       .commands = {CommandTo("OpenQueue")},
                                       .groups = {}});
  EXPECT_THAT(Deeds(refused), ElementsAre("delete c"));
  ASSERT_THAT(refused.events, SizeIs(1));
  EXPECT_EQ(refused.events[0].reason, "CommandRefused");
  const Plan open = ReconcileQueue({.queue = Queue("q", "Closed", marked),
                                    .parent = Queue("parent", "Open"),
                                    .commands = {},
                                    .groups = {}});
  EXPECT_EQ(BodyOf(open, 1)["status"]["state"], "Open");
  EXPECT_TRUE(BodyOf(open, 0)["metadata"]["annotations"]["volcano.sh/closed-by-parent"].is_null());
}

json PodObject(const json& more = json::object()) {
  json pod = {{"apiVersion", "v1"},
              {"kind", "Pod"},
              {"metadata", {{"name", "p"}, {"namespace", "default"}, {"uid", "u-p"}}},
              {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}};
  pod.merge_patch(more);
  return pod;
}

TEST(ReconcileLonePod, MakesTheGroupThenNamesIt) {
  const Plan plan = ReconcileLonePod(PodObject());
  EXPECT_THAT(Deeds(plan), ElementsAre("create podgroup-u-p", "patch p"));
  EXPECT_EQ(BodyOf(plan, 1)["metadata"]["annotations"]["scheduling.k8s.io/group-name"],
            "podgroup-u-p");
}

TEST(ReconcileLonePod, PodsOfOneControllerShareAGroup) {
  const json owned = {{"metadata",
                       {{"ownerReferences",
                         {{{"apiVersion", "apps/v1"},
                           {"kind", "ReplicaSet"},
                           {"name", "r"},
                           {"uid", "u-r"},
                           {"controller", true}}}}}}};
  const Plan plan = ReconcileLonePod(PodObject(owned));
  EXPECT_THAT(Deeds(plan), ElementsAre("create podgroup-u-r", "patch p"));
  EXPECT_EQ(BodyOf(plan, 0)["metadata"]["ownerReferences"], owned["metadata"]["ownerReferences"])
      << "it does not block who is not ours";
}

TEST(ReconcileLonePod, LeavesThoseAloneThatEndOrHaveOne) {
  EXPECT_THAT(Deeds(ReconcileLonePod(PodObject({{"status", {{"phase", "Succeeded"}}}}))),
              IsEmpty());
  EXPECT_THAT(Deeds(ReconcileLonePod(
                  PodObject({{"metadata", {{"deletionTimestamp", "2026-11-16T00:00:00Z"}}}}))),
              IsEmpty());
  EXPECT_THAT(Deeds(ReconcileLonePod(PodObject(
                  {{"metadata", {{"annotations", {{"scheduling.k8s.io/group-name", "g"}}}}}}))),
              IsEmpty());
}

ObjectRef NodeObject(const std::string& name) {
  return Seen({{"metadata", {{"name", name}, {"labels", {{"rack", name.substr(0, 1)}}}}}});
}

json HyperNodeObject(const std::string& name,
                     int tier,
                     const std::string& type,
                     const std::vector<std::string>& names) {
  json members = json::array();
  for (const std::string& member : names) {
    members.push_back({{"type", type}, {"selector", {{"exactMatch", {{"name", member}}}}}});
  }
  return {{"apiVersion", "topology.volcano.sh/v1alpha1"},
          {"kind", "HyperNode"},
          {"metadata", {{"name", name}, {"uid", "u-" + name}}},
          {"spec", {{"tier", tier}, {"members", members}}}};
}

TEST(ReconcileHyperNodeStatus, CountsRealNodesBelowAndNamesWhatIsMissing) {
  const std::vector<ObjectRef> nodes = {NodeObject("a1"), NodeObject("a2")};
  std::vector<ObjectRef> hypernodes = {Seen(HyperNodeObject("leaf", 1, "Node", {"a1", "a2", "a3"})),
                                       Seen(HyperNodeObject("spine", 2, "HyperNode", {"leaf"}))};
  const Plan plan = ReconcileHyperNodeStatus(hypernodes, nodes, Time{});
  EXPECT_THAT(Deeds(plan), ElementsAre("patch leaf status", "patch spine status"));
  for (const Write& write : plan.steps[0]) {
    EXPECT_EQ(ParseJsonOrNull(write.body)["status"]["nodeCount"], 2);
  }
  const json leaf = ParseJsonOrNull(plan.steps[0][0].body)["status"];
  EXPECT_EQ(leaf["conditions"][1]["type"], "MissingMembers");
  EXPECT_THAT(TextAt(leaf["conditions"][1], {"message"}), HasSubstr("a3"));

  // Once written, nothing is left to say.
  for (std::size_t i = 0; i < hypernodes.size(); ++i) {
    json written = *hypernodes[i];
    written.merge_patch(ParseJsonOrNull(plan.steps[0][i].body));
    hypernodes[i] = Seen(std::move(written));
  }
  EXPECT_THAT(Deeds(ReconcileHyperNodeStatus(hypernodes, nodes, Time(std::chrono::hours(1)))),
              IsEmpty());
}

OwnedSeen Owned(const std::string& name, const std::vector<std::string>& owners) {
  OwnedSeen seen;
  seen.resource = kube::kPods;
  seen.key = {"default", name};
  seen.uid = "u-" + name;
  for (const std::string& owner : owners) {
    seen.owners.push_back({.api_version = "v1",
                           .kind = "Pod",
                           .name = owner,
                           .uid = "u-" + owner,
                           .controls = true,
                           .blocks = true});
  }
  return seen;
}

TEST(CollectGarbage, TakesWhatHasNoOwnerLeft) {
  const auto gone = [](const OwnerSeen& owner, const std::string&) { return owner.name == "dead"; };
  EXPECT_THAT(Deeds(CollectGarbage({Owned("a", {"dead"}), {}, gone})), ElementsAre("delete a"));
  EXPECT_THAT(Deeds(CollectGarbage({Owned("a", {"dead", "alive"}), {}, gone})), IsEmpty());
  EXPECT_THAT(Deeds(CollectGarbage({Owned("a", {}), {}, gone})), IsEmpty());
}

TEST(CollectGarbage, InTheForegroundTheOwnerGoesLast) {
  const auto gone = [](const OwnerSeen&, const std::string&) { return false; };
  OwnedSeen owner = Owned("owner", {});
  owner.being_deleted = true;
  owner.finalizers = {"other", "foregroundDeletion"};
  EXPECT_THAT(Deeds(CollectGarbage({owner, {Owned("child", {"owner"})}, gone})),
              ElementsAre("delete child"));
  OwnedSeen dying = Owned("child", {"owner"});
  dying.being_deleted = true;
  EXPECT_THAT(Deeds(CollectGarbage({owner, {dying}, gone})), IsEmpty());
  const Plan last = CollectGarbage({owner, {}, gone});
  EXPECT_THAT(Deeds(last), ElementsAre("patch owner"));
  EXPECT_EQ(BodyOf(last, 0)["metadata"]["finalizers"], json::array({"other"}));
}

TEST(CollectGarbage, WhatAnotherOwnsTooOnlyLosesTheOwnerThatGoes) {
  const auto gone = [](const OwnerSeen&, const std::string&) { return false; };
  OwnedSeen owner = Owned("owner", {});
  owner.being_deleted = true;
  owner.finalizers = {"foregroundDeletion"};
  const Plan plan = CollectGarbage({owner, {Owned("child", {"owner", "second"})}, gone});
  EXPECT_THAT(Deeds(plan), ElementsAre("patch child"));
  EXPECT_THAT(BodyOf(plan, 0)["metadata"]["ownerReferences"], SizeIs(1));
}

TEST(OwnerGraph, AnOwnerThatWasLeftIsLookedAt) {
  OwnerGraph graph;
  const auto change = [&graph](kube::Delta::Type type, const json& owners) {
    const json object = {{"metadata",
                          {{"name", "child"},
                           {"namespace", "default"},
                           {"uid", "u-child"},
                           {"ownerReferences", owners}}}};
    Cache::Change seen;
    seen.type = type;
    seen.resource = &kube::kPods;
    seen.key = {"default", "child"};
    seen.uid = "u-child";
    seen.seen = Seen(object);
    return graph.Take(seen);
  };
  change(kube::Delta::Type::kAdded,
         json::array({{{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", "o"}, {"uid", "u-o"}}}));
  EXPECT_THAT(change(kube::Delta::Type::kModified, json::array()), ElementsAre("u-child", "u-o"));
}

TEST(CollectGarbage, OrphansLoseTheirOwnerFirst) {
  const auto gone = [](const OwnerSeen&, const std::string&) { return false; };
  OwnedSeen owner = Owned("owner", {});
  owner.being_deleted = true;
  owner.finalizers = {"orphan"};
  const Plan plan = CollectGarbage({owner, {Owned("child", {"owner", "second"})}, gone});
  EXPECT_THAT(Deeds(plan), ElementsAre("patch child", "patch owner"));
  EXPECT_THAT(BodyOf(plan, 0)["metadata"]["ownerReferences"], SizeIs(1));
}

discovery::SourceConfig LabelSource() {
  discovery::SourceConfig source;
  source.source = "label";
  source.enabled = true;
  source.interval = std::chrono::hours(1);
  source.timeout = std::chrono::seconds(1);
  source.config = discovery::LabelConfig{.types = {{.name = "net", .keys = {"rack"}}}};
  return source;
}

TEST(PlanDiscovery, CreatesChangesAndDeletesWhatTheSourceMadeAndNothingElse) {
  DiscoveryView view{.sources = {LabelSource()},
                     .nodes = {NodeObject("a1"), NodeObject("b1")},
                     .hypernodes = {Seen(HyperNodeObject("mine", 1, "Node", {"a1"}))},
                     .secrets = {}};
  const DiscoveryOutcome first = PlanDiscovery(view, LabelSource(), {}, discovery::Shrink::kRefuse);
  EXPECT_EQ(first.error, "");
  ASSERT_THAT(Deeds(first.plan), SizeIs(2));
  for (const Write& write : first.plan.steps[0]) {
    EXPECT_EQ(write.verb, Write::Verb::kCreate);
    view.hypernodes.push_back(Seen(ParseJsonOrNull(write.body)));
  }
  EXPECT_THAT(Deeds(PlanDiscovery(view, LabelSource(), {}, discovery::Shrink::kRefuse).plan),
              IsEmpty());

  // Half of the nodes vanish: not believed, until it is said often enough.
  view.nodes.pop_back();
  const DiscoveryOutcome shrunken =
      PlanDiscovery(view, LabelSource(), {}, discovery::Shrink::kRefuse);
  EXPECT_TRUE(shrunken.shrunken);
  EXPECT_THAT(Deeds(shrunken.plan), IsEmpty());
  const DiscoveryOutcome believed =
      PlanDiscovery(view, LabelSource(), {}, discovery::Shrink::kAccept);
  EXPECT_EQ(believed.error, "");
  ASSERT_THAT(Deeds(believed.plan), SizeIs(1));
  EXPECT_THAT(Deeds(believed.plan)[0], HasSubstr("delete hypernode-net"));
}

kube::Delta DeltaOf(kube::Delta::Type type, const json& object) {
  kube::Delta delta;
  delta.type = type;
  delta.key = {TextAt(object, {"metadata", "namespace"}), TextAt(object, {"metadata", "name"})};
  delta.uid = TextAt(object, {"metadata", "uid"});
  delta.version = TextAt(object, {"metadata", "resourceVersion"});
  delta.text = DumpJson(object);
  return delta;
}

TEST(Cache, ForgetsTheSpecOfPodsThatHaveTheirGroupAndKnowsWhoseTheyAre) {
  Cache::Watched pods;
  pods.spec.resource = kube::kPods;
  pods.keep = Cache::Keep::kPod;
  Cache cache({pods});
  json pod = PodObject({{"metadata", {{"resourceVersion", "7"}}}});
  static_cast<void>(cache.Take(DeltaOf(kube::Delta::Type::kAdded, pod)));
  EXPECT_NE(cache.Find(kube::kPods, {"default", "p"}), nullptr);
  pod["metadata"]["annotations"] = {{"scheduling.k8s.io/group-name", "g"}};
  pod["metadata"]["ownerReferences"] = {{{"uid", "u-j"}, {"controller", true}}};
  pod["metadata"]["resourceVersion"] = "9";
  static_cast<void>(cache.Take(DeltaOf(kube::Delta::Type::kModified, pod)));
  EXPECT_EQ(cache.Find(kube::kPods, {"default", "p"}), nullptr);
  EXPECT_THAT(cache.PodsOf("u-j"), SizeIs(1));
  EXPECT_TRUE(cache.HasSeen({kube::kPods, {"default", "p"}, "u-p", 9}));
  EXPECT_FALSE(cache.HasSeen({kube::kPods, {"default", "p"}, "u-p", 10}));
  static_cast<void>(cache.Take(DeltaOf(kube::Delta::Type::kDeleted, pod)));
  EXPECT_THAT(cache.PodsOf("u-j"), IsEmpty());
}

TEST(JobDesk, NothingIsLeftOfAJobThatGoesWhileItsPlanIsCarriedOut) {
  class NoClock final : public Clock {
    [[nodiscard]] Time Now() const override { return Time{}; }
  };
  std::vector<Cache::Watched> watches(1);
  watches[0].spec.resource = kube::kJobs;
  Cache cache(std::move(watches));
  const NoClock clock;
  JobDesk desk(
      cache, clock, [] { return SshKeys{}; }, "volcano");
  const json container = {{"name", "c"}, {"image", "i"}};
  const json spec = {{"containers", json::array({container})}};
  const json task = {{"name", "w"}, {"replicas", 1}, {"template", {{"spec", spec}}}};
  const json job = {{"apiVersion", "batch.volcano.sh/v1alpha1"},
                    {"kind", "Job"},
                    {"metadata", {{"name", "train"}, {"namespace", "ml"}, {"uid", "u"}}},
                    {"spec", {{"tasks", json::array({task})}}}};
  static_cast<void>(cache.Take(DeltaOf(kube::Delta::Type::kAdded, job)));
  const Controller::Work stays = desk.Decide("ml/train");
  EXPECT_FALSE(stays.plan.steps.empty());
  stays.done();
  EXPECT_EQ(desk.remembered(), 1U);
  const Controller::Work goes = desk.Decide("ml/train");
  static_cast<void>(cache.Take(DeltaOf(kube::Delta::Type::kDeleted, job)));
  desk.Forget("u");
  goes.done();
  EXPECT_EQ(desk.remembered(), 0U);
}

TEST(Cache, ANodeThatGoesInTheForegroundIsLetGo) {
  std::vector<Cache::Watched> watches(1);
  watches[0].spec.resource = kube::kNodes;
  watches[0].keep = Cache::Keep::kNode;
  Cache cache(std::move(watches));
  OwnerGraph graph;
  const json node = {{"metadata",
                      {{"name", "n"},
                       {"uid", "u"},
                       {"resourceVersion", "7"},
                       {"deletionTimestamp", "2026-11-16T00:00:00Z"},
                       {"finalizers", {"foregroundDeletion", "mine"}}}}};
  const auto look_at = graph.Take(cache.Take(DeltaOf(kube::Delta::Type::kModified, node)));
  EXPECT_THAT(look_at, ElementsAre("u"));
  const auto gone = [](const OwnerSeen&, const std::string&) { return false; };
  const Plan plan = CollectGarbage({graph.Find("u").value(), {}, gone});
  EXPECT_THAT(Deeds(plan), ElementsAre("patch n"));
  EXPECT_EQ(BodyOf(plan, 0)["metadata"]["finalizers"], json::array({"mine"}));
  EXPECT_EQ(BodyOf(plan, 0)["metadata"]["resourceVersion"], "7");
}

TEST(Cache, TakesWhatIsNoObject) {
  Cache::Watched jobs;
  jobs.spec.resource = kube::kJobs;
  Cache cache({jobs});
  kube::Delta delta;
  delta.type = kube::Delta::Type::kAdded;
  for (const char* text : {"", "[]", "7", "{\"metadata\":7}", "{\"metadata\":{\"name\":[]}}"}) {
    delta.text = text;
    static_cast<void>(cache.Take(delta));
  }
  EXPECT_THAT(cache.All(kube::kJobs), SizeIs(1));
}

}  // namespace
}  // namespace strata::controllers
