#include "page/cluster_columns.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/timestamp.h"
#include "inspect/usage_report.h"
#include "page/gpu_cells.h"
#include "report/gpu_sums.h"
#include "report/names.h"

namespace strata::page {
namespace {

constexpr std::int64_t kMilli = 1000;

// Cells of a holder or of a column of positions.
Place PlaceAt(std::size_t index) {
  return static_cast<Place>(index);
}

// Where HyperNodes and nodes stand in their columns.
class Layout {
 public:
  explicit Layout(const ClusterState& state) : tree_(state.tree()) {
    places_.assign(tree_.hypernodes().size(), kNowhere);
    AddBelow(tree_.top());
    for (std::size_t i = 0; i < tree_.hypernodes().size(); ++i) {
      if (!tree_.hypernodes()[i].in_tree) Add(IdAt<HyperNodeId>(i));
    }
    AddNodes(state);
  }

  [[nodiscard]] const std::vector<HyperNodeId>& hypernodes() const { return hypernodes_; }
  [[nodiscard]] const std::vector<NodeId>& nodes() const { return nodes_; }
  // kNowhere for the top.
  [[nodiscard]] Place At(HyperNodeId id) const {
    return id.valid() ? places_[id.index()] : kNowhere;
  }

 private:
  void Add(HyperNodeId id) {
    places_[id.index()] = PlaceAt(hypernodes_.size());
    hypernodes_.push_back(id);
  }

  void AddBelow(HyperNodeId id) {
    if (id != tree_.top()) Add(id);
    std::vector<HyperNodeId> children = tree_.at(id).children;
    std::sort(children.begin(), children.end(), [&](HyperNodeId a, HyperNodeId b) {
      return NaturalLess(tree_.at(a).name, tree_.at(b).name);
    });
    for (const HyperNodeId child : children) AddBelow(child);
  }

  // By leaf; those without one come last.
  void AddNodes(const ClusterState& state) {
    std::vector<std::vector<NodeId>> by_leaf(hypernodes_.size() + 1);
    for (const NodeId node : state.nodes().all()) {
      const Place leaf = At(tree_.LeafOf(tree_.ChainOf(node)));
      by_leaf[leaf == kNowhere ? hypernodes_.size() : static_cast<std::size_t>(leaf)].push_back(
          node);
    }
    for (std::vector<NodeId>& nodes : by_leaf) {
      std::sort(nodes.begin(), nodes.end(), [&](NodeId a, NodeId b) {
        return NaturalLess(state.nodes().spec(a).name, state.nodes().spec(b).name);
      });
      nodes_.insert(nodes_.end(), nodes.begin(), nodes.end());
    }
  }

