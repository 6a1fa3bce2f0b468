#include "page/answers.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "convert/amounts.h"
#include "inspect/usage_report.h"
#include "json/dump.h"
#include "page/gpu_cells.h"
#include "report/gpu_sums.h"
#include "report/names.h"
#include "report/queue_report.h"
#include "report/render_queues.h"
#include "report/topology_report.h"
#include "sched/need.h"

namespace strata::page {
namespace {

using AnswerJson = nlohmann::ordered_json;

AnswerJson ShapeJson(const objects::ResourceList& pod) {
  AnswerJson json = AnswerJson::object();
  for (const auto& [name, quantity] : pod) json[name] = quantity.ToString();
  return json;
}

AnswerJson TiersJson(const std::vector<TopologyReport::TierFit>& tiers) {
  AnswerJson json = AnswerJson::array();
  for (const TopologyReport::TierFit& tier : tiers) {
    json.push_back({{"tier", tier.tier},
                    {"tierName", tier.tier_name},
                    {"hyperNode", tier.hypernode},
                    {"pods", tier.pods}});
  }
  return json;
}

AnswerJson QuantitiesJson(const ResourceNames& names,
                          const std::vector<ResourceId>& resources,
                          std::span<const Amount> amounts) {
  AnswerJson json = AnswerJson::object();
  for (const ResourceId id : resources) {
    const Amount amount = id.index() < amounts.size() ? amounts[id.index()] : 0;
    json[names.name(id)] = ToQuantity(names.name(id), amount).ToString();
  }
  return json;
}

// ---- one node

class NodeTeller {
 public:
  NodeTeller(const ClusterFeed& feed, NodeId node, const Scope& scope)
      : feed_(feed),
        scope_(scope),
        state_(feed.state()),
        node_(node),
        spec_(state_.nodes().spec(node)),
        tasks_(TasksByName()) {}

  std::string Tell() const {
    const HyperNodeTree& tree = state_.tree();
    const HyperNodeId leaf = tree.LeafOf(tree.ChainOf(node_));
    const std::vector<ResourceId> shown = inspect::ShownResourceIds(state_);
    std::vector<Amount> free = FreeOn(state_, node_);
    if (MarkOf(spec_) != NodeMark::kOpen) std::fill(free.begin(), free.end(), 0);
    AnswerJson json = {
        {"name", spec_.name},
        {"leaf", leaf == tree.top() ? "" : tree.at(leaf).name},
        {"note", inspect::NodeNote(spec_)},
        {"used", QuantitiesJson(state_.resource_names(), shown, state_.nodes().Used(node_))},
        {"free", QuantitiesJson(state_.resource_names(), shown, free)},
        {"allocatable",
         QuantitiesJson(state_.resource_names(), shown, state_.nodes().Allocatable(node_))},
        {"gpus", Gpus()}};
    const LinkShape shape = spec_.gpus ? LinkShapeOf(*spec_.gpus) : LinkShape();
    json["links"] = shape.links;
    json["freeSets"] = FreeSets();
    json["pods"] = Pods();
    return DumpJson(json) + "\n";
  }

 private:
  [[nodiscard]] std::vector<TaskId> TasksByName() const {
    const auto on = state_.nodes().TasksOn(node_);
    std::vector<TaskId> tasks(on.begin(), on.end());
    std::sort(tasks.begin(), tasks.end(), [this](TaskId a, TaskId b) {
      return NaturalLess(state_.workload().task(a).name, state_.workload().task(b).name);
    });
    return tasks;
  }

  [[nodiscard]] AnswerJson Gpus() const {
    AnswerJson gpus = AnswerJson::array();
    if (!spec_.gpus) return gpus;
    for (std::size_t i = 0; i < spec_.gpus->gpus.size(); ++i) {
      const Gpu& gpu = spec_.gpus->gpus[i];
      gpus.push_back({{"uuid", gpu.uuid},
                      {"index", gpu.index},
                      {"health", gpu.healthy && !gpu.cordoned},
                      {"numa", gpu.numa},
                      {"model", gpu.type},
                      {"holders", Holders(i)}});
    }
    return gpus;
  }

