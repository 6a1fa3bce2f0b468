// Random clusters with a gang that waits: every step of a plan, carried out on the objects in a
// simulation of its own, finds its place beside the nodes that are kept free, and then the gang
// starts.
#include <algorithm>
#include <array>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "defrag/test_cluster.h"
#include "tests/support/property.h"
#include "whatif/changes.h"
#include "whatif/what_if.h"

namespace strata::testing {
namespace {

constexpr int kNodes = 8;
constexpr int kRoom = 2;  // CPUs of a node

struct RunningGene {
  int pods = 0, first = 0, stride = 0;
  int spare = 0;  // pods beyond the minimum
  int soft = 0;   // 1: the job has a soft topology
  int stays = 0;  // 1: it may not be evicted
};
struct Crowded {
  std::vector<RunningGene> running;
  int pods = 0;  // of the gang that waits
  int tier = 0;
};

// From half of what a HyperNode of its tier holds.
int PodsOfGang(const Crowded& scene) {
  return 2 * (scene.tier + 1) + scene.pods;
}

// NOLINTNEXTLINE(readability-identifier-naming)
void showValue(const Crowded& scene, std::ostream& os) {
  os << "gang of " << PodsOfGang(scene) << ", tier " << scene.tier + 1
     << "; running (pods first stride spare soft stays):";
  for (const RunningGene& job : scene.running) {
    os << " (" << job.pods << ' ' << job.first << ' ' << job.stride << ' ' << job.spare << ' '
       << job.soft << ' ' << job.stays << ')';
  }
}

rc::Gen<Crowded> AnyCrowd() {
  const auto job = rc::gen::build<RunningGene>(rc::gen::set(&RunningGene::pods, Below(3)),
                                               rc::gen::set(&RunningGene::first, Below(kNodes)),
                                               rc::gen::set(&RunningGene::stride, Below(4)),
                                               rc::gen::set(&RunningGene::spare, Below(2)),
                                               rc::gen::set(&RunningGene::soft, Below(2)),
                                               rc::gen::set(&RunningGene::stays, Below(6)));
  return rc::gen::build<Crowded>(
      rc::gen::set(&Crowded::running, rc::gen::container<std::vector<RunningGene>>(6, job)),
      rc::gen::set(&Crowded::pods, Below(3)),
      rc::gen::set(&Crowded::tier, Below(2)));
}

// Every pod asks for one CPU and is on the next node that has one.
CompletedObjects Make(const Crowded& scene) {
  std::array<int, kNodes> used{};
  std::vector<JobText> jobs;
  for (const RunningGene& gene : scene.running) {
    JobText job{.name = "j" + std::to_string(jobs.size()), .nodes = {}};
    for (int i = 0; i <= gene.pods; ++i) {
      for (int tried = 0; tried < kNodes; ++tried) {
        const int node = (gene.first + i * gene.stride + tried) % kNodes;
        int& taken = used[static_cast<std::size_t>(node)];
        if (taken == kRoom) continue;
        ++taken;
        job.nodes.push_back("node" + std::to_string(node));
        break;
      }
    }
    if (job.nodes.empty()) continue;
    job.min = std::max(1, static_cast<int>(job.nodes.size()) - gene.spare);
    if (gene.soft == 1) job.topology = "mode: soft";
    if (gene.stays == 1) job.pod_meta = "labels: {volcano.sh/preemptable: \"false\"}";
    jobs.push_back(std::move(job));
  }
  jobs.push_back({.name = "big",
                  .nodes = std::vector<std::string>(static_cast<std::size_t>(PodsOfGang(scene))),
                  .topology = "mode: hard, highestTierAllowed: " + std::to_string(scene.tier + 1)});
  return ClusterWith(jobs);
}

objects::Pod& PodOf(objects::ObjectSet& objects, const std::string& name) {
  const auto it = std::find_if(objects.pods.begin(), objects.pods.end(), [&](const auto& pod) {
    return objects::NamespacedName(pod.meta) == name;
  });
  RC_ASSERT(it != objects.pods.end());
  return *it;
}

// What the scheduler binds as things are, which then runs.
std::map<std::string, std::string> Play(CompletedObjects& objects) {
  const auto outcome = WhatIf(
      objects, [](objects::ObjectSet&) {}, DefaultSchedulerConfig(), RunOptions{});
  RC_ASSERT(outcome.has_value());
  for (const auto& [pod, node] : outcome->result.binds) {
    PodOf(objects.objects, pod).spec.node_name = node;
    PodOf(objects.objects, pod).status.phase = objects::PodPhase::kRunning;
  }
  return outcome->result.binds;
}

void SetCordoned(const std::vector<std::string>& nodes, bool cordoned, CompletedObjects& objects) {
  for (objects::Node& node : objects.objects.nodes) {
    if (std::count(nodes.begin(), nodes.end(), node.meta.name) > 0) node.unschedulable = cordoned;
  }
}

int BoundOf(const std::string& job, const std::map<std::string, std::string>& binds) {
  return static_cast<int>(std::count_if(binds.begin(), binds.end(), [&](const auto& bind) {
    return bind.first.starts_with("default/" + job + "-");
  }));
}

void TakeStep(const DefragPlan& plan, const DefragPlan::Move& move, CompletedObjects& objects) {
  for (const DefragPlan::PodMove& pod : move.pods) {
    RC_ASSERT(PodOf(objects.objects, pod.pod).spec.node_name == pod.from);
    PodOf(objects.objects, pod.pod).spec.node_name.clear();
    PodOf(objects.objects, pod.pod).status.phase = objects::PodPhase::kPending;
  }
  const auto binds = Play(objects);
  for (const DefragPlan::PodMove& pod : move.pods) {
    RC_ASSERT(binds.contains(pod.pod));
    RC_ASSERT(std::count(plan.nodes.begin(), plan.nodes.end(), binds.at(pod.pod)) == 0);
  }
}

TEST(DefragProperty, EveryStepFindsItsPlaceAndThenTheGangStarts) {
  int moved = 0;
  CheckProperty(1000, [&] {
    const Crowded scene = *AnyCrowd();
    CompletedObjects objects = Make(scene);
    const DefragPlan plan = MustPlan(objects, RoomForJob{"default/big"});
    int started = BoundOf("big", Play(objects));
    RC_ASSERT((started > 0) == (plan.possible && plan.moves.empty()));
    if (!plan.possible || plan.moves.empty()) return;
    ++moved;
    SetCordoned(plan.nodes, true, objects);
    for (const DefragPlan::Move& move : plan.moves) TakeStep(plan, move, objects);
    SetCordoned(plan.nodes, false, objects);
    static_cast<void>(Play(objects));
    for (const objects::Pod& pod : objects.objects.pods) RC_ASSERT(!pod.spec.node_name.empty());
  });
  EXPECT_GT(moved, 100);
}

TEST(DefragProperty, FreedHyperNodesAreEmptyOnceEveryStepIsDone) {
  int moved = 0;
  CheckProperty(500, [&] {
    const Crowded scene = *AnyCrowd();
    CompletedObjects objects = Make(scene);
    RemoveGroup(objects.objects, "default/big");
    const FreeHyperNodes wanted{.tier = 1 + scene.tier % 2, .count = 1 + scene.pods % 2};
    const DefragPlan plan = MustPlan(objects, wanted);
    if (!plan.possible) return;
    moved += plan.moves.empty() ? 0 : 1;
    SetCordoned(plan.nodes, true, objects);
    for (const DefragPlan::Move& move : plan.moves) TakeStep(plan, move, objects);
    std::set<std::string> used;
    for (const objects::Pod& pod : objects.objects.pods) used.insert(pod.spec.node_name);
    RC_ASSERT(plan.target.size() == static_cast<std::size_t>(wanted.count));
    for (const DefragPlan::Place& place : plan.target) {
      const int number = place.hypernode.back() - '0';  // s0..s3 have two nodes, s4 and s5 four
      const int nodes = number < 4 ? 2 : 4;
      const int first = number < 4 ? 2 * number : 4 * (number - 4);
      for (int i = first; i < first + nodes; ++i) {
        RC_ASSERT(!used.contains("node" + std::to_string(i)));
      }
    }
  });
  EXPECT_GT(moved, 20);
}

}  // namespace
}  // namespace strata::testing
