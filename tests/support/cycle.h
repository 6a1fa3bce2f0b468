#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/check.h"
#include "model/cluster_state.h"
#include "sched/config.h"
#include "sched/scheduler.h"
#include "sched/trace.h"

// Cycles in tests, with what they decide written by name.
namespace strata::testing {

struct Decisions {
  std::map<std::string, std::string> binds;      // task -> node
  std::map<std::string, std::string> pipelined;  // task -> node
  std::set<std::string> evicted;                 // tasks
  std::vector<std::string> plans;  // "gangpreempt for high in s0: gang low, surplus wide x2"
  std::map<std::string, std::pair<std::string, std::string>> verdicts;  // job -> reason, message
  std::set<std::tuple<std::string, std::string, std::string>> warnings;
  std::vector<std::string> ended;  // claims: "high: started", "high: in vain: the job is gone"

  bool operator==(const Decisions&) const = default;

  [[nodiscard]] std::string Reason(const std::string& job) const {
    const auto it = verdicts.find(job);
    return it == verdicts.end() ? "" : it->second.first;
  }
  [[nodiscard]] std::string Message(const std::string& job) const {
    const auto it = verdicts.find(job);
    return it == verdicts.end() ? "" : it->second.second;
  }
  // The nodes the tasks of `job` were bound to.
  [[nodiscard]] std::set<std::string> NodesOf(const std::string& job) const {
    std::set<std::string> nodes;
    for (const auto& [task, node] : binds) {
      if (task.starts_with(job + "-")) nodes.insert(node);
    }
    return nodes;
  }
};

inline std::ostream& operator<<(std::ostream& os, const Decisions& decisions) {
  for (const auto& [task, node] : decisions.binds) os << "bind " << task << " -> " << node << '\n';
  for (const auto& [task, node] : decisions.pipelined) {
    os << "wait " << task << " -> " << node << '\n';
  }
  for (const std::string& plan : decisions.plans) os << "evict " << plan << '\n';
  for (const std::string& task : decisions.evicted) os << "evict " << task << '\n';
  for (const auto& [job, verdict] : decisions.verdicts) {
    os << "verdict " << job << ": " << verdict.first << ": " << verdict.second << '\n';
  }
  for (const auto& [object, reason, message] : decisions.warnings) {
    os << "warning " << object << ": " << reason << ": " << message << '\n';
  }
  return os;
}

// Keeps everything.
class TraceLog final : public TraceSink {
 public:
  void Record(TraceRecord record) override { records_.push_back(std::move(record)); }

  [[nodiscard]] const std::vector<TraceRecord>& records() const { return records_; }
  void Clear() { records_.clear(); }
  // All records of one kind, in order.
  template <typename Kind>
  [[nodiscard]] std::vector<Kind> Of() const {
    std::vector<Kind> found;
    for (const TraceRecord& record : records_) {
      if (const auto* one = std::get_if<Kind>(&record)) found.push_back(*one);
    }
    return found;
  }

 private:
  std::vector<TraceRecord> records_;
};

// The configuration without one plugin.
[[nodiscard]] inline SchedulerConfig ConfigWithout(const std::string& plugin) {
  SchedulerConfig config = DefaultSchedulerConfig();
  for (auto& tier : config.tiers) {
    std::erase_if(tier, [&](const PluginConfig& one) { return one.name == plugin; });
  }
  return config;
}

// The configuration with one argument of one plugin.
[[nodiscard]] inline SchedulerConfig ConfigWith(const std::string& plugin,
                                                const std::string& argument,
                                                const ArgumentValue& value) {
  SchedulerConfig config = DefaultSchedulerConfig();
  for (auto& tier : config.tiers) {
    for (PluginConfig& one : tier) {
      if (one.name == plugin) one.arguments.Set(argument, value);
    }
  }
  return config;
}

// One scheduler over one state, cycle after cycle.
class Cycles {
 public:
  explicit Cycles(ClusterState& state, const SchedulerConfig& config = DefaultSchedulerConfig())
      : state_(state) {
    auto made = Scheduler::Make(config, state);
    CHECK(made.has_value());
    scheduler_ = std::move(made->scheduler);
  }

