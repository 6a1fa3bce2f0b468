#include "sched/plugins/resourcequota.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "model/amount_format.h"
#include "sched/plugins/argument_rules.h"

namespace strata {
namespace {

class ResourceQuota final : public Plugin, public JobGatePoint {
 public:
  void Open(const ClusterState& state, Time /*now*/) override {
    state_ = &state;
    let_in_.clear();
  }
  [[nodiscard]] Ballot Enqueueable(const Job& job) const override;
  void OnEnqueued(const Job& job) override {
    if (!job.spec.min_resources) return;
    let_in_[std::string(NamespaceOf(job.spec))].AddSaturating(QuotaRequest(job.spec));
  }

 private:
  [[nodiscard]] std::optional<Refusal> Exceeds(const QuotaSpec& quota,
                                               const Resources& request,
                                               const Resources& let_in) const;

  const ClusterState* state_ = nullptr;
  std::map<std::string, Resources, std::less<>> let_in_;  // in this cycle, by namespace
};

std::optional<Refusal> ResourceQuota::Exceeds(const QuotaSpec& quota,
                                              const Resources& request,
                                              const Resources& let_in) const {
  const ResourceNames& names = state_->resource_names();
  Resources taken = quota.used;
  taken.AddSaturating(let_in);
  std::optional<ResourceId> exceeded;
  for (const auto& [resource, hard] : quota.hard) {
    const Amount asked = request.Get(resource);
    if (asked <= 0 || asked <= hard - taken.Get(resource)) continue;
    if (!exceeded || names.name(resource) < names.name(*exceeded)) exceeded = resource;
  }
  if (!exceeded) return std::nullopt;
  const std::string& name = names.name(*exceeded);
  return Refusal{
      "NamespaceQuotaExceeded",
      fmt::format("ResourceQuota {}: {} requested, {} in use or promised, its limit is {}",
                  quota.name,
                  FormatAmount(name, request.Get(*exceeded)),
                  FormatNumber(name, taken.Get(*exceeded)),
                  FormatNumber(name, quota.hard.at(*exceeded)))};
}

Ballot ResourceQuota::Enqueueable(const Job& job) const {
  if (!job.spec.min_resources) return {Vote::kPermit, {}};
  const Resources request = QuotaRequest(job.spec);
  const auto it = let_in_.find(NamespaceOf(job.spec));
  const Resources let_in = it == let_in_.end() ? Resources() : it->second;
  for (const QuotaSpec* quota : state_->quotas().Of(NamespaceOf(job.spec))) {
    if (auto refusal = Exceeds(*quota, request, let_in)) {
      return {Vote::kReject, std::move(*refusal)};
    }
  }
  return {Vote::kPermit, {}};
}

}  // namespace

Result<MadePlugin> MakeResourcequota(const PluginConfig& config, ResourceNames& /*resources*/) {
  return MadePlugin{.plugin = std::make_unique<ResourceQuota>(),
                    .warnings = WarnOfUnknown(config, {})};
}

Resources QuotaRequest(const JobSpec& job) {
  CHECK(job.min_resources.has_value());
  Resources request = *job.min_resources;
  request.Set(kPods, std::max<Amount>(request.Get(kPods), job.min_available));
  request.AddSaturating(job.min_quota);
  return request;
}

std::string_view NamespaceOf(const JobSpec& job) {
  const std::string_view name = job.name;
  return name.substr(0, std::min(name.find('/'), name.size()));
}

}  // namespace strata
