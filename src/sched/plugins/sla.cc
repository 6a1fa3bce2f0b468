#include "sched/plugins/sla.h"

#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/duration.h"
#include "sched/plugins/argument_rules.h"

namespace strata {
namespace {

constexpr std::string_view kWaitingTimeKey = "sla-waiting-time";

class Sla final : public Plugin, public OrderPoint, public JobGatePoint {
 public:
  explicit Sla(std::optional<Duration> waiting_time) : waiting_time_(waiting_time) {}

  void Open(const ClusterState& /*state*/, Time now) override { now_ = now; }
  [[nodiscard]] bool DependsOnTime() const override { return true; }

  [[nodiscard]] int CompareJobs(const Job& a, const Job& b) const override {
    const auto a_due = DueOf(a);
    const auto b_due = DueOf(b);
    if (a_due == b_due) return 0;
    if (!a_due || !b_due) return a_due ? -1 : 1;
    return *a_due < *b_due ? -1 : 1;
  }
  [[nodiscard]] Ballot Enqueueable(const Job& job) const override { return {VoteOn(job), {}}; }
  [[nodiscard]] Vote Pipelined(const Job& job) const override { return VoteOn(job); }

 private:
  [[nodiscard]] std::optional<Time> DueOf(const Job& job) const {
    const auto waiting_time = job.spec.sla_waiting_time ? job.spec.sla_waiting_time : waiting_time_;
    return waiting_time ? std::optional(job.spec.created + *waiting_time) : std::nullopt;
  }
  [[nodiscard]] Vote VoteOn(const Job& job) const {
    const auto due = DueOf(job);
    return due && *due <= now_ ? Vote::kPermit : Vote::kAbstain;
  }

  std::optional<Duration> waiting_time_;
  Time now_{};
};

}  // namespace

Result<MadePlugin> MakeSla(const PluginConfig& config, ResourceNames& /*resources*/) {
  std::optional<Duration> waiting_time;
  if (config.arguments.Has(kWaitingTimeKey)) {
    TRY_ASSIGN(const std::string text, config.arguments.String(kWaitingTimeKey, ""));
    auto parsed = ParseDuration(text);
    if (!parsed) {
      return tl::unexpected<Error>(std::move(parsed).error().Context(std::string(kWaitingTimeKey)));
    }
    if (*parsed <= Duration(0)) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("{}: want a duration above 0, found \"{}\"", kWaitingTimeKey, text));
    }
    waiting_time = *parsed;
  }
  return MadePlugin{.plugin = std::make_unique<Sla>(waiting_time),
                    .warnings = WarnOfUnknown(config, {kWaitingTimeKey})};
}

}  // namespace strata