  [[nodiscard]] AnswerJson Holders(std::size_t gpu) const {
    AnswerJson holders = AnswerJson::array();
    for (const TaskId id : tasks_) {
      std::vector<GpuUsage> usage(spec_.gpus->gpus.size());
      AddClaim(*spec_.gpus, state_.workload().GpusOf(id), usage);
      if (usage[gpu].slots == 0) continue;
      const Task& task = state_.workload().task(id);
      const bool seen = Sees(task);
      holders.push_back({{"pod", seen ? task.name : ""},
                         {"job", seen && task.job.valid() ? JobName(task.job) : ""},
                         {"part", PartOf(usage[gpu], spec_.gpus->gpus[gpu])}});
    }
    return holders;
  }

  [[nodiscard]] std::string JobName(JobId id) const {
    const std::string& name = state_.workload().job(id).spec.name;
    const objects::PodGroup* group = feed_.FindGroup(name);
    return group == nullptr ? name : name.substr(0, name.find('/') + 1) + NameOfJob(*group);
  }

  // Free GPUs that are joined by NVLink, by their indexes.
  [[nodiscard]] AnswerJson FreeSets() const {
    AnswerJson sets = AnswerJson::array();
    if (!spec_.gpus || spec_.gpus->scores.size() != spec_.gpus->gpus.size()) return sets;
    GpuColumns cells;
    AppendCells(
        state_, node_, [](JobId) { return kNowhere; }, cells);
    std::vector<std::size_t> free;
    for (std::size_t i = 0; i < cells.state.size(); ++i) {
      if (cells.state[i] == 'f') free.push_back(i);
    }
    for (const std::vector<std::size_t>& island : NvlinkIslands(spec_.gpus->scores, free)) {
      AnswerJson& set = sets.emplace_back(AnswerJson::array());
      for (const std::size_t at : island) set.push_back(spec_.gpus->gpus[at].index);
    }
    return sets;
  }

  [[nodiscard]] AnswerJson Pods() const {
    AnswerJson pods = AnswerJson::array();
    for (const TaskId id : tasks_) {
      const Task& task = state_.workload().task(id);
      const std::size_t slash = task.name.find('/');
      const bool releasing = task.status == TaskStatus::kReleasing;
      const bool running = task.status == TaskStatus::kRunning;
      const Resources& counted = state_.workload().CountedOf(id);
      const bool seen = Sees(task);
      pods.push_back({{"namespace", seen ? task.name.substr(0, slash) : ""},
                      {"name", seen ? task.name.substr(slash + 1) : ""},
                      {"phase",
                       releasing ? "Terminating"
                       : running ? "Running"
                                 : "Pending"},
                      {"job", seen && task.job.valid() ? JobName(task.job) : ""},
                      {"gpus", GpusIn(state_.resource_names(), counted.amounts())}});
    }
    return pods;
  }

  [[nodiscard]] bool Sees(const Task& task) const {
    return scope_.Sees(std::string_view(task.name).substr(0, task.name.find('/')));
  }