  const HyperNodeTree& tree_;
  std::vector<HyperNodeId> hypernodes_;
  std::vector<Place> places_;  // by HyperNodeId
  std::vector<NodeId> nodes_;
};

void AddHyperNodes(const ClusterState& state, const Layout& layout, ClusterColumns& out) {
  const HyperNodeTree& tree = state.tree();
  out.pod = DefaultPodShape(state);
  const auto counted = CountPodsThatFit(state, out.pod);
  const std::vector<std::int64_t> fits =
      counted ? *counted : std::vector<std::int64_t>(tree.hypernodes().size(), 0);
  out.tiers = BestOfTiers(tree, fits);
  HyperNodeColumns& columns = out.hypernodes;
  for (const HyperNodeId id : layout.hypernodes()) {
    const HyperNodeTree::HyperNode& hypernode = tree.at(id);
    if (!hypernode.reason.empty()) columns.reason.emplace(columns.name.size(), hypernode.reason);
    columns.name.push_back(hypernode.name);
    columns.tier.push_back(hypernode.tier);
    columns.parent.push_back(layout.At(hypernode.parent));
    columns.nodes.push_back(static_cast<std::int64_t>(tree.NodesOf(id).size()));
    columns.fits.push_back(fits[id.index()]);
  }
}

// The other HyperNodes of the leaf's tier.
std::vector<Place> OtherLeaves(const HyperNodeTree& tree, const Layout& layout, NodeId node) {
  std::vector<Place> others;
  const auto above = tree.HyperNodesOf(tree.ChainOf(node));
  for (const HyperNodeId id : above.subspan(1)) {
    if (id == tree.top() || tree.at(id).tier != tree.at(above.front()).tier) break;
    others.push_back(layout.At(id));
  }
  return others;
}

Place PlaceOfLinks(const NodeGpus& gpus,
                   std::vector<const PairScores*>& known,
                   std::vector<LinkShape>& shapes) {
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (*known[i] == gpus.scores) return PlaceAt(i);
  }
  known.push_back(&gpus.scores);
  shapes.push_back(LinkShapeOf(gpus));
  return PlaceAt(shapes.size() - 1);
}

std::vector<std::vector<double>> AmountColumns(const ClusterState& state,
                                               const Layout& layout,
                                               const std::vector<ResourceId>& resources,
                                               std::span<const Amount> (NodeTable::*amounts)(NodeId)
                                                   const) {
  std::vector<std::vector<double>> columns;
  for (const ResourceId resource : resources) {
    const std::string& name = state.resource_names().name(resource);
    std::vector<double>& column = columns.emplace_back();
    column.reserve(layout.nodes().size());
    for (const NodeId node : layout.nodes()) {
      const auto row = (state.nodes().*amounts)(node);
      column.push_back(
          PlainNumber(name, resource.index() < row.size() ? row[resource.index()] : 0));
    }
  }
  return columns;
}

void AddNodes(const ClusterState& state,
              const Layout& layout,
              const PlaceOf& place_of,
              ClusterColumns& out) {
  const HyperNodeTree& tree = state.tree();
  const std::vector<ResourceId> resources = inspect::ShownResourceIds(state);
  for (const ResourceId id : resources) out.resources.push_back(state.resource_names().name(id));
  out.nodes.used = AmountColumns(state, layout, resources, &NodeTable::Used);
  out.nodes.allocatable = AmountColumns(state, layout, resources, &NodeTable::Allocatable);
  std::vector<const PairScores*> known;
  for (const NodeId node : layout.nodes()) {
    const NodeSpec& spec = state.nodes().spec(node);
    const std::size_t at = out.nodes.name.size();
    out.nodes.name.push_back(spec.name);
    out.nodes.leaf.push_back(layout.At(tree.LeafOf(tree.ChainOf(node))));
    std::vector<Place> others = OtherLeaves(tree, layout, node);
    if (!others.empty()) out.nodes.also.emplace(at, std::move(others));
    std::string note = inspect::NodeNote(spec);
    if (!note.empty()) out.nodes.note.emplace(at, std::move(note));
    out.nodes.gpus.push_back(static_cast<std::int64_t>(CountCells(state, node)));
    const bool has_links = spec.gpus && spec.gpus->scores.size() > 1;
    out.nodes.links.push_back(has_links ? PlaceOfLinks(*spec.gpus, known, out.link_shapes)
                                        : kNowhere);
    AppendCells(state, node, place_of, out.gpus);
  }
}

// What the pods of a job ask for, or have.
std::int64_t GpusOf(const ClusterState& state, const Job& job) {
  Resources sum;
  for (const SubJob& sub_job : job.sub_jobs) {
    for (const TaskId task : sub_job.tasks) sum.AddSaturating(state.workload().CountedOf(task));
  }
  return GpusIn(state.resource_names(), sum.amounts());
}

// The words of the condition that says why a job waits.
void AddWords(const ClusterState& state,
              const Layout& layout,
              const objects::PodGroup& group,
              std::size_t at,
              JobColumns& out) {
  const objects::Condition* waits = objects::FindCondition(group.conditions, "Unschedulable");
  if (waits == nullptr || waits->status != "True") return;
  out.reason[at] = waits->reason;
  WaitWords words = ReadWaitWords(waits->message);
  if (!words.message.empty()) out.message.emplace(at, std::move(words.message));
  if (!words.helps.empty()) out.helps.emplace(at, std::move(words.helps));
  std::vector<NearMiss> nearest;
  for (const WaitWords::Miss& miss : words.nearest) {
    const auto id = state.tree().Find(miss.hypernode);
    if (!id || layout.At(*id) == kNowhere) continue;
    nearest.push_back(
        {.hypernode = layout.At(*id), .tier = miss.tier, .takes = miss.takes, .of = miss.of});
  }
  if (!nearest.empty()) out.nearest.emplace(at, std::move(nearest));
}

bool Waits(const Job& job) {
  return job.phase == JobPhase::kPending || job.phase == JobPhase::kInqueue;
}

void Resize(std::size_t size, JobColumns& jobs) {
  for (auto* column : {&jobs.ns,
                       &jobs.name,
                       &jobs.pod_group,
                       &jobs.phase,
                       &jobs.queue,
                       &jobs.created,
                       &jobs.reason}) {
    column->resize(size);
  }
  for (auto* column : {&jobs.ready, &jobs.total, &jobs.min_available, &jobs.gpus}) {
    column->resize(size);
  }
  jobs.hypernode.resize(size, kNowhere);
  jobs.tier.resize(size);
}

void AddJob(const ClusterFeed& feed,
            const Layout& layout,
            const Job& job,
            std::size_t at,
            JobColumns& out) {
  const ClusterState& state = feed.state();
  const std::size_t slash = job.spec.name.find('/');
  out.ns[at] = job.spec.name.substr(0, slash);
  out.pod_group[at] = job.spec.name.substr(slash + 1);
  out.name[at] = out.pod_group[at];
  out.phase[at] = ToString(job.phase);
  out.queue[at] = job.spec.queue;
  out.ready[at] = job.counts.Of(TaskStatus::kRunning) + job.counts.Of(TaskStatus::kSucceeded);
  out.total[at] = std::max(job.spec.min_available, job.counts.Total());
  out.min_available[at] = job.spec.min_available;
  out.gpus[at] = GpusOf(state, job);
  if (job.spec.created != Time{}) out.created[at] = FormatTimestamp(job.spec.created);
  const HyperNodeId domain = DomainOf(state, job);
  if (domain.valid() && domain != state.tree().top()) {
    out.hypernode[at] = layout.At(domain);
    out.tier[at] = state.tree().at(domain).tier;
  }
  const objects::PodGroup* group = feed.FindGroup(job.spec.name);
  if (group == nullptr) return;
  out.name[at] = NameOfJob(*group);
  for (const char* key : {"strata.sh/user", "user"}) {
    const std::string* user = objects::Find(group->meta.labels, key);
    if (user == nullptr || user->empty()) continue;
    out.user.emplace(at, *user);
    break;
  }
  if (Waits(job)) AddWords(state, layout, *group, at, out);
}

}  // namespace

