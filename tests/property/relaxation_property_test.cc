// Random small clusters with a gang that waits: every change that explain prints, made by hand in
// the objects as they were read, lets the gang start, and without it the gang waits.
#include <algorithm>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "explain/explain.h"
#include "objects/test_support.h"
#include "sched/scheduler.h"
#include "tests/support/property.h"

namespace strata::testing {
namespace {

struct NodeGene {
  int cpu = 0, trouble = 0, zone = 0, busy = 0;
};
struct Scene {
  std::vector<NodeGene> nodes;
  int pods = 0, cpu = 0, tier = 0, zone = 0, queue = 0, parts = 0, rival = 0, gated = 0, quota = 0;
  int urgent = 0;  // 1: the pods in its way are of its queue, and less important
};

void showValue(const Scene& scene, std::ostream& os) {  // NOLINT(readability-identifier-naming)
  os << "gang of " << scene.pods << " x " << scene.cpu << " cpu, tier " << scene.tier << ", zone "
     << scene.zone << ", queue " << scene.queue << ", parts " << scene.parts << ", rival "
     << scene.rival << ", gated " << scene.gated << ", quota " << scene.quota << ", urgent "
     << scene.urgent << "; nodes (cpu trouble zone busy):";
  for (const NodeGene& node : scene.nodes) {
    os << " (" << node.cpu << ' ' << node.trouble << ' ' << node.zone << ' ' << node.busy << ')';
  }
}

rc::Gen<Scene> AnyScene() {
  const auto upto = [](int max) { return Below(max + 1); };
  const auto node = rc::gen::build<NodeGene>(rc::gen::set(&NodeGene::cpu, upto(4)),
                                             rc::gen::set(&NodeGene::trouble, upto(7)),
                                             rc::gen::set(&NodeGene::zone, upto(3)),
                                             rc::gen::set(&NodeGene::busy, upto(4)));
  return rc::gen::build<Scene>(
      rc::gen::set(&Scene::nodes, rc::gen::container<std::vector<NodeGene>>(8, node)),
      rc::gen::set(&Scene::pods, upto(5)),
      rc::gen::set(&Scene::cpu, upto(2)),
      rc::gen::set(&Scene::tier, upto(4)),
      rc::gen::set(&Scene::zone, upto(4)),
      rc::gen::set(&Scene::queue, upto(6)),
      rc::gen::set(&Scene::parts, upto(3)),
      rc::gen::set(&Scene::rival, upto(3)),
      rc::gen::set(&Scene::gated, upto(12)),
      rc::gen::set(&Scene::quota, upto(4)),
      rc::gen::set(&Scene::urgent, upto(2)));
}

std::string NodeText(int index, const NodeGene& gene) {
  std::string spec;
  std::string conditions;
  if (gene.trouble == 1) spec = "unschedulable: true";
  if (gene.trouble == 2) spec = "taints: [{key: team, value: red, effect: NoSchedule}]";
  if (gene.trouble == 3) conditions = ", conditions: [{type: Ready, status: \"False\"}]";
  const std::string name = "n" + std::to_string(index);
  std::string text = "apiVersion: v1\nkind: Node\nmetadata: {name: " + name + ", labels: {rack: r" +
                     std::to_string(index / 2) + ", zone: z" + std::to_string(gene.zone / 2) +
                     "}}\nspec: {" + spec +
                     "}\nstatus: {allocatable: {cpu: " + std::to_string(gene.cpu + 1) +
                     ", pods: 10}" + conditions + "}\n---\n";
  if (gene.busy == 1 || gene.busy == 2) {
    text += "apiVersion: v1\nkind: Pod\nmetadata: {name: busy-" + std::to_string(index) +
            ", namespace: other, annotations: {scheduling.k8s.io/group-name: busy}}\nspec: {"
            "schedulerName: volcano, nodeName: " +
            name +
            ", containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}\nstatus: "
            "{phase: Running}\n---\n";
  }
  return text;
}

std::string TreeText() {
  const std::string head =
      "apiVersion: topology.volcano.sh/v1alpha1\nkind: HyperNode\nmetadata: {name: ";
  std::string text;
  for (int i = 0; i < 4; ++i) {
    const std::string name = "r" + std::to_string(i);
    text += head + name +
            "}\nspec: {tier: 1, members: [{type: Node, selector: {labelMatch: "
            "{matchLabels: {rack: " +
            name + "}}}}]}\n---\n";
  }
  for (int i = 0; i < 2; ++i) {
    const auto child = [&](int rack) {
      return "{type: HyperNode, selector: {exactMatch: {name: r" + std::to_string(rack) + "}}}";
    };
    text += head + "s" + std::to_string(i) + "}\nspec: {tier: 2, members: [" + child(2 * i) + ", " +
            child(2 * i + 1) + "]}\n---\n";
  }
  return text;
}

std::string JobText(const Scene& scene) {
  const bool parted = scene.parts == 3;
  const int pods = parted ? 2 * (scene.pods + 1) : scene.pods + 1;
  std::string topology;
  if (scene.tier > 0 && scene.tier < 3) {
    topology =
        "  networkTopology: {mode: hard, highestTierAllowed: " + std::to_string(scene.tier) + "}\n";
  }
  const std::string partition =
      parted ? "partitionPolicy: {totalPartitions: " + std::to_string(scene.pods + 1) +
                   ", partitionSize: 2, minPartitions: " + std::to_string(scene.pods + 1) +
                   ", networkTopology: {mode: hard, highestTierAllowed: 1}}, "
             : "";
  const std::string selector = scene.zone == 1 ? "nodeSelector: {zone: z0}, " : "";
  const std::string gates = scene.gated == 12 ? "schedulingGates: [{name: a/b}], " : "";
  return "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: gang, namespace: "
         "default}\nspec:\n  minAvailable: " +
         std::to_string(pods) + "\n  queue: mine\n" +
         (scene.urgent == 1 ? "  priorityClassName: urgent\n" : "") + topology +
         "  tasks: [{name: w, replicas: " + std::to_string(pods) + ", " + partition +
         "template: {spec: {" + selector + gates +
         "restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: " +
         std::to_string(scene.cpu + 1) + "}}}]}}}]\n---\n";
}

std::string Manifests(const Scene& scene) {
  std::string text = TreeText();
  for (std::size_t i = 0; i < scene.nodes.size(); ++i) {
    text += NodeText(static_cast<int>(i), scene.nodes[i]);
  }
  text +=
      "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: busy, "
      "namespace: other}\nspec: {minMember: 1" +
      std::string(scene.urgent == 1 ? ", queue: mine" : "") +
      "}\nstatus: {phase: Running}\n---\n"
      "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: urgent}\n"
      "value: 100\n---\n";
  text +=
      "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: mine}\nspec: {" +
      std::string(scene.queue == 1 ? "capability: {cpu: 3}" : "weight: 1") +
      "}\nstatus: {state: " + (scene.queue == 2 ? "Closed" : "Open") + "}\n---\n";
  if (scene.quota == 1) {
    text +=
        "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: cores, namespace: default}\nspec: "
        "{hard: {requests.cpu: 3}}\nstatus: {used: {requests.cpu: 1}}\n---\n";
  }
  if (scene.rival == 1) {
    std::string rival = JobText({.nodes = {}, .pods = 2, .cpu = 0});
    rival.replace(rival.find("name: gang"), 10, "name: also");
    text += rival;
  }
  return text + JobText(scene);
}

constexpr const char* kJob = "default/gang-gang";

SchedulerConfig WithQuotas() {
  SchedulerConfig config = DefaultSchedulerConfig();
  config.tiers[1].push_back({.name = "resourcequota", .switches = {}, .arguments = {}});
  return config;
}

bool Starts(const objects::ObjectSet& objects, const SchedulerConfig& config) {
  auto cluster = BuildCluster(objects);
  RC_ASSERT(cluster.has_value());
  const auto result = RunCycles(*cluster, config, {});
  RC_ASSERT(result.has_value());
  const auto& job = result->jobs.at(kJob);
  return job.reason.empty() ||
         std::any_of(result->binds.begin(), result->binds.end(), [](const auto& bind) {
           return bind.first.starts_with("default/gang-");
         });
}

// "enqueue, allocate".
std::vector<ActionConfig> ReadActions(const std::string& text) {
  std::vector<ActionConfig> actions;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(", ", begin), text.size());
    actions.push_back({text.substr(begin, end - begin), {}});
    begin = end + 2;
  }
  return actions;
}

