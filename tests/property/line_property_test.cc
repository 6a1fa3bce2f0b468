// Random clusters that are full and drain: jobs of one size start in the order that was announced
// while they waited, queue by queue, whatever ends first.
#include <algorithm>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "explain/line.h"
#include "objects/test_support.h"
#include "tests/support/property.h"
#include "whatif/changes.h"
#include "whatif/cycle_trace.h"
#include "whatif/what_if.h"

namespace strata::testing {
namespace {

struct WaitingGene {
  int queue = 0, priority = 0, created = 0;
};
struct Queues {
  std::vector<WaitingGene> jobs;
  std::vector<int> weights;
  std::vector<int> ends;  // which of the running jobs ends next, modulo their number
  int pods = 0;
};

// NOLINTNEXTLINE(readability-identifier-naming)
void showValue(const Queues& scene, std::ostream& os) {
  os << "gangs of " << scene.pods + 1 << "; weights:";
  for (const int weight : scene.weights) os << ' ' << weight + 1;
  os << "; jobs (queue priority created):";
  for (const WaitingGene& job : scene.jobs) {
    os << " (" << job.queue << ' ' << job.priority << ' ' << job.created << ')';
  }
  os << "; ends:";
  for (const int end : scene.ends) os << ' ' << end;
}

rc::Gen<Queues> AnyQueues() {
  const auto job = rc::gen::build<WaitingGene>(rc::gen::set(&WaitingGene::queue, Below(3)),
                                               rc::gen::set(&WaitingGene::priority, Below(3)),
                                               rc::gen::set(&WaitingGene::created, Below(4)));
  return rc::gen::build<Queues>(
      rc::gen::set(&Queues::jobs, rc::gen::container<std::vector<WaitingGene>>(9, job)),
      rc::gen::set(&Queues::weights, rc::gen::container<std::vector<int>>(3, Below(4))),
      rc::gen::set(&Queues::ends, rc::gen::container<std::vector<int>>(12, Below(8))),
      rc::gen::set(&Queues::pods, Below(3)));
}

constexpr int kRunningJobs = 3;

// A gang of pods with a CPU each; those of one that runs are on the only node.
std::string GangText(const std::string& name, const WaitingGene& gene, int pods, bool runs) {
  std::string text =
      "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: " + name +
      ", namespace: default, creationTimestamp: 2026-01-01T00:00:0" + std::to_string(gene.created) +
      "Z}\nspec: {minMember: " + std::to_string(pods) + ", queue: q" + std::to_string(gene.queue) +
      ", priorityClassName: p" + std::to_string(gene.priority) +
      ", minResources: {cpu: " + std::to_string(pods) +
      "}}\nstatus: {phase: " + (runs ? "Running" : "Pending") + "}\n---\n";
  for (int i = 0; i < pods; ++i) {
    text += "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + "-" + std::to_string(i) +
            ", namespace: default, annotations: {scheduling.k8s.io/group-name: " + name +
            "}}\nspec: {schedulerName: volcano, " + (runs ? "nodeName: n0, " : "") +
            "containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}" +
            (runs ? "\nstatus: {phase: Running}" : "") + "\n---\n";
  }
  return text;
}

// As much room as three gangs need, which other gangs have.
std::string TextOf(const Queues& scene) {
  const int pods = scene.pods + 1;
  std::string text;
  for (std::size_t i = 0; i < scene.weights.size(); ++i) {
    text += "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: q" +
            std::to_string(i) + "}\nspec: {weight: " + std::to_string(scene.weights[i] + 1) +
            "}\n---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: p" +
            std::to_string(i) + "}\nvalue: " + std::to_string(i) + "\n---\n";
  }
  text += "apiVersion: v1\nkind: Node\nmetadata: {name: n0}\nstatus: {allocatable: {cpu: " +
          std::to_string(kRunningJobs * pods) + ", pods: 100}}\n---\n";
  for (int i = 0; i < kRunningJobs; ++i) {
    text += GangText(
        "run" + std::to_string(i), {.queue = i % 2, .priority = 0, .created = 0}, pods, true);
  }
  for (std::size_t i = 0; i < scene.jobs.size(); ++i) {
    text += GangText("wait" + std::to_string(i), scene.jobs[i], pods, false);
  }
  return text;
}

class StartOrder final : public CycleTrace {
 public:
  void BeginCycle(std::int32_t /*cycle*/) override {}
  void Record(TraceRecord record) override {
    const auto* step = std::get_if<StepRecord>(&record);
    if (step != nullptr && step->kind == StepRecord::Kind::kCommit) jobs.push_back(step->job);
  }
  [[nodiscard]] bool WantsNodes() const override { return false; }
  std::vector<std::string> jobs;
};

// A cluster over time: what a run decides has happened before the next one.
class Draining {
 public:
  explicit Draining(const std::string& manifests)
      : objects_(CompleteObjects(objects::MustLoad(manifests)).value()) {
    for (int i = 0; i < kRunningJobs; ++i) running_.push_back("default/run" + std::to_string(i));
  }