  // As the live scheduler works: with a budget for each cycle.
  void LimitWork(std::uint64_t budget) { scheduler_->LimitWork(budget); }
  // What the budget of the last cycle did not reach.
  [[nodiscard]] CycleResult::Left left() const { return left_; }
  // The time of the next cycles; the epoch unless it is set.
  void SetNow(Time now) { now_ = now; }
  [[nodiscard]] ClaimBook& claims() { return scheduler_->claims(); }
  // When the last cycle wants to be followed by another.
  [[nodiscard]] std::optional<Time> again_at() const { return again_at_; }

  // `inside` is called when the actions have run and nothing has been given back yet.
  Decisions Run(TraceSink* trace = nullptr, const std::function<void()>& inside = {}) {
    scheduler_->Open(now_, trace);
    scheduler_->RunActions();
    if (inside) inside();
    const CycleResult result = scheduler_->Close();
    left_ = result.left;
    again_at_ = result.again_at;
    Decisions decisions;
    for (const CycleResult::Bind& bind : result.binds) {
      CHECK(decisions.binds.emplace(TaskName(bind.task), NodeName(bind.node)).second);
    }
    for (const CycleResult::Bind& wait : result.pipelined) {
      CHECK(decisions.pipelined.emplace(TaskName(wait.task), NodeName(wait.node)).second);
    }
    for (const CycleResult::EvictionPlan& plan : result.evictions) NoteEvictions(plan, decisions);
    for (const auto& [job, refusal] : result.verdicts) {
      decisions.verdicts[state_.workload().job(job).spec.name] = {refusal.reason, refusal.message};
    }
    for (const CycleResult::Warning& warning : *result.warnings) {
      decisions.warnings.insert({warning.object, warning.reason, warning.message});
    }
    for (const ClaimEnd& end : result.ended) decisions.ended.push_back(ToText(end));
    return decisions;
  }

 private:
  static std::string ToText(const ClaimEnd& end) {
    switch (end.kind) {
      case ClaimEnd::Kind::kStarted:
        return end.claim.job + ": started";
      case ClaimEnd::Kind::kTaken:
        return end.claim.job + ": taken: " + end.why;
      case ClaimEnd::Kind::kInVain:
        return end.claim.job + ": in vain: " + end.why;
      case ClaimEnd::Kind::kVoid:
        return end.claim.job + ": void: " + end.why;
    }
    return "";
  }
  void NoteEvictions(const CycleResult::EvictionPlan& plan, Decisions& decisions) const {
    std::set<std::string> victims;
    for (const CycleResult::EvictionPlan::Victim& victim : plan.victims) {
      const bool gang = victim.unit == VictimUnit::Kind::kGang;
      const std::string& job = state_.workload().job(victim.job).spec.name;
      victims.insert(gang ? "gang " + job
                          : "surplus " + job + " x" + std::to_string(victim.tasks.size()));
      for (const TaskId task : victim.tasks) CHECK(decisions.evicted.insert(TaskName(task)).second);
    }
    std::string text = plan.action + " for " + state_.workload().job(plan.claimant).spec.name +
                       (plan.hypernode.empty() ? std::string() : " in " + plan.hypernode);
    for (const std::string& victim : victims) {
      text += (victim == *victims.begin() ? ": " : ", ") + victim;
    }
    decisions.plans.push_back(std::move(text));
  }
  [[nodiscard]] const std::string& TaskName(TaskId id) const {
    return state_.workload().task(id).name;
  }
  [[nodiscard]] const std::string& NodeName(NodeId id) const {
    return state_.nodes().spec(id).name;
  }

  ClusterState& state_;
  std::unique_ptr<Scheduler> scheduler_;
  CycleResult::Left left_ = CycleResult::Left::kNone;
  std::optional<Time> again_at_;
  Time now_{};
};

inline Decisions RunCycle(ClusterState& state,
                          const SchedulerConfig& config = DefaultSchedulerConfig(),
                          TraceSink* trace = nullptr) {
  return Cycles(state, config).Run(trace);
}

// The world between two cycles, as `strata simulate` has it: what was bound runs, what was
// terminating is gone.
inline void Advance(ClusterState& state) {
  for (const TaskId id : state.workload().AllTasks()) {
    if (state.workload().task(id).status == TaskStatus::kBinding) {
      state.workload().SetTaskStatus(id, TaskStatus::kRunning);
    } else if (state.workload().task(id).status == TaskStatus::kReleasing) {
      state.workload().RemoveTask(id);
    }
  }
}

}  // namespace strata::testing