// By what is printed alone, on the objects as they were read: the Job, not its PodGroup.
void Apply(const Relaxation& change, objects::ObjectSet& objects, SchedulerConfig& config) {
  using Kind = Relaxation::Kind;
  objects::Job& job = *std::find_if(objects.jobs.begin(), objects.jobs.end(), [](const auto& one) {
    return one.meta.name == "gang";
  });
  objects::PodSpec& pod = job.tasks[0].pod_template.spec;
  objects::Queue& queue = objects.queues.front();
  const auto for_nodes = [&](const auto& edit) {
    for (objects::Node& node : objects.nodes) {
      if (std::count(change.nodes.begin(), change.nodes.end(), node.meta.name) > 0) edit(node);
    }
  };
  const auto set_topology = [&](std::optional<objects::NetworkTopology>& topology) {
    if (change.to == "soft") {
      topology = objects::NetworkTopology{.mode = objects::TopologyMode::kSoft};
    } else {
      topology->highest_tier_allowed = std::stoi(change.to);
    }
  };
  const bool of_partition = change.field.find("partitionPolicy") != std::string::npos;
  switch (change.kind) {
    case Kind::kUngate:
      pod.scheduling_gates.clear();
      break;
    case Kind::kOpenQueue:
      queue.state = objects::QueueState::kOpen;
      break;
    case Kind::kUncordon:
      for_nodes([](objects::Node& node) { node.unschedulable = false; });
      break;
    case Kind::kReady:
      for_nodes([](objects::Node& node) { node.conditions.clear(); });
      break;
    case Kind::kTolerate:
      RC_ASSERT(change.to == "team=red:NoSchedule");
      pod.tolerations.push_back({"team", Toleration::Op::kEqual, "red", TaintEffect::kNoSchedule});
      break;
    case Kind::kDropTerm:
      RC_ASSERT(change.from == "zone=z0");
      pod.node_selector.clear();
      break;
    case Kind::kQueueLimit:
      if (change.field == "spec.weight") {
        queue.weight = std::stoi(change.to);
      } else {
        RC_ASSERT(change.field == "spec.capability.cpu");
        queue.capability["cpu"] = Quantity::Parse(change.to).value();
      }
      break;
    case Kind::kQuotaLimit:
      RC_ASSERT(change.field == "spec.hard.requests.cpu");
      objects.quotas.front().hard["requests.cpu"] = Quantity::Parse(change.to).value();
      break;
    case Kind::kHigherTier:
      set_topology(of_partition ? job.tasks[0].partition->topology : job.topology);
      break;
    case Kind::kFewerPods:
      if (of_partition) {
        job.tasks[0].partition->min_partitions = std::stoi(change.to);
        job.min_available = job.tasks[0].min_available =
            job.tasks[0].partition->partition_size * std::stoi(change.to);
      } else {
        job.min_available = std::stoi(change.to);
      }
      break;
    case Kind::kEvict:
      RC_ASSERT(change.object == "scheduler configuration");
      config.actions = ReadActions(change.to);
      break;
    case Kind::kJobGone:
      if (change.object == "PodGroup default/also-also") {
        std::erase_if(objects.jobs,
                      [](const objects::Job& one) { return one.meta.name == "also"; });
      } else {
        RC_ASSERT(change.object == "PodGroup other/busy");
        std::erase_if(objects.pods, [](const objects::Pod& one) { return one.meta.ns == "other"; });
      }
      break;
  }
}

