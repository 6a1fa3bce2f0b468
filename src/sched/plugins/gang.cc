#include "sched/plugins/gang.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "sched/plugins/argument_rules.h"
#include "sched/plugins/gang_rules.h"
#include "sched/victim_point.h"

namespace strata {
namespace {

enum class Counting : std::uint8_t { kReady, kReadyOrPipelined };

std::int32_t Count(const TaskCounts& counts, Counting counting) {
  return counts.Ready() +
         (counting == Counting::kReadyOrPipelined ? counts.Of(TaskStatus::kPipelined) : 0);
}

bool HasEnough(const SubJob& sub_job, Counting counting) {
  return Count(sub_job.counts, counting) >= sub_job.min_available;
}

template <typename Predicate>
std::int64_t CountSubGroups(const Job& job, std::size_t policy, const Predicate& counts) {
  return std::count_if(job.sub_jobs.begin(), job.sub_jobs.end(), [&](const SubJob& sub_job) {
    return sub_job.key && sub_job.key->policy == policy && counts(sub_job);
  });
}

bool HasEnoughPods(const Job& job, Counting counting) {
  return Count(job.counts, counting) >= job.spec.min_available;
}

bool HasEnough(const Job& job, Counting counting) {
  if (!HasEnoughPods(job, counting)) return false;
  const auto met = [&](const Role& role) {
    return Count(role.counts, counting) >= role.min_member;
  };
  if (RolesCount(job) && !std::all_of(job.roles.begin(), job.roles.end(), met)) return false;
  for (std::size_t i = 0; i < job.spec.sub_groups.size(); ++i) {
    const std::int32_t wanted = job.spec.sub_groups[i].min_sub_groups;
    if (wanted <= 0) continue;
    const auto enough = [&](const SubJob& sub_job) { return HasEnough(sub_job, counting); };
    if (CountSubGroups(job, i, enough) < wanted) return false;
  }
  return true;
}

// "1 pod exists", "4 pods exist".
std::string Exist(std::int64_t count, std::string_view thing) {
  return count == 1 ? fmt::format("1 {} exists", thing) : fmt::format("{} {}s exist", count, thing);
}

int NotReadyFirst(bool a_ready, bool b_ready) {
  if (a_ready == b_ready) return 0;
  return a_ready ? 1 : -1;
}

class Gang final : public Plugin,
                   public JobGatePoint,
                   public SubJobGatePoint,
                   public OrderPoint,
                   public StarvingPoint,
                   public VictimPoint {
 public:
  // Replicas beyond the minimums are nothing that the gang lacks.
  [[nodiscard]] bool Starving(const Job& job) const override {
    return !HasEnough(job, Counting::kReadyOrPipelined);
  }
  [[nodiscard]] bool SparesGangs() const override { return true; }

  [[nodiscard]] std::optional<Refusal> Invalid(const Job& job) const override {
    if (RolesCount(job)) {
      for (const Role& role : job.roles) {
        const std::int32_t valid = role.counts.Valid();
        if (valid >= role.min_member) continue;
        return Refusal{"NotEnoughPodsOfTask",
                       fmt::format("{} of task {}, its minimum is {}",
                                   Exist(valid, "pod"),
                                   role.name,
                                   role.min_member)};
      }
    }
    for (std::size_t i = 0; i < job.spec.sub_groups.size(); ++i) {
      const SubGroupPolicy& policy = job.spec.sub_groups[i];
      const std::int64_t found =
          CountSubGroups(job, i, [](const SubJob& sub_job) { return !sub_job.tasks.empty(); });
      if (found >= policy.min_sub_groups) continue;
      return Refusal{"NotEnoughPodsOfTask",
                     fmt::format("{} of policy {}, minSubGroups is {}",
                                 Exist(found, "sub-group"),
                                 policy.name,
                                 policy.min_sub_groups)};
    }
    const std::int32_t valid = job.counts.Valid();
    if (valid >= job.spec.min_available) return std::nullopt;
    return Refusal{"NotEnoughTasks",
                   fmt::format("{}, minMember is {}", Exist(valid, "pod"), job.spec.min_available)};
  }

  [[nodiscard]] bool Ready(const Job& job) const override {
    return HasEnough(job, Counting::kReady);
  }

  [[nodiscard]] Vote Pipelined(const Job& job) const override {
    return HasEnough(job, Counting::kReadyOrPipelined) ? Vote::kPermit : Vote::kReject;
  }

  // Without sub-groups the default sub-job is the job.
  [[nodiscard]] bool SubJobReady(const Job& job, const SubJob& sub_job) const override {
    return job.spec.sub_groups.empty() ? Ready(job) : HasEnough(sub_job, Counting::kReady);
  }

  [[nodiscard]] Vote SubJobPipelined(const Job& job, const SubJob& sub_job) const override {
    if (job.spec.sub_groups.empty()) return Pipelined(job);
    return HasEnough(sub_job, Counting::kReadyOrPipelined) ? Vote::kPermit : Vote::kReject;
  }

  // By pods alone, as Volcano orders: roles and sub-groups decide the start, not the turn.
  [[nodiscard]] int CompareJobs(const Job& a, const Job& b) const override {
    return NotReadyFirst(HasEnoughPods(a, Counting::kReady), HasEnoughPods(b, Counting::kReady));
  }

  [[nodiscard]] int CompareSubJobs(const Job& /*job*/,
                                   const SubJob& a,
                                   const SubJob& b) const override {
    return NotReadyFirst(HasEnough(a, Counting::kReady), HasEnough(b, Counting::kReady));
  }
};

}  // namespace

Result<MadePlugin> MakeGang(const PluginConfig& config, ResourceNames& /*resources*/) {
  return MadePlugin{.plugin = std::make_unique<Gang>(), .warnings = WarnOfUnknown(config, {})};
}

}  // namespace strata