bool HaveSameLayout(const ClusterColumns& a, const ClusterColumns& b) {
  return a.resources == b.resources && a.hypernodes.name == b.hypernodes.name &&
         a.hypernodes.tier == b.hypernodes.tier && a.hypernodes.parent == b.hypernodes.parent &&
         a.nodes.name == b.nodes.name && a.nodes.leaf == b.nodes.leaf &&
         a.nodes.also == b.nodes.also && a.nodes.gpus == b.nodes.gpus &&
         a.nodes.links == b.nodes.links && a.link_shapes == b.link_shapes;
}

ClusterColumns ColumnsMaker::Make(const ClusterFeed& feed) {
  const ClusterState& state = feed.state();
  const WorkloadTable& workload = state.workload();
  std::vector<std::pair<JobId, std::size_t>> jobs;
  std::vector<Place> by_id;
  for (const JobId id : workload.jobs()) {
    const auto [found, is_new] =
        places_.try_emplace(workload.job(id).spec.name, PlaceAt(places_.size()));
    jobs.emplace_back(id, static_cast<std::size_t>(found->second));
    if (by_id.size() <= id.index()) by_id.resize(id.index() + 1, kNowhere);
    by_id[id.index()] = found->second;
  }
  const Layout layout(state);
  ClusterColumns columns;
  AddHyperNodes(state, layout, columns);
  AddNodes(
      state, layout, [&by_id](JobId id) { return by_id[id.index()]; }, columns);
  Resize(places_.size(), columns.jobs);
  for (const auto& [id, at] : jobs) AddJob(feed, layout, workload.job(id), at, columns.jobs);
  return columns;
}

Place ColumnsMaker::PlaceOfJob(std::string_view name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? kNowhere : found->second;
}

double PlainNumber(std::string_view resource, Amount amount) {
  const auto number = static_cast<double>(amount);
  return UnitOf(resource) == ResourceUnit::kMilli ? number / static_cast<double>(kMilli) : number;
}

std::string NameOfJob(const objects::PodGroup& group) {
  for (const objects::OwnerReference& owner : group.meta.owners) {
    if (owner.controller && owner.kind == "Job" &&
        owner.api_version.starts_with("batch.volcano.sh/")) {
      return owner.name;
    }
  }
  return group.meta.name;
}

HyperNodeId DomainOf(const ClusterState& state, const Job& job) {
  const HyperNodeTree& tree = state.tree();
  HyperNodeId common;
  NodeId last;
  for (const SubJob& sub_job : job.sub_jobs) {
    for (const TaskId id : sub_job.tasks) {
      const NodeId node = state.workload().task(id).node;
      if (!node.valid() || node == last) continue;
      last = node;
      common = tree.Lca(common, tree.LeafOf(tree.ChainOf(node)));
    }
  }
  return common;
}

LinkShape LinkShapeOf(const NodeGpus& gpus) {
  LinkShape shape;
  shape.gpus = gpus.gpus.size();
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < gpus.gpus.size(); ++i) all.push_back(i);
  if (gpus.scores.size() != gpus.gpus.size()) return shape;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      const std::string link =
          gpus.scores.IsKnown(i, j) ? DescribeScore(gpus.scores.Get(i, j)) : "?";
      shape.links.push_back(fmt::format("{}-{} {}", i, j, link));
    }
  }
  shape.groups = NvlinkIslands(gpus.scores, all);
  return shape;
}

}  // namespace strata::page