TEST(RelaxationProperty, WhatIsPrintedIsTrue) {
  std::set<std::string> seen;
  CheckProperty(200, [&seen] {
    const Scene scene = *AnyScene().as("scene");
    const objects::ObjectSet objects = objects::MustLoad(Manifests(scene));
    RC_PRE(!Starts(objects, WithQuotas()));
    const CompletedObjects completed = CompleteObjects(objects).value();
    const SchedulerConfig config = WithQuotas();
    const auto story = ExplainJob({.objects = &completed,
                                   .config = &config,
                                   .options = {},
                                   .job = kJob,
                                   .progress = nullptr});
    RC_ASSERT(story.has_value());
    RC_ASSERT(story->relaxations.has_value());
    for (const Relaxation& relaxation : story->relaxations->found) {
      RC_LOG() << relaxation.text << '\n';
      seen.emplace(ToString(relaxation.kind));
      objects::ObjectSet changed = objects;
      SchedulerConfig changed_config = config;
      Apply(relaxation, changed, changed_config);
      RC_ASSERT(Starts(changed, changed_config));
    }
  });
  EXPECT_THAT(seen,
              ::testing::ElementsAre("dropTerm",
                                     "evict",
                                     "fewerPods",
                                     "higherTier",
                                     "jobGone",
                                     "nodeReady",
                                     "openQueue",
                                     "queueLimit",
                                     "quotaLimit",
                                     "removeGates",
                                     "tolerate",
                                     "uncordon"))
      << "a kind that never came up was never checked";
}

