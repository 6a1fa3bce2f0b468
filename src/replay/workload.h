#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "replay/fabric.h"
#include "replay/trace.h"

namespace strata::replay {

// What a pod needs of its node.
struct PodShape {
  std::int32_t gpus = 0;
  std::int64_t cpu_milli = 0;
  std::int64_t memory = 0;

  auto operator<=>(const PodShape&) const = default;
};

// Jobs of one class ask for the same: where one of them finds no place, none does.
struct JobClass {
  PodShape pod;
  PodShape last;  // the last pod of the gang; often the same
  std::int32_t pods = 1;
  std::int32_t slice = 1;  // pods that rules with slices keep in one leaf: one of the job's groups
  Wish wish = Wish::kSoft;
  // The domain that holds all pods of a hard job is of this level or a lower one; the number of
  // levels: anywhere.
  std::size_t max_level = 0;
  std::string queue;
  std::vector<char> accepts;  // by node, for jobs that want a model of GPU; empty: every node

  [[nodiscard]] bool Accepts(NodeIndex node) const { return accepts.empty() || accepts[node] != 0; }
  [[nodiscard]] std::int64_t TotalGpus() const {
    return std::int64_t{pod.gpus} * (pods - 1) + last.gpus;
  }
  [[nodiscard]] const PodShape& ShapeOf(std::int32_t rank) const {
    return rank + 1 == pods ? last : pod;
  }
  auto operator<=>(const JobClass&) const = default;
};

// A trace made ready for a cluster. Immutable: runs on several threads share one.
struct Workload {
  struct Job {
    Millis submit = 0;
    Millis duration = 0;
    Millis walltime = 0;
    std::int32_t priority = 0;
    std::uint32_t job_class = 0;
    bool fits = false;  // on the empty cluster
  };
  std::vector<Job> jobs;  // by submission; the index of the job in the trace
  std::vector<JobClass> classes;
  // The fewest domains of the lowest level that a gang of the class can lie in, by class; 0 where
  // it does not fit on the empty cluster.
  std::vector<std::int32_t> fewest_leaves;
};

struct WorkloadOptions {
  Wish wish = Wish::kSoft;  // of gangs that say nothing themselves
  std::string tier;         // of them, when hard
};

// kInvalidArgument, one line with the name of the job, when one asks for a tier that the cluster
// does not have, or for a share of a GPU (fgd::Fill places those).
[[nodiscard]] Result<Workload> MakeWorkload(const Trace& trace,
                                            const Fabric& fabric,
                                            const WorkloadOptions& options);

}  // namespace strata::replay
