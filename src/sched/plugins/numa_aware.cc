#include "sched/plugins/numa_aware.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "sched/plugins/argument_rules.h"
#include "sched/plugins/kube_scores.h"
#include "sched/plugins/numa_fit.h"

namespace strata {
namespace {

// CPUs that are free on each NUMA node, once what was placed since the report has its share.
std::vector<std::int32_t> FreeNow(const ClusterState& state, const NumaSpec& numa, NodeId node) {
  std::vector<std::int32_t> free;
  free.reserve(numa.cells.size());
  for (const NumaCell& cell : numa.cells) free.push_back(cell.free);
  std::vector<const Task*> since;
  for (const TaskId id : state.nodes().TasksOn(node)) {
    const Task& task = state.workload().task(id);
    if (task.placed != 0 && !state.classes().spec(task.class_id).numa.cpus.empty()) {
      since.push_back(&task);
    }
  }
  std::sort(since.begin(), since.end(), [](const Task* a, const Task* b) {
    return std::tie(a->placed, a->name) < std::tie(b->placed, b->name);
  });
  // Somebody else may have bound what does not align; it takes its CPUs all the same.
  NumaSpec lenient = numa;
  lenient.policy = NumaPolicy::kBestEffort;
  for (const Task* task : since) {
    static_cast<void>(TakePod(lenient, state.classes().spec(task->class_id).numa, free));
  }
  return free;
}

class NumaAware final : public Plugin, public NodeFilterPoint, public ScaledScorePoint {
 public:
  explicit NumaAware(std::int64_t weight) : weight_(weight) {}

  [[nodiscard]] bool AdmitsSpec(const ClusterState& state,
                                const ClassSpec& spec,
                                NodeId node) const override {
    return RefuseByPolicy(spec.numa, state.nodes().spec(node)).empty();
  }

  [[nodiscard]] bool AdmitsNow(const ClusterState& state,
                               const ClassSpec& spec,
                               NodeId node) const override {
    return !IsHeldTo(spec.numa, state.nodes().spec(node)) ||
           CellsFor(state, spec.numa, node).has_value();
  }

  [[nodiscard]] std::uint32_t Room(const ClusterState& state,
                                   const ClassSpec& spec,
                                   NodeId id,
                                   std::uint32_t max) const override {
    const NodeSpec& node = state.nodes().spec(id);
    if (!IsHeldTo(spec.numa, node) || node.numa->policy == NumaPolicy::kBestEffort) return max;
    std::vector<std::int32_t> free = FreeNow(state, *node.numa, id);
    std::uint32_t count = 0;
    while (count < max && TakePod(*node.numa, spec.numa, free)) ++count;
    return count;
  }

  [[nodiscard]] bool TakesOnlyOne(const ClassSpec& /*spec*/) const override { return false; }

  [[nodiscard]] std::string Reason(const ClusterState& state,
                                   const ClassSpec& spec,
                                   NodeId id) const override {
    const NodeSpec& node = state.nodes().spec(id);
    std::string refusal = RefuseByPolicy(spec.numa, node);
    if (!refusal.empty()) return refusal;
    return fmt::format("node(s) couldn't align the pod's cpus ({})", ToString(node.numa->policy));
  }

  [[nodiscard]] bool IsUniform(const ClusterState& /*state*/,
                               const ClassSpec& spec) const override {
    return weight_ == 0 || spec.numa.policy == NumaPolicy::kNone;
  }

  void ScoreFeasible(const ClusterState& state,
                     const ClassSpec& spec,
                     std::span<const NodeId> feasible,
                     std::span<Score> out) const override {
    std::fill(out.begin(), out.end(), 0);
    if (IsUniform(state, spec)) return;
    std::vector<std::int64_t> cells;
    cells.reserve(feasible.size());
    for (const NodeId node : feasible) {
      cells.push_back(CellsFor(state, spec.numa, node).value_or(0));
    }
    const auto max = std::max_element(cells.begin(), cells.end());
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::int64_t lost = *max == 0 ? 0 : kMaxNodeScore * cells[i] / *max;
      out[i] = weight_ * (kMaxNodeScore - lost) * kScoreUnit;
    }
  }

 private:
  // Why the node is out of the question for a pod that names a policy, "" when it is not.
  [[nodiscard]] static std::string RefuseByPolicy(const NumaRules& pod, const NodeSpec& node) {
    if (pod.policy == NumaPolicy::kNone) return "";
    if (!node.numa) return "node(s) had no Numatopology";
    if (!node.numa->static_cpus) return "node(s) had no static CPU manager policy";
    if (node.numa->policy != pod.policy) {
      return fmt::format("node(s) had another topology manager policy than {}",
                         ToString(pod.policy));
    }
    return "";
  }

  [[nodiscard]] static bool IsHeldTo(const NumaRules& pod, const NodeSpec& node) {
    return !pod.cpus.empty() && node.numa && node.numa->Aligns();
  }

  // How many NUMA nodes the pod would take CPUs of; none when it does not fit.
  [[nodiscard]] static std::optional<std::int32_t> CellsFor(const ClusterState& state,
                                                            const NumaRules& pod,
                                                            NodeId node) {
    const std::optional<NumaSpec>& numa = state.nodes().spec(node).numa;
    if (!numa) return std::nullopt;
    std::vector<std::int32_t> free = FreeNow(state, *numa, node);
    return TakePod(*numa, pod, free);
  }

  std::int64_t weight_;
};

}  // namespace

Result<MadePlugin> MakeNumaAware(const PluginConfig& config, ResourceNames& /*resources*/) {
  TRY_ASSIGN(const std::int64_t weight,
             WeightArgument(config.arguments, "weight", 1, IfNegative::kKeep));
  return MadePlugin{.plugin = std::make_unique<NumaAware>(weight),
                    .warnings = WarnOfUnknown(config, {"weight"})};
}

}  // namespace strata