// The pods that the scheduler of a running cluster evicts first for the gang.
std::set<std::string> EvictedByScheduler(const objects::ObjectSet& objects,
                                         const SchedulerConfig& config) {
  LoadedCluster cluster = BuildCluster(objects).value();
  WorkloadTable& workload = cluster.state->workload();
  const Scheduler::Made made = Scheduler::Make(config, *cluster.state).value();
  made.scheduler->LimitWork(400'000);
  std::set<std::string> evicted;
  for (int i = 0; i < 10 && evicted.empty(); ++i) {
    made.scheduler->Open(cluster.latest, nullptr);
    made.scheduler->RunActions();
    const CycleResult cycle = made.scheduler->Close();
    for (const CycleResult::Bind& bind : cycle.binds) {
      workload.SetTaskStatus(bind.task, TaskStatus::kRunning);
    }
    for (const CycleResult::EvictionPlan& plan : cycle.evictions) {
      const bool ours = workload.job(plan.claimant).spec.name == kJob;
      for (const auto& victim : plan.victims) {
        for (const TaskId task : victim.tasks) {
          if (ours) evicted.insert(workload.task(task).name);
        }
      }
    }
  }
  return evicted;
}

TEST(ExplainProperty, WhoIsNamedIsWhoIsEvicted) {
  std::size_t plans = 0;
  CheckProperty(1'000, [&plans] {
    Scene scene = *AnyScene().as("scene");
    scene.urgent = 1;  // and nothing but the pods of others is in its way
    scene.queue = scene.quota = scene.zone = scene.gated = 0;
    for (NodeGene& node : scene.nodes) {
      node.trouble = 0;
      if (node.busy > 0) node.busy = 1;
    }
    const objects::ObjectSet objects = objects::MustLoad(Manifests(scene));
    SchedulerConfig config = WithQuotas();
    config.actions.push_back({"gangpreempt", {}});
    config.actions.push_back({"gangreclaim", {}});
    LoadedCluster cluster = BuildCluster(objects).value();
    const auto result = RunCycles(cluster, config, {});
    RC_ASSERT(result.has_value());
    const Explanation story = TellStory(*result, TraceLog(), kJob);
    std::set<std::string> named;
    if (!story.evictions.empty()) {
      ++plans;
      for (const auto& victim : story.evictions.front().evictions.victims) {
        named.insert(victim.pods.begin(), victim.pods.end());
      }
    }
    RC_ASSERT(named == EvictedByScheduler(objects, config));
  });
  EXPECT_GT(plans, 50U) << "too few clusters in which somebody would be evicted";
}

}  // namespace
}  // namespace strata::testing
