#include "sched/plugins/overcommit.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "model/amount_format.h"
#include "sched/need.h"
#include "sched/plugins/argument_rules.h"
#include "sched/plugins/promise_book.h"
#include "sched/plugins/queue_rules.h"

namespace strata {
namespace {

constexpr std::string_view kFactorKey = "overcommit-factor";
constexpr double kDefaultFactor = 1.2;

class Overcommit final : public Plugin, public JobGatePoint {
 public:
  explicit Overcommit(double factor) : factor_(factor) {}

  void Open(const ClusterState& state, Time now) override;
  [[nodiscard]] Ballot Enqueueable(const Job& job) const override {
    return EnqueueableWith(job, {});
  }
  [[nodiscard]] Ballot EnqueueableWith(const Job& job, const Relief& relief) const override;
  void OnEnqueued(const Job& job) override { AddTo(taken_, PromisedTo(*state_, job)); }

 private:
  double factor_;
  const ClusterState* state_ = nullptr;
  PromiseBook book_;
  Amounts limit_;
  Amounts taken_;  // in use when the cycle began, and promised
};

void Overcommit::Open(const ClusterState& state, Time /*now*/) {
  state_ = &state;
  const std::size_t size = state.resource_names().size();
  limit_.assign(size, 0.0);
  taken_.assign(size, 0.0);
  const auto total = state.sums().Allocatable(state.tree().top());
  const auto used = state.sums().Used(state.tree().top());
  for (std::size_t i = 0; i < std::min(size, total.size()); ++i) {
    limit_[i] = static_cast<double>(total[i]) * factor_;
    taken_[i] = static_cast<double>(used[i]);
  }
  book_.Refresh(state);
  AddTo(taken_, book_.PromisedInAll(size));
}

Ballot Overcommit::EnqueueableWith(const Job& job, const Relief& relief) const {
  if (!job.spec.min_resources) return {Vote::kPermit, {}};
  const ResourceNames& names = state_->resource_names();
  const Minimum minimum(*state_, job);
  const auto gpus = state_->nodes().RegisteredGpus();
  const auto exceeded = FirstExceeded(names, *minimum, [&](ResourceId resource) {
    if (minimum.has_shares() && resource == gpus) return std::numeric_limits<double>::infinity();
    return At(limit_, resource) - At(taken_, resource) +
           static_cast<double>(relief.in_all.Get(resource));
  });
  if (!exceeded) return {Vote::kPermit, {}};
  const std::string& name = names.name(*exceeded);
  return {Vote::kReject,
          {"ClusterOvercommitted",
           fmt::format("{} requested, {} in use or promised in the cluster, the limit is {} ({} "
                       "times what its nodes have)",
                       FormatAmount(name, minimum->Get(*exceeded)),
                       FormatNumber(name, ToAmount(At(taken_, *exceeded))),
                       FormatNumber(name, ToAmount(At(limit_, *exceeded))),
                       factor_)}};
}

}  // namespace

Result<MadePlugin> MakeOvercommit(const PluginConfig& config, ResourceNames& /*resources*/) {
  TRY_ASSIGN(double factor, config.arguments.Float(kFactorKey, kDefaultFactor));
  std::vector<std::string> warnings = WarnOfUnknown(config, {kFactorKey});
  if (factor < 1) {
    warnings.push_back(ArgumentWarning(
        config.name, kFactorKey, fmt::format("{} is below 1, {} is used", factor, kDefaultFactor)));
    factor = kDefaultFactor;
  }
  return MadePlugin{.plugin = std::make_unique<Overcommit>(factor),
                    .warnings = std::move(warnings)};
}

}  // namespace strata
