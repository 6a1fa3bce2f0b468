#include "sched/plugins/nodegroup.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sched/plugins/argument_rules.h"

namespace strata {
namespace {

constexpr double kRequiredScore = 100;
constexpr double kPreferredScore = 50;
constexpr double kAvoidedScore = -1;

struct Options {
  bool strict = true;
  bool ordered = false;
  bool inherits = false;
};

bool Has(const std::vector<std::string>& groups, std::string_view group) {
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

// The group of a node, if it is in one.
std::optional<std::string_view> GroupOf(const NodeSpec& node) {
  const auto it = node.labels.find(kNodeGroupLabel);
  return it == node.labels.end() ? std::nullopt : std::optional(it->second);
}

// What the jobs of a queue hold on the nodes of each group. Worked out again after every change of
// the state, and only for queues that have limits.
class GroupUsage {
 public:
  // nullptr when it holds nothing there.
  const Resources* Of(const ClusterState& state, QueueId queue, std::string_view group) {
    if (state_ != &state || version_ != state.nodes().NextVersion()) {
      held_.clear();
      state_ = &state;
      version_ = state.nodes().NextVersion();
    }
    const auto [it, is_new] = held_.try_emplace(queue);
    if (is_new) it->second = HeldBy(state, queue);
    const auto found = it->second.find(group);
    return found == it->second.end() ? nullptr : &found->second;
  }

 private:
  using ByGroup = std::map<std::string, Resources, std::less<>>;

  static ByGroup HeldBy(const ClusterState& state, QueueId queue) {
    ByGroup held;
    for (const JobId job : state.workload().jobs()) {
      if (state.workload().job(job).queue != queue) continue;
      for (const SubJob& sub_job : state.workload().job(job).sub_jobs) {
        for (const TaskId id : sub_job.tasks) Count(state, id, held);
      }
    }
    return held;
  }
  static void Count(const ClusterState& state, TaskId id, ByGroup& held) {
    const Task& task = state.workload().task(id);
    const bool holds = IsAllocated(task.status) || task.status == TaskStatus::kPipelined;
    if (!holds || !task.node.valid()) return;
    const auto group = GroupOf(state.nodes().spec(task.node));
    if (group) held[std::string(*group)].Add(state.workload().CountedOf(id));
  }

  const ClusterState* state_ = nullptr;
  std::uint64_t version_ = 0;
  std::map<QueueId, ByGroup> held_;
};

class NodeGroup final : public Plugin, public NodeFilterPoint, public NodeScorePoint {
 public:
  explicit NodeGroup(const Options& options) : options_(options) {}

  // Tasks come and go between cycles without a change of any node.
  void Open(const ClusterState& /*state*/, Time /*now*/) override { usage_ = {}; }

  [[nodiscard]] bool AdmitsSpec(const ClusterState& state,
                                const ClassSpec& spec,
                                NodeId node) const override {
    return Refuse(spec, state.nodes().spec(node)).empty();
  }
  [[nodiscard]] bool AdmitsNow(const ClusterState& /*state*/,
                               const ClassSpec& /*spec*/,
                               NodeId /*node*/) const override {
    return true;
  }
  [[nodiscard]] bool AdmitsFuture(const ClusterState& state,
                                  const ClassSpec& spec,
                                  NodeId node) const override {
    return AdmitsInAll(state, spec, node);
  }
  [[nodiscard]] bool LooksBeyondNode(const ClassSpec& spec) const override {
    return spec.node_groups.limited;
  }
  [[nodiscard]] bool AdmitsInAll(const ClusterState& state,
                                 const ClassSpec& spec,
                                 NodeId node) const override {
    const Queue* queue = QueueOf(state, spec);
    const auto group = GroupOf(state.nodes().spec(node));
    if (queue == nullptr || !group) return true;
    const auto limits = queue->spec.node_group_limits.find(*group);
    if (limits == queue->spec.node_group_limits.end()) return true;
    const Resources* held = usage_.Of(state, *state.workload().FindQueue(queue->spec.name), *group);
    const Resources& asked = state.classes().CountedOf(spec);
    return std::all_of(limits->second.begin(), limits->second.end(), [&](const auto& limit) {
      const Amount used = held == nullptr ? 0 : held->Get(limit.first);
      return asked.Get(limit.first) <= limit.second - used;
    });
  }
  [[nodiscard]] bool TakesOnlyOne(const ClassSpec& /*spec*/) const override { return false; }
  [[nodiscard]] std::string Reason(const ClusterState& state,
                                   const ClassSpec& spec,
                                   NodeId node) const override {
    std::string refusal = Refuse(spec, state.nodes().spec(node));
    return refusal.empty() ? "node(s) had a node group whose limit the queue has reached" : refusal;
  }

  void ScoreNodes(const ClusterState& state,
                  const ClassSpec& spec,
                  std::span<const NodeId> nodes,
                  std::span<Score> out) const override {
    const NodeGroupTerms& terms = TermsOf(spec);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto group = GroupOf(state.nodes().spec(nodes[i]));
      out[i] = group ? ToScore(ScoreOf(terms, *group)) : 0;
    }
  }

 private:
  [[nodiscard]] const NodeGroupTerms& TermsOf(const ClassSpec& spec) const {
    const NodeGroupRules& rules = spec.node_groups;
    return rules.own.empty() && options_.inherits ? rules.inherited : rules.own;
  }

  [[nodiscard]] static const Queue* QueueOf(const ClusterState& state, const ClassSpec& spec) {
    if (spec.node_groups.queue.empty()) return nullptr;
    const auto id = state.workload().FindQueue(spec.node_groups.queue);
    return id ? &state.workload().queue(*id) : nullptr;
  }

  // Why the node is out of the question, "" when it is not.
  [[nodiscard]] std::string Refuse(const ClassSpec& spec, const NodeSpec& node) const {
    const NodeGroupTerms& terms = TermsOf(spec);
    const auto group = GroupOf(node);
    if (!group) {
      return terms.empty() && !options_.strict ? "" : "node(s) had no node group";
    }
    if (Has(terms.anti_required, *group)) return "node(s) had a node group that the queue excludes";
    const bool named = Has(terms.required, *group) || Has(terms.preferred, *group) ||
                       Has(terms.anti_preferred, *group);
    return named ? "" : "node(s) had a node group the queue does not name";
  }

  [[nodiscard]] double ScoreOf(const NodeGroupTerms& terms, std::string_view group) const {
    if (Has(terms.anti_preferred, group)) return kAvoidedScore;
    const double base = Has(terms.required, group) ? kRequiredScore : 0;
    const auto& preferred = terms.preferred;
    const auto at = std::find(preferred.begin(), preferred.end(), group);
    if (at == preferred.end()) return base;
    if (!options_.ordered) return base + kPreferredScore;
    const auto behind = static_cast<double>(preferred.end() - at);
    return base + kPreferredScore * behind / static_cast<double>(preferred.size());
  }

  Options options_;
  mutable GroupUsage usage_;  // remembered answers, no state of its own
};

}  // namespace

Result<MadePlugin> MakeNodegroup(const PluginConfig& config, ResourceNames& /*resources*/) {
  Options options;
  TRY_ASSIGN(options.strict, config.arguments.Bool("strict", true));
  TRY_ASSIGN(options.ordered, config.arguments.Bool("enablePreferredOrder", false));
  options.inherits = config.Enabled("enableHierarchy");
  return MadePlugin{.plugin = std::make_unique<NodeGroup>(options),
                    .warnings = WarnOfUnknown(config, {"strict", "enablePreferredOrder"})};
}

}  // namespace strata