  const ClusterFeed& feed_;
  const Scope& scope_;
  const ClusterState& state_;
  const NodeId node_;
  const NodeSpec& spec_;
  const std::vector<TaskId> tasks_;
};

}  // namespace

std::string AnswerHello(const HelloFacts& facts,
                        const SchedulerConfig& config,
                        const ClusterState& state,
                        const Viewer& viewer) {
  AnswerJson json = {{"version", 1},
                     {"strata", facts.version},
                     {"cluster", facts.cluster},
                     {"user", viewer.user},
                     {"scope", "cluster"},
                     {"queues", viewer.scope.queues},
                     {"plugins", AnswerJson::array()},
                     {"resources", AnswerJson::array()},
                     {"tiers", AnswerJson::array()}};
  if (!viewer.scope.everything) json["scope"] = viewer.scope.namespaces;
  for (const auto& tier : config.tiers) {
    for (const PluginConfig& plugin : tier) json["plugins"].push_back(plugin.name);
  }
  for (const ResourceId id : inspect::ShownResourceIds(state)) {
    json["resources"].push_back(state.resource_names().name(id));
  }
  for (const std::int32_t tier : state.tree().tiers()) {
    const auto of_tier = state.tree().OfTier(tier);
    const std::string name = of_tier.empty() ? "" : state.tree().at(of_tier.front()).tier_name;
    json["tiers"].push_back({{"tier", tier}, {"tierName", name}});
  }
  return DumpJson(json) + "\n";
}

std::string AnswerQueues(const ClusterFeed& feed,
                         const SchedulerConfig& config,
                         const Scope& scope) {
  const ClusterState& state = feed.state();
  std::vector<QueueReport::Job> jobs;
  for (const JobId id : state.workload().jobs()) {
    const Job& job = state.workload().job(id);
    if (!scope.Sees(job.spec.name.substr(0, job.spec.name.find('/')))) continue;
    QueueReport::Job& row = jobs.emplace_back();
    row.name = job.spec.name;
    row.phase = ToString(job.phase);
    const objects::PodGroup* group = feed.FindGroup(job.spec.name);
    if (group == nullptr || job.counts.Of(TaskStatus::kPending) == 0) continue;
    const auto* waits = objects::FindCondition(group->conditions, "Unschedulable");
    if (waits == nullptr || waits->status != "True") continue;
    row.reason = waits->reason;
    row.message = waits->message;
  }
  return RenderJson(MakeQueueReport(state, config, jobs), state.resource_names());
}

Result<std::string> AnswerNode(const ClusterFeed& feed, std::string_view name, const Scope& scope) {
  const auto node = feed.state().nodes().Find(name);
  if (!node) return Fail(Code::kNotFound, fmt::format("node \"{}\" not found", name));
  return NodeTeller(feed, *node, scope).Tell();
}

Result<std::string> AnswerFit(const ClusterState& state,
                              const ClusterColumns& columns,
                              const Stamp& stamp,
                              std::string_view shape) {
  objects::ResourceList pod = columns.pod;
  if (!shape.empty()) {
    auto parsed = ParsePodShape(shape);
    if (!parsed) return tl::unexpected<Error>(std::move(parsed).error().Context("pod"));
    pod = *std::move(parsed);
  }
  TRY_ASSIGN(const std::vector<std::int64_t> fits, CountPodsThatFit(state, pod));
  AnswerJson pods = AnswerJson::array();
  for (const std::string& name : columns.hypernodes.name) {
    const auto id = state.tree().Find(name);
    pods.push_back(id ? fits[id->index()] : 0);
  }
  const GpuSums sums = SumGpus(state);
  TRY_ASSIGN(const FragmentationReport fragmentation, MakeFragmentationReport(state, pod));
  std::int64_t gpus_each = 0;
  for (const auto& [name, quantity] : pod) {
    if (name.ends_with("/gpu")) gpus_each += quantity.Value().value_or(0);
  }
  AnswerJson json = {{"epoch", stamp.epoch},
                     {"revision", stamp.revision},
                     {"pod", ShapeJson(pod)},
                     {"tiers", TiersJson(BestOfTiers(state.tree(), fits))},
                     {"pods", std::move(pods)},
                     {"wholeNodes", sums.whole_nodes},
                     {"stranded", sums.stranded},
                     {"packed", gpus_each > 0 ? sums.free / gpus_each : 0},
                     {"fragmentation", ToJson(fragmentation)}};
  return DumpJson(json) + "\n";
}

}  // namespace strata::page
