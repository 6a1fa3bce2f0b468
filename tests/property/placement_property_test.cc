// A gang goes to the lowest tier that holds it, whatever its pods and sub-groups; one of equal pods
// opens no leaf too many, and its ranks follow the tree. All compared with trying everything.
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "sched/gang_search.h"
#include "tests/property/placement_oracle.h"
#include "tests/support/cluster_builder.h"
#include "tests/support/cycle.h"
#include "tests/support/property.h"

namespace strata {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

HyperNodeSpec Domain(const std::string& name, std::int32_t tier) {
  return {.name = name, .tier = tier, .tier_name = "", .members = {}};
}

void AddMember(HyperNodeSpec& spec, HyperNodeMember::Kind kind, const std::string& name) {
  spec.members.emplace_back().kind = kind;
  spec.members.back().selector = HyperNodeMember::Exact{name};
}

std::unique_ptr<ClusterBuilder> Build(const TightCase& gang) {
  auto cluster = std::make_unique<ClusterBuilder>();
  HyperNodeSpec core = Domain("core", 3);
  for (int spine = 0; spine < 2; ++spine) {
    HyperNodeSpec spec = Domain("spine" + std::to_string(spine), 2);
    for (int leaf = 0; leaf < gang.leaves(); ++leaf) {
      if (gang.spine_of_leaf[static_cast<std::size_t>(leaf)] != spine) continue;
      AddMember(spec, HyperNodeMember::Kind::kHyperNode, "leaf" + std::to_string(leaf));
    }
    AddMember(core, HyperNodeMember::Kind::kHyperNode, spec.name);
    cluster->state.UpsertHyperNode(std::move(spec));
  }
  for (int leaf = 0; leaf < gang.leaves(); ++leaf) {
    HyperNodeSpec spec = Domain("leaf" + std::to_string(leaf), 1);
    for (std::size_t i = 0; i < gang.nodes.size(); ++i) {
      if (gang.nodes[i].leaf != leaf) continue;
      AddMember(spec, HyperNodeMember::Kind::kNode, "node" + std::to_string(i));
    }
    cluster->state.UpsertHyperNode(std::move(spec));
  }
  cluster->state.UpsertHyperNode(std::move(core));
  for (std::size_t i = 0; i < gang.nodes.size(); ++i) {
    cluster->Node("node" + std::to_string(i),
                  {.cpu = gang.nodes[i].cpu, .memory = gang.nodes[i].memory});
  }
  JobArgs job{.tasks = 0, .topology = Hard(gang.job_tier)};
  job.min_available = static_cast<std::int32_t>(gang.pods.size());
  if (gang.part_tier > 0) {
    SubGroupPolicy policy;
    policy.name = "part";
    policy.match_label_keys = {"id"};
    policy.size = 1;
    policy.topology = Hard(gang.part_tier);
    job.sub_groups = {policy};
  }
  cluster->Job("gang", job);
  for (const TightPod& pod : gang.pods) {
    TaskArgs args{.cpu = pod.cpu, .memory = pod.memory};
    if (gang.part_tier > 0) args.sub_group = SubGroupKey{0, {std::to_string(pod.part)}};
    cluster->Task("gang", args);
  }
  return cluster;
}

// The node of each pod; empty when the gang waits.
TightPlaces PlacesOf(const TightCase& gang, const Decisions& decisions) {
  TightPlaces places;
  for (std::size_t i = 0; i < gang.pods.size(); ++i) {
    const auto bound = decisions.binds.find("gang-w-" + std::to_string(i));
    if (bound == decisions.binds.end()) return {};
    places.push_back(std::stoi(bound->second.substr(4)));
  }
  return places;
}

TightPlaces Decide(const TightCase& gang) {
  const auto cluster = Build(gang);
  const Decisions decisions = RunCycle(cluster->state);
  RC_ASSERT(decisions.Message("gang").find("second search") == std::string::npos);
  TightPlaces places = PlacesOf(gang, decisions);
  RC_ASSERT(places.empty() == decisions.binds.empty());
  return places;
}

// What became of random gangs that wait, compared with the best place there is.
struct Tally {
  int feasible = 0, missed = 0, higher = 0, more_leaves = 0, cut = 0;

