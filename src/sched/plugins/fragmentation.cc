#include "sched/plugins/fragmentation.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sched/node_fragmentation.h"
#include "sched/plugins/argument_rules.h"
#include "sched/typical_pods.h"

namespace strata {
namespace {

constexpr std::string_view kWeight = "fragmentation.weight";
constexpr std::string_view kTypicalPods = "fragmentation.typicalPods";
constexpr std::string_view kLastPods = "fragmentation.lastPods";

class Fragmentation final : public Plugin, public NodeScorePoint {
 public:
  // `last_pods`: learn from so many; 0: the pods are given.
  Fragmentation(std::int64_t weight, TypicalPods pods, std::size_t last_pods)
      : weight_(weight), last_pods_(last_pods), meter_(std::move(pods)) {}

  void Open(const ClusterState& state, Time /*now*/) override {
    if (last_pods_ == 0) return;
    TypicalPods learned = LearnTypicalPods(state, last_pods_);
    if (learned == meter_.pods()) return;
    meter_ = FragmentationMeter(std::move(learned));
    known_.clear();
    ++version_;
  }
  [[nodiscard]] std::uint64_t ScoresVersion() const override { return version_; }

  [[nodiscard]] bool ConcernsClass(const ClassSpec& /*spec*/) const override {
    return weight_ != 0;
  }
  // Which GPU has how much left makes a difference.
  [[nodiscard]] bool ScoresByAmounts() const override { return false; }

  void ScoreNodes(const ClusterState& state,
                  const ClassSpec& spec,
                  std::span<const NodeId> nodes,
                  std::span<Score> out) const override {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      out[i] = meter_.weight() > 0 ? weight_ * ScoreOf(state, spec, nodes[i]) * kScoreUnit : 0;
    }
  }

 private:
  // The fragmentation of a node, good until the node changes.
  struct Known {
    std::uint64_t version = 0;
    std::int64_t unusable = 0;
  };

  [[nodiscard]] std::int64_t ScoreOf(const ClusterState& state,
                                     const ClassSpec& spec,
                                     NodeId node) const {
    const auto after = IdleGpusAfter(state, node, spec);
    if (!after) return 0;
    return WholeFgdScore(Before(state, node) - meter_.Of(*after), meter_.weight());
  }

  [[nodiscard]] std::int64_t Before(const ClusterState& state, NodeId node) const {
    if (node.index() >= known_.size()) known_.resize(state.nodes().slots());
    Known& known = known_[node.index()];
    if (known.version != state.nodes().Version(node)) {
      known = {.version = state.nodes().Version(node),
               .unusable = meter_.Of(IdleGpusOf(state, node))};
    }
    return known.unusable;
  }

  std::int64_t weight_;
  std::size_t last_pods_;
  FragmentationMeter meter_;
  std::uint64_t version_ = 0;
  mutable std::vector<Known> known_;  // by node
};

}  // namespace

Result<MadePlugin> MakeFragmentation(const PluginConfig& config, ResourceNames& /*resources*/) {
  constexpr std::int64_t kDefaultLastPods = 1000;
  constexpr std::int64_t kMaxLastPods = 1'000'000;
  const Arguments& arguments = config.arguments;
  TRY_ASSIGN(const std::int64_t weight,
             WeightArgument(arguments, kWeight, 10, IfNegative::kUseDefault));
  TRY_ASSIGN(const std::string text, arguments.String(kTypicalPods, ""));
  auto pods = ParseTypicalPods(text);
  if (!pods) {
    return tl::unexpected<Error>(std::move(pods).error().Context(std::string(kTypicalPods)));
  }
  TRY_ASSIGN(std::int64_t last, arguments.Int(kLastPods, kDefaultLastPods));
  MadePlugin made;
  made.warnings = WarnOfUnknown(config, {kWeight, kTypicalPods, kLastPods});
  if (last < 1 || last > kMaxLastPods) {
    made.warnings.push_back(
        ArgumentWarning(config.name, kLastPods, "not within 1 to 1000000; 1000 applies"));
    last = kDefaultLastPods;
  }
  if (!pods->empty() && arguments.Has(kLastPods)) {
    made.warnings.push_back(
        ArgumentWarning(config.name, kLastPods, "has no effect beside fragmentation.typicalPods"));
  }
  const std::size_t learn = pods->empty() ? static_cast<std::size_t>(last) : 0;
  made.plugin = std::make_unique<Fragmentation>(weight, std::move(*pods), learn);
  return made;
}

}  // namespace strata
