// Random GPU machines and pods: no GPU is ever given twice, nobody is given less than was asked
// for, and listening changes nothing.
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "model/gpu_machines.h"
#include "sched/devices/gpu_fit.h"
#include "tests/support/cluster_builder.h"
#include "tests/support/cycle.h"
#include "tests/support/property.h"
#include "tests/support/recount.h"

namespace strata::testing {
namespace {

struct GpuJob {
  int pods = 1, gpus = 1, memory = 0, policy = 0, second = 0;
  bool numa_bind = false;
};

void showValue(const GpuJob& job, std::ostream& os) {  // NOLINT(readability-identifier-naming)
  os << '{' << job.pods << " pods, " << job.gpus << " gpus, memory " << job.memory << ", policy "
     << job.policy << ", second " << job.second << ", numa " << job.numa_bind << '}';
}

struct AnyCluster {
  std::vector<int> machines;  // positions in GpuMachines()
  std::vector<GpuJob> jobs;
  int broken = 0;  // every n-th GPU does not work; 0: none
};

rc::Gen<GpuJob> AnyGpuJob() {
  return rc::gen::build<GpuJob>(rc::gen::set(&GpuJob::pods, rc::gen::inRange(1, 5)),
                                rc::gen::set(&GpuJob::gpus, rc::gen::inRange(1, 6)),
                                rc::gen::set(&GpuJob::memory, Below(4)),
                                rc::gen::set(&GpuJob::policy, Below(6)),
                                rc::gen::set(&GpuJob::second, Below(3)),
                                rc::gen::set(&GpuJob::numa_bind, rc::gen::arbitrary<bool>()));
}

GpuRequest RequestOf(const GpuJob& job) {
  GpuRequest request;
  const std::vector<GpuOrder> orders = {GpuOrder::kSpread, GpuOrder::kBinpack, GpuOrder::kNuma};
  request.policy.order = {orders[static_cast<std::size_t>(job.policy % 3)]};
  request.policy.topology_aware = job.policy >= 3;
  request.policy.chain = job.policy == 2;
  request.numa_bind = job.numa_bind;
  const auto container = [&](const char* name, int count) {
    ContainerGpuRequest out{.container = name, .count = count, .cores = 100};
    if (job.memory > 0) {
      out.memory_mib = job.memory * 5000;
      out.cores = job.memory * 10;
    }
    return out;
  };
  request.containers = {container("main", job.gpus), container("second", job.second)};
  return request;
}

void Fill(const AnyCluster& cluster, ClusterBuilder& builder) {
  for (std::size_t i = 0; i < cluster.machines.size(); ++i) {
    const std::string name = "n" + std::to_string(i);
    NodeSpec spec = builder.SpecOf(name, {.cpu = 64, .memory = 512, .gpu = 80});
    spec.gpus = MakeNodeGpus(GpuMachines()[static_cast<std::size_t>(cluster.machines[i])], name);
    for (std::size_t g = 0; g < spec.gpus->gpus.size() && cluster.broken > 0; ++g) {
      spec.gpus->gpus[g].healthy = g % static_cast<std::size_t>(cluster.broken) != 0;
    }
    CHECK(builder.state.UpsertNode(std::move(spec)).has_value());
  }
  builder.Queue("default");
  for (std::size_t j = 0; j < cluster.jobs.size(); ++j) {
    const GpuJob& any = cluster.jobs[j];
    JobSpec job;
    job.name = job.uid = "j" + std::to_string(j);
    job.queue = "default";
    job.min_available = any.pods;
    const JobId id = builder.state.workload().UpsertJob(job);
    for (int p = 0; p < any.pods; ++p) {
      TaskSpec task;
      task.name = task.uid = job.name + "-w-" + std::to_string(p);
      task.job = id;
      task.constraints = builder.ClassOf({.gpu = any.gpus + any.second});
      task.constraints.gpus = RequestOf(any);
      builder.state.workload().AddTask(std::move(task));
    }
  }
}

void CheckNode(const ClusterState& state, NodeId node) {
  const NodeGpus& gpus = *state.nodes().spec(node).gpus;
  std::vector<GpuUsage> usage(gpus.gpus.size());
  for (const TaskId task : state.nodes().TasksOn(node)) {
    AddClaim(gpus, state.workload().GpusOf(task), usage);
  }
  for (std::size_t i = 0; i < usage.size(); ++i) {
    const Gpu& gpu = gpus.gpus[i];
    RC_ASSERT(usage[i].slots <= gpu.slots);
    RC_ASSERT(usage[i].memory_mib <= gpu.memory_mib);
    RC_ASSERT(usage[i].cores <= gpu.cores);
    RC_ASSERT(gpu.healthy || usage[i].slots == 0);
  }
}

void CheckTask(const ClusterState& state, TaskId id) {
  const Task& task = state.workload().task(id);
  const GpuClaim& claim = state.workload().GpusOf(id);
  if (!task.node.valid()) {
    RC_ASSERT(claim.empty());
    return;
  }
  const GpuRequest& request = *state.classes().spec(task.class_id).gpus;
  const NodeGpus& gpus = *state.nodes().spec(task.node).gpus;
  RC_ASSERT(claim.containers.size() == request.containers.size());
  for (std::size_t c = 0; c < claim.containers.size(); ++c) {
    const auto& shares = claim.containers[c];
    RC_ASSERT(shares.size() == static_cast<std::size_t>(request.containers[c].count));
    std::set<std::string> uuids;
    std::set<std::int32_t> numa;
    for (const GpuShare& share : shares) {
      RC_ASSERT(gpus.Find(share.uuid).has_value());
      uuids.insert(share.uuid);
      numa.insert(gpus.gpus[*gpus.Find(share.uuid)].numa);
    }
    RC_ASSERT(uuids.size() == shares.size());
    RC_ASSERT(!request.numa_bind || numa.size() <= 1U);
  }
}

TEST(GpuCycleProperty, NoGpuIsGivenTwice) {
  CheckProperty(150, [] {
    AnyCluster cluster;
    const auto machines = static_cast<int>(GpuMachines().size());
    cluster.machines = *rc::gen::container<std::vector<int>>(
        static_cast<std::size_t>(*Below(3) + 1), Below(machines));
    cluster.jobs = *rc::gen::resize(8, rc::gen::container<std::vector<GpuJob>>(AnyGpuJob()));
    cluster.broken = *Below(4);
    ClusterBuilder quiet;
    ClusterBuilder heard;
    Fill(cluster, quiet);
    Fill(cluster, heard);
    TraceLog log;
    const Decisions decisions = RunCycle(quiet.state);
    RC_ASSERT(RunCycle(heard.state, DefaultSchedulerConfig(), &log) == decisions);
    for (const NodeId node : quiet.state.nodes().all()) CheckNode(quiet.state, node);
    for (const TaskId task : quiet.state.workload().AllTasks()) {
      CheckTask(quiet.state, task);
      RC_ASSERT(quiet.state.workload().GpusOf(task) == heard.state.workload().GpusOf(task));
    }
    RC_ASSERT(RecountMistakes(quiet.state) == "");
  });
}

// Pods that come one by one never find more room than was counted, and those that ask for whole
// GPUs find just as much.
TEST(GpuCycleProperty, RoomIsNeverCountedTooSmall) {
  CheckProperty(300, [] {
    const auto machines = static_cast<int>(GpuMachines().size());
    const NodeGpus node =
        MakeNodeGpus(GpuMachines()[static_cast<std::size_t>(*Below(machines))], "n");
    const GpuJob any = *AnyGpuJob();
    const GpuRequest request = RequestOf(any);
    std::vector<GpuUsage> usage(node.gpus.size());
    for (GpuUsage& gpu : usage) {
      if (*Below(3) == 0) gpu.Add({.uuid = "", .memory_mib = 5000, .cores = 20});
    }
    const std::uint32_t counted = CountGpuFits(request, node, usage, 100);
    std::uint32_t found = 0;
    for (GpuFit fit = FitGpus(request, node, usage); fit.claim && found < 100; ++found) {
      AddClaim(node, *fit.claim, usage);
      fit = FitGpus(request, node, usage);
    }
    RC_ASSERT(counted >= found);
    if (any.memory == 0 && any.second == 0 && !any.numa_bind) RC_ASSERT(counted == found);
  });
}

}  // namespace
}  // namespace strata::testing
