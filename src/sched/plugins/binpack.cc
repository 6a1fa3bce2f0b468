#include "sched/plugins/binpack.h"

#include <utility>

#include "sched/plugins/argument_rules.h"
#include "sched/plugins/binpack_weights.h"

namespace strata {
namespace {

class Binpack final : public Plugin, public NodeScorePoint {
 public:
  Binpack(std::int64_t weight, std::vector<ResourceWeight> weights)
      : scale_(100.0 * static_cast<double>(weight)), weights_(std::move(weights)) {}

  void ScoreNodes(const ClusterState& state,
                  const ClassSpec& spec,
                  std::span<const NodeId> nodes,
                  std::span<Score> out) const override {
    const Resources& request = state.classes().CountedOf(spec);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto fullness = Fullness(weights_,
                                     request,
                                     state.nodes().Used(nodes[i]),
                                     state.nodes().Allocatable(nodes[i]),
                                     IfNoneThere::kCountsAsEmpty);
      out[i] = ToScore(fullness.value_or(0) * scale_);
    }
  }

 private:
  double scale_;
  std::vector<ResourceWeight> weights_;
};

}  // namespace

Result<MadePlugin> MakeBinpack(const PluginConfig& config, ResourceNames& resources) {
  TRY_ASSIGN(const std::int64_t weight,
             WeightArgument(config.arguments, "binpack.weight", 1, IfNegative::kKeep));
  TRY_ASSIGN(BinpackWeights read, ReadBinpackWeights(config, "binpack", resources));
  std::vector<std::string_view> known(read.known.begin(), read.known.end());
  known.emplace_back("binpack.weight");
  MadePlugin made;
  made.warnings = WarnOfUnknown(config, known);
  made.warnings.insert(made.warnings.end(), read.warnings.begin(), read.warnings.end());
  made.plugin = std::make_unique<Binpack>(weight, std::move(read.weights));
  return made;
}

}  // namespace strata