  RunResult Run() {
    StartOrder starts;
    RunOptions options;
    options.trace = &starts;
    LoadedCluster cluster = LoadCompleted(objects_).value();
    const RunResult result = RunCycles(cluster, DefaultSchedulerConfig(), options).value();
    for (objects::Pod& pod : objects_.objects.pods) {
      const auto bind = result.binds.find(objects::NamespacedName(pod.meta));
      if (bind == result.binds.end()) continue;
      pod.spec.node_name = bind->second;
      pod.status.phase = objects::PodPhase::kRunning;
    }
    for (objects::PodGroup& group : objects_.objects.pod_groups) {
      const std::string& phase = result.jobs.at(objects::NamespacedName(group.meta)).phase;
      using Phase = objects::PodGroupPhase;
      group.phase = phase == "Running"   ? Phase::kRunning
                    : phase == "Inqueue" ? Phase::kInqueue
                                         : Phase::kPending;
    }
    started_.insert(started_.end(), starts.jobs.begin(), starts.jobs.end());
    running_.insert(running_.end(), starts.jobs.begin(), starts.jobs.end());
    return result;
  }

  // False when nothing runs.
  bool EndOne(int which) {
    if (running_.empty()) return false;
    const auto at = running_.begin() + which % static_cast<int>(running_.size());
    RemoveGroup(objects_.objects, *at);
    running_.erase(at);
    return true;
  }

  [[nodiscard]] const std::vector<std::string>& started() const { return started_; }

 private:
  CompletedObjects objects_;
  std::vector<std::string> running_;
  std::vector<std::string> started_;
};

TEST(LineProperty, TheOrderAnnouncedIsTheOrderOfStarts) {
  std::size_t starts = 0;
  CheckProperty(500, [&starts] {
    const Queues scene = *AnyQueues().as("scene");
    Draining cluster(TextOf(scene));
    const RunResult full = cluster.Run();
    RC_ASSERT(full.binds.empty());
    for (std::size_t i = 0; cluster.EndOne(scene.ends[i % scene.ends.size()]); ++i) cluster.Run();
    std::map<std::string, std::vector<std::string>> by_queue;
    for (const std::string& job : cluster.started()) {
      const int number = std::stoi(job.substr(std::string("default/wait").size()));
      by_queue["q" + std::to_string(scene.jobs[static_cast<std::size_t>(number)].queue)].push_back(
          job);
    }
    starts += cluster.started().size();
    RC_ASSERT(cluster.started().size() == scene.jobs.size());
    RC_ASSERT(by_queue == full.lines);
    for (const auto& [queue, line] : full.lines) {
      for (std::size_t i = 0; i < line.size(); ++i) {
        RC_ASSERT(FindLine(full, line[i])->position == i + 1);
      }
    }
  });
  EXPECT_GT(starts, 1000U);
}

}  // namespace
}  // namespace strata::testing
