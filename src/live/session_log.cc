#include "live/session_log.h"

#include <set>
#include <string>
#include <string_view>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace strata::live {
namespace {

constexpr const char* kTopologyPlugin = "network-topology-aware";

// "s0=12.5 s1=0", the names in their order.
std::string Scores(const ScoresByName& scores) {
  std::string text;
  for (const auto& [name, score] : scores) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, ToDouble(score));
  }
  return text;
}

const ScoresByName* OfTopology(const std::map<std::string, ScoresByName>& scores) {
  const auto it = scores.find(kTopologyPlugin);
  return it == scores.end() ? nullptr : &it->second;
}

// Whether the tiers that a job allows are what it lacks room in.
bool IsAboutTopology(std::string_view reason) {
  return reason == "UnknownTierName" || reason == "TopologyUnsatisfied" ||
         reason == "GangLargerThanHyperNode" || reason == "HyperNodeHeldByOwnPods";
}

void LogTree(const obs::Log& log, const HyperNodeTree& tree) {
  const auto all = tree.hypernodes();
  std::map<std::string, std::vector<std::string>> children;
  for (const HyperNodeTree::HyperNode& hypernode : all) {
    if (!hypernode.parent.valid()) continue;
    children[tree.at(hypernode.parent).name].push_back(hypernode.name);
  }
  for (const HyperNodeTree::HyperNode& hypernode : all) {
    log.Info("hyperNode in session",
             {{"name", hypernode.name},
              {"tier", hypernode.tier},
              {"parent", hypernode.parent.valid() ? tree.at(hypernode.parent).name : ""},
              {"children", fmt::format("[{}]", fmt::join(children[hypernode.name], " "))}});
  }
}

}  // namespace

void LogOpenSession(const obs::Log& log, const ClusterState& state, bool first) {
  if (!log.On(3)) return;
  log.Info("HyperNodesReadyToSchedule", {{"ready", state.tree().ready()}});
  if (!first && !log.On(4)) return;
  for (const JobId id : state.workload().jobs()) {
    const Job& job = state.workload().job(id);
    if (job.allocated_hypernode.empty()) continue;
    log.Info("AllocatedHyperNode in session",
             {{"job", job.spec.name}, {"AllocatedHyperNode", job.allocated_hypernode}});
  }
  if (log.On(5)) LogTree(log, state.tree());
}

void LogDecisions(const obs::Log& log, const ClusterState& state, const CycleResult& result) {
  if (!log.On(3)) return;
  std::set<JobId> placed;
  for (const CycleResult::Bind& bind : result.binds) {
    placed.insert(state.workload().task(bind.task).job);
  }
  for (const JobId id : placed) {
    const Job& job = state.workload().job(id);
    if (job.allocated_hypernode.empty()) continue;
    log.Info("AllocatedHyperNode",
             {{"job", job.spec.name}, {"AllocatedHyperNode", job.allocated_hypernode}});
  }
  for (const auto& [id, verdict] : result.verdicts) {
    if (!IsAboutTopology(verdict.reason)) continue;
    log.Error("build hyperNode gradient fail",
              {{"job", state.workload().job(id).spec.name}, {"err", verdict.message}});
  }
}

void SessionLog::Record(TraceRecord record) {
  std::visit(
      [this](const auto& known) {
        if constexpr (requires { Tell(known); }) Tell(known);
      },
      record);
}

void SessionLog::Tell(const HyperNodeScoreRecord& record) const {
  if (const ScoresByName* scores = OfTopology(record.scores)) {
    log_.Info("networkTopologyAware hyperNode score",
              {{"job", record.job}, {"subJob", record.sub_job}, {"scores", Scores(*scores)}});
    if (log_.On(5)) {
      for (const auto& [name, score] : *scores) {
        log_.Info("hyperNode binpacking score calculation",
                  {{"job", record.job}, {"hyperNode", name}, {"score", ToDouble(score)}});
      }
    }
  }
  if (log_.On(5)) {
    log_.Info("hyperNode chosen",
              {{"job", record.job}, {"subJob", record.sub_job}, {"hyperNode", record.chosen}});
  }
}

void SessionLog::Tell(const NodeScoreRecord& record) const {
  const ScoresByName* scores = OfTopology(record.scores);
  if (scores == nullptr) return;
  log_.Info("networkTopologyAware node score",
            {{"pod", record.pod}, {"hyperNode", record.hypernode}, {"scores", Scores(*scores)}});
}

void SessionLog::Tell(const GradientRecord& record) const {
  if (!log_.On(5)) return;
  for (const GradientRecord::Tier& tier : record.tiers) {
    log_.Info("hyperNode gradient",
              {{"job", record.job},
               {"subJob", record.sub_job},
               {"tier", tier.tier},
               {"eligible", fmt::format("[{}]", fmt::join(tier.eligible, " "))}});
  }
}

}  // namespace strata::live
