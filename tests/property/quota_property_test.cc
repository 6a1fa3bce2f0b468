// Random trees of queues with random jobs, under capacity with enableHierarchy: nobody gets more
// than it may have, what is guaranteed is there for whom it is guaranteed to, and what the plugin
// says of a queue is what its formulas say.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/check.h"
#include "model/cluster_state.h"
#include "sched/plugins/capacity_tree.h"
#include "tests/property/quota_oracle.h"
#include "tests/support/cycle.h"
#include "tests/support/property.h"

namespace strata::testing {
namespace {

constexpr int kCycles = 4;
constexpr double kUnit = 1;      // a milli-CPU, a thousandth: what comparisons allow
constexpr double kClose = 1e-6;  // of an amount in whole units, or of a share

// Amounts of cpu and of GPUs, 0 for none.
struct Pair {
  int cpu = 0, gpu = 0;
};
struct QueueGene {
  int parent = 0;  // 0 the root, else the (n-1)th of those before it
  Pair guarantee, deserved, capability;
  int priority = 0;
  bool reclaimable = false;
};
struct JobGene {
  int queue = 0, tasks = 0, slack = 0;
  Pair request;
  int comes = 0, goes = 0;  // before which cycle; one that does not go before the last stays
  bool min_resources = false;
};
struct Scene {
  Pair spare;  // the cluster has this beyond all guarantees
  std::vector<QueueGene> queues;
  std::vector<JobGene> jobs;
};

std::ostream& operator<<(std::ostream& os, const Pair& pair) {
  return os << pair.cpu << '/' << pair.gpu;
}

void showValue(const Scene& scene, std::ostream& os) {  // NOLINT(readability-identifier-naming)
  os << "spare " << scene.spare << "\nqueues (parent guarantee deserved capability priority):";
  for (const QueueGene& queue : scene.queues) {
    os << "\n  " << queue.parent << ' ' << queue.guarantee << ' ' << queue.deserved << ' '
       << queue.capability << ' ' << queue.priority;
  }
  os << "\njobs (queue tasks slack request comes goes minResources):";
  for (const JobGene& job : scene.jobs) {
    os << "\n  " << job.queue << ' ' << job.tasks << ' ' << job.slack << ' ' << job.request << ' '
       << job.comes << ' ' << job.goes << ' ' << job.min_resources;
  }
}

rc::Gen<Pair> AnyPair(int end) {
  return rc::gen::build<Pair>(rc::gen::set(&Pair::cpu, Below(end)),
                              rc::gen::set(&Pair::gpu, Below(end)));
}

rc::Gen<Scene> AnyScene() {
  const auto queue =
      rc::gen::build<QueueGene>(rc::gen::set(&QueueGene::parent, Below(5)),
                                rc::gen::set(&QueueGene::guarantee, AnyPair(4)),
                                rc::gen::set(&QueueGene::deserved, AnyPair(6)),
                                rc::gen::set(&QueueGene::capability, AnyPair(5)),
                                rc::gen::set(&QueueGene::priority, Below(3)),
                                rc::gen::set(&QueueGene::reclaimable, rc::gen::arbitrary<bool>()));
  const auto job =
      rc::gen::build<JobGene>(rc::gen::set(&JobGene::queue, Below(8)),
                              rc::gen::set(&JobGene::tasks, Below(6)),
                              rc::gen::set(&JobGene::slack, Below(4)),
                              rc::gen::set(&JobGene::request, AnyPair(3)),
                              rc::gen::set(&JobGene::comes, Below(kCycles)),
                              rc::gen::set(&JobGene::goes, Below(3 * kCycles)),
                              rc::gen::set(&JobGene::min_resources, rc::gen::arbitrary<bool>()));
  return rc::gen::build<Scene>(
      rc::gen::set(&Scene::spare, AnyPair(8)),
      rc::gen::set(&Scene::queues,
                   rc::gen::resize(9, rc::gen::container<std::vector<QueueGene>>(queue))),
      rc::gen::set(&Scene::jobs,
                   rc::gen::resize(9, rc::gen::container<std::vector<JobGene>>(job))));
}

// The scene as a cluster: one node, so that room is never in pieces.
class Play {
 public:
  explicit Play(const Scene& scene) : scene_(scene), gpu_(state.resource_names().Intern("gpu")) {
    AddQueues();
    NodeSpec node;
    node.name = "node";
    node.allocatable = Amounts(scene.spare, 100'000);
    for (const ResourceId resource : {kCpu, gpu_}) {
      Amount all = node.allocatable.Get(resource);
      for (std::size_t i = 0; i < scene.queues.size(); ++i) {
        if (ParentOf(i) == "root") all += GuaranteeOf(i).Get(resource);
      }
      node.allocatable.Set(resource, all);
    }
    CHECK(state.UpsertNode(std::move(node)).has_value());
  }

  // Jobs that come and go before this cycle.
  void Enter(int cycle) {
    for (std::size_t i = 0; i < scene_.jobs.size(); ++i) {
      if (scene_.jobs[i].comes == cycle) AddJob(i);
      const auto job = state.workload().FindJob(JobName(i));
      if (job && scene_.jobs[i].goes == cycle) state.workload().RemoveJob(*job);
    }
  }

  [[nodiscard]] std::array<ResourceId, 2> resources() const { return {kCpu, gpu_}; }

  ClusterState state;

 private:
  static std::string QueueName(std::size_t index) { return "q" + std::to_string(index); }
  static std::string JobName(std::size_t index) { return "job" + std::to_string(index); }

  [[nodiscard]] Resources Amounts(const Pair& pair, Amount pods = 0) const {
    Resources amounts;
    amounts.Set(kCpu, Amount{pair.cpu} * 1000);
    amounts.Set(gpu_, Amount{pair.gpu} * 1000);
    amounts.Set(kPods, pods);
    return amounts;
  }

  [[nodiscard]] std::string ParentOf(std::size_t index) const {
    const auto parent = static_cast<std::size_t>(scene_.queues[index].parent);
    return parent == 0 || parent > index ? "root" : QueueName(parent - 1);
  }

  // With what the queues below it are guaranteed.
  [[nodiscard]] Resources GuaranteeOf(std::size_t index) const {
    Resources below;
    for (std::size_t i = index + 1; i < scene_.queues.size(); ++i) {
      if (ParentOf(i) == QueueName(index)) below.Add(GuaranteeOf(i));
    }
    Resources max = Amounts(scene_.queues[index].guarantee);
    for (const ResourceId resource : {kCpu, gpu_}) {
      max.Set(resource, std::max(max.Get(resource), below.Get(resource)));
    }
    return max;
  }

  void AddQueues() {
    for (std::size_t i = 0; i < scene_.queues.size(); ++i) {
      const QueueGene& gene = scene_.queues[i];
      QueueSpec spec;
      spec.name = spec.uid = QueueName(i);
      spec.parent = ParentOf(i);
      spec.priority = gene.priority;
      spec.reclaimable = gene.reclaimable;
      spec.guarantee = Amounts(gene.guarantee);
      const Resources deserved = Amounts(gene.deserved);
      const Resources beyond = Amounts(gene.capability);
      for (const ResourceId resource : {kCpu, gpu_}) {
        if (deserved.Get(resource) > 0) spec.deserved[resource] = deserved.Get(resource);
        // A queue may always have what it and those below it are guaranteed.
        if (beyond.Get(resource) == 0) continue;
        spec.capability[resource] = GuaranteeOf(i).Get(resource) + beyond.Get(resource) - 1000;
        if (spec.capability[resource] == 0) spec.capability.erase(resource);
      }
      state.workload().UpsertQueue(std::move(spec));
    }
  }

  void AddJob(std::size_t index) {
    const JobGene& gene = scene_.jobs[index];
    const int tasks = gene.tasks + 1;
    const bool nothing = gene.request.cpu == 0 && gene.request.gpu == 0;
    const Resources request = Amounts(nothing ? Pair{1, 0} : gene.request, 1);
    JobSpec spec;
    spec.name = spec.uid = JobName(index);
    spec.queue = scene_.queues.empty()
                     ? "none"
                     : QueueName(static_cast<std::size_t>(gene.queue) % scene_.queues.size());
    spec.min_available = std::max(tasks - gene.slack, 1);
    if (gene.min_resources) {
      spec.min_resources.emplace();
      for (int i = 0; i < spec.min_available; ++i) spec.min_resources->Add(request);
    }
    const JobId job = state.workload().UpsertJob(std::move(spec));
    for (int i = 0; i < tasks; ++i) {
      TaskSpec task;
      task.name = task.uid = JobName(index) + "-w-" + std::to_string(i);
      task.job = job;
      task.role = "w";
      task.constraints.request = request;
      state.workload().AddTask(std::move(task));
    }
  }

  const Scene& scene_;
  ResourceId gpu_;
};

SchedulerConfig Hierarchical() {
  SchedulerConfig config;
  for (const char* action : {"enqueue", "allocate", "backfill"}) {
    config.actions.push_back({.name = action, .arguments = {}});
  }
  config.tiers.emplace_back();
  for (const char* plugin : {"priority", "gang", "predicates"}) {
    config.tiers.back().push_back({.name = plugin, .switches = {}, .arguments = {}});
  }
  config.tiers.back().push_back(
      {.name = "capacity", .switches = {{"enableHierarchy", true}}, .arguments = {}});
  return config;
}

// No queue and none above it has more than it may have, or has what others are guaranteed.
std::string Excesses(const Play& play) {
  const QuotaOracle oracle(play.state);
  std::string faults;
  std::vector<std::string> queues = oracle.Names();
  queues.emplace_back("root");
  for (const std::string& queue : queues) {
    for (const ResourceId resource : play.resources()) {
      const std::string& name = play.state.resource_names().name(resource);
      const double max = oracle.RealCapability(queue, resource);
      const double held = oracle.Held(queue, resource);
      if (held > max + kUnit) faults += queue + " has more " + name + " than it may have\n";
      if (held + std::max(oracle.Owed(queue, resource), 0.0) > max + kUnit) {
        faults += queue + " has used up " + name + " that is guaranteed to others below it\n";
      }
    }
  }
  return faults;
}

// Whether the job asks for nothing that its queue is not guaranteed and does not have.
bool IsOwed(const Play& play, const QuotaOracle& oracle, const Job& job) {
  const std::int32_t wanted = std::max(job.spec.min_available - job.counts.Ready(), 1);
  const Task& task = play.state.workload().task(job.sub_jobs[0].tasks.front());
  const Resources& request = play.state.classes().spec(task.class_id).request;
  const auto resources = play.resources();
  return std::all_of(resources.begin(), resources.end(), [&](ResourceId resource) {
    const double more = static_cast<double>(request.Get(resource)) * wanted;
    return more == 0 || oracle.Held(job.spec.queue, resource) + more <=
                            oracle.Guarantee(job.spec.queue, resource);
  });
}

// Jobs that wait although what they ask for is guaranteed to their queue.
std::string Starved(const Play& play) {
  const QuotaOracle oracle(play.state);
  std::map<std::string, int> waiting;  // jobs by queue: admitted ones hold promises
  for (const JobId id : play.state.workload().jobs()) {
    const Job& job = play.state.workload().job(id);
    if (job.counts.Of(TaskStatus::kPending) > 0) ++waiting[job.spec.queue];
  }
  std::string faults;
  for (const JobId id : play.state.workload().jobs()) {
    const Job& job = play.state.workload().job(id);
    if (!job.queue.valid() || !oracle.IsLeaf(job.spec.queue)) continue;
    if (job.counts.Of(TaskStatus::kPending) == 0 || waiting[job.spec.queue] > 1) continue;
    if (IsOwed(play, oracle, job)) {
      faults += job.spec.name + " waits for what is guaranteed to it\n";
    }
  }
  return faults;
}

bool AreClose(double a, double b) {
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= kClose * std::max(1.0, std::abs(b));
}

// What the plugin works with, against the oracle; and the rules between parents and children.
std::string Mistakes(const Play& play) {
  const QuotaOracle oracle(play.state);
  const CapacityTree tree(play.state, CapacityTree::Shape::kHierarchical);
  std::string faults;
  const auto expect = [&](bool good, const std::string& sentence) {
    if (!good) faults += sentence + '\n';
  };
  for (std::size_t i = 0; i < tree.queues().size(); ++i) {
    const CapacityQueue& queue = tree.at(i);
    const std::string& name = queue.name;
    expect(AreClose(tree.ShareOf(play.state, i), oracle.Share(name)), name + ": share");
    for (const ResourceId resource : play.resources()) {
      const std::size_t r = resource.index();
      expect(AreClose(queue.guarantee[r], oracle.Guarantee(name, resource)), name + ": guarantee");
      expect(AreClose(queue.deserved[r], oracle.Deserved(name, resource)), name + ": deserved");
      const double real = queue.real_capability[r];
      expect(AreClose(real, oracle.RealCapability(name, resource)), name + ": real capability");
      expect(real + kClose >= queue.guarantee[r], name + ": may not have what it is guaranteed");
      expect(name == "root" ||
                 queue.deserved[r] + kClose >=
                     static_cast<double>(
                         play.state.workload().queue(queue.queue).spec.guarantee.Get(resource)),
             name + ": deserves less than it is guaranteed");
      double below = 0;
      for (const std::size_t child : queue.children) {
        below += tree.at(child).guarantee[r];
        expect(tree.at(child).real_capability[r] <= real + kClose,
               name + ": may have less than a queue below it");
      }
      expect(below <= queue.guarantee[r] + kClose, name + ": is guaranteed less than those below");
    }
  }
  return faults;
}

TEST(QuotaProperty, WhatQueuesMayHaveIsWhatTheFormulasSay) {
  CheckProperty(400, [] {
    const Scene scene = *AnyScene().as("scene");
    Play play(scene);
    Cycles cycles(play.state, Hierarchical());
    for (int cycle = 0; cycle < kCycles; ++cycle) {
      play.Enter(cycle);
      RC_ASSERT(Mistakes(play) == "");
      static_cast<void>(cycles.Run());
      RC_ASSERT(Mistakes(play) == "");
      Advance(play.state);
    }
  });
}

TEST(QuotaProperty, NobodyExceedsItsLimitsAndGuaranteesAreKept) {
  CheckProperty(600, [] {
    const Scene scene = *AnyScene().as("scene");
    Play play(scene);
    Cycles cycles(play.state, Hierarchical());
    for (int cycle = 0; cycle < kCycles; ++cycle) {
      play.Enter(cycle);
      std::string inside;
      for (bool changed = true; changed;) {
        const Decisions decisions = cycles.Run(nullptr, [&] { inside = Excesses(play); });
        RC_LOG() << "cycle " << cycle << ":\n" << decisions;
        RC_ASSERT(inside == "");
        changed = !decisions.binds.empty();
        Advance(play.state);
      }
      RC_ASSERT(Starved(play) == "");
    }
  });
}

}  // namespace
}  // namespace strata::testing