  void Add(const TightCase& gang, const TightBest& best, const Decisions& decisions) {
    const TightPlaces places = PlacesOf(gang, decisions);
    ++feasible;
    if (decisions.Message("gang").find("second search") != std::string::npos) ++cut;
    if (places.empty()) {
      ++missed;
    } else if (TierOf(gang, places) > best.tier) {
      ++higher;
    } else if (best.leaves && LeavesOf(gang, places) > *best.leaves) {
      ++more_leaves;
    }
  }
};

std::ostream& operator<<(std::ostream& os, const Tally& tally) {
  return os << tally.feasible << " have a place, " << tally.missed << " are missed, "
            << tally.higher << " in a higher tier, " << tally.more_leaves
            << " in more leaves than needed, " << tally.cut << " cut";
}

SchedulerConfig Greedy() {
  SchedulerConfig config =
      ConfigWith("network-topology-aware", kSecondMaxSteps, ArgumentValue(std::int64_t{0}));
  for (PluginConfig& plugin : config.tiers[1]) {
    if (plugin.name != "network-topology-aware") continue;
    plugin.arguments.Set(kFewLeaves, false);
    plugin.arguments.Set(kRankOrder, false);
  }
  return config;
}

// As good as what trying everything finds.
TightPlaces CheckTier(const TightCase& gang, const std::optional<TightBest>& best) {
  TightPlaces places = Decide(gang);
  RC_ASSERT(!places.empty() == best.has_value());
  if (places.empty()) return places;
  RC_ASSERT(WhatIsWrong(gang, places) == std::string());
  RC_ASSERT(TierOf(gang, places) == best->tier);
  return places;
}

TEST(PlacementProperty, EqualPodsOpenTheFewestLeavesAndTheirRanksFollowTheTree) {
  CheckProperty(1500, [] {
    const TightCase gang = *AnyTightCase(TightKind::kEqual, 6, 7);
    const auto best = BestPlace(gang);
    const TightPlaces places = CheckTier(gang, best);
    if (places.empty()) return;
    RC_ASSERT(LeavesOf(gang, places) <= best->leaves.value());
    RC_ASSERT(CrossingsOf(gang, places) == FewestCrossings(gang, places));
  });
}

TEST(PlacementProperty, MixedPodsGoToTheLowestTierThatHoldsThem) {
  CheckProperty(1500, [] {
    const TightCase gang = *AnyTightCase(TightKind::kMixed, 6, 7);
    CheckTier(gang, BestPlace(gang));
  });
}

TEST(PlacementProperty, SubGroupsGoToTheLowestTierThatHoldsThem) {
  CheckProperty(1500, [] {
    const TightCase gang = *AnyTightCase(TightKind::kParts, 6, 7);
    CheckTier(gang, BestPlace(gang));
  });
}

// The table of bench/README.md: what the greedy search alone comes to, and the whole search.
TEST(PlacementProperty, TheWholeSearchFindsWhatTheGreedyOneMisses) {
  const int cases = 1500 * PropertyScale();
  for (const auto& [kind, name] : {std::pair(TightKind::kEqual, "equal pods"),
                                   std::pair(TightKind::kMixed, "mixed pods"),
                                   std::pair(TightKind::kParts, "mixed pods in sub-groups")}) {
    Tally greedy;
    Tally whole;
    rc::Random random(PropertySeed());
    const auto any = AnyTightCase(kind, 6, 7);
    for (int i = 0; i < cases; ++i) {
      const TightCase gang = any(random.split(), 100).value();
      const auto best = BestPlace(gang);
      if (!best) continue;
      greedy.Add(gang, *best, RunCycle(Build(gang)->state, Greedy()));
      whole.Add(gang, *best, RunCycle(Build(gang)->state));
    }
    std::cout << cases << " gangs of " << name << "\n  greedy: " << greedy
              << "\n  whole:  " << whole << std::endl;
    EXPECT_GT(greedy.missed + greedy.higher + greedy.more_leaves, 0);
    EXPECT_EQ(whole.missed + whole.higher + whole.cut, 0);
    EXPECT_EQ(whole.more_leaves, 0);
  }
}

}  // namespace
}  // namespace strata
