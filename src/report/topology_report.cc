#include "report/topology_report.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "convert/amounts.h"
#include "convert/gpu_request.h"
#include "objects/volcano_keys.h"
#include "report/gpu_sums.h"
#include "report/names.h"
#include "sched/devices/gpu_fit.h"
#include "sched/need.h"
#include "sched/node_fragmentation.h"
#include "whatif/changes.h"

namespace strata {
namespace {

constexpr std::size_t kShownMembers = 4;

// cpu, memory and what only some nodes have: GPUs, NPUs, RDMA devices.
std::vector<ResourceId> ShownResources(const ClusterState& state) {
  const ResourceNames& names = state.resource_names();
  std::vector<ResourceId> shown = {kCpu, kMemory};
  std::map<std::string_view, ResourceId> devices;
  const auto total = state.sums().Allocatable(state.tree().top());
  for (std::size_t i = 0; i < total.size(); ++i) {
    const auto id = IdAt<ResourceId>(i);
    const bool is_device = names.name(id).find('/') != std::string::npos;
    if (is_device && total[i] > 0) devices.emplace(names.name(id), id);
  }
  for (const auto& [name, id] : devices) shown.push_back(id);
  return shown;
}

// How many pods that ask for `request` find room in `idle`.
std::int64_t CountFits(const Resources& request, std::span<const Amount> idle) {
  if (!request.absent().empty()) return 0;
  std::int64_t fits = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < request.size(); ++i) {
    const Amount each = request.amounts()[i];
    if (each == 0) continue;
    const Amount there = i < idle.size() ? std::max<Amount>(idle[i], 0) : 0;
    fits = std::min(fits, there / each);
  }
  return fits;
}

TopologyReport::GpuNode GpuNodeOf(const ClusterState& state, NodeId node) {
  const NodeSpec& spec = state.nodes().spec(node);
  const std::vector<std::size_t> free = FreeGpus(state, node);
  const HyperNodeTree& tree = state.tree();
  TopologyReport::GpuNode out{.node = spec.name,
                              .leaf = tree.at(tree.LeafOf(tree.ChainOf(node))).name,
                              .gpus = spec.gpus->gpus.size(),
                              .free = free.size(),
                              .sets = {},
                              .problem = spec.gpus->hami.problem.empty()
                                             ? spec.gpus->volcano.problem
                                             : spec.gpus->hami.problem};
  if (free.empty()) return out;
  for (const std::vector<std::size_t>& island : NvlinkIslands(spec.gpus->scores, free)) {
    std::vector<std::int32_t>& set = out.sets.emplace_back();
    for (const std::size_t at : island) set.push_back(spec.gpus->gpus[at].index);
  }
  return out;
}

// What a pod of the shape asks for.
struct ShapeRequest {
  Resources amounts;
  std::optional<GpuRequest> gpus;
};

// Registered GPUs are counted themselves: the node's allocatable has their slots.
std::int64_t FitsOn(const ClusterState& state, NodeId node, const ShapeRequest& request) {
  const std::int64_t fits = CountFits(request.amounts, state.nodes().Idle(node));
  const auto& gpus = state.nodes().spec(node).gpus;
  if (!request.gpus || fits == 0) return fits;
  const GpuDialect dialect = request.gpus->dialect;
  if (!gpus || !gpus->OfferIn(dialect).registered) {
    return dialect == GpuDialect::kHami ? fits : 0;
  }
  constexpr std::int64_t kMax = std::numeric_limits<std::uint32_t>::max();
  const auto max = static_cast<std::uint32_t>(std::min(fits, kMax));
  return CountGpuFits(*request.gpus, *gpus, GpuUsageOn(state, node), max);
}

// By HyperNode.
std::vector<std::int64_t> CountPods(const ClusterState& state, const ShapeRequest& request) {
  const HyperNodeTree& tree = state.tree();
  std::vector<std::int64_t> pods(tree.hypernodes().size(), 0);
  for (const NodeId node : state.nodes().all()) {
    const NodeSpec& spec = state.nodes().spec(node);
    if (spec.unschedulable || FirstUntolerated(spec.taints, {}) != nullptr) continue;
    const std::int64_t fits = FitsOn(state, node, request);
    for (const HyperNodeId id : tree.HyperNodesOf(tree.ChainOf(node))) pods[id.index()] += fits;
  }
  return pods;
}

class Reporter {
 public:
  Reporter(const ClusterState& state, ShapeRequest request, TopologyReport& report)
      : state_(state),
        tree_(state.tree()),
        shown_(ShownResources(state)),
        request_(std::move(request)),
        report_(report) {}

  void Report() {
    for (const ResourceId id : shown_) {
      report_.resources.push_back(state_.resource_names().name(id));
    }
    report_.ready = tree_.ready();
    pods_ = CountPods(state_, request_);
    CountClosed();
    AddGpuNodes();
    AddSubtree(tree_.top(), true);
    const auto all = tree_.hypernodes();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i].in_tree) AddRow(IdAt<HyperNodeId>(i), 1, true);
    }
    report_.tiers = BestOfTiers(tree_, pods_);
    if (!tree_.has_hypernodes()) return;
    for (const NodeId node : tree_.NodesOf(tree_.top())) {
      if (tree_.LeafOf(tree_.ChainOf(node)) != tree_.top()) continue;
      report_.loose.push_back(state_.nodes().spec(node).name);
    }
    std::sort(report_.loose.begin(), report_.loose.end(), NaturalLess);
  }

 private:
  // What nodes that take no pods have, by HyperNode.
  struct Closed {
    std::size_t cordoned = 0;
    std::size_t not_ready = 0;
    std::map<std::size_t, Amount> free;  // by resource
  };

  void CountClosed() {
    closed_.assign(tree_.hypernodes().size(), {});
    for (const NodeId node : state_.nodes().all()) {
      const NodeMark mark = MarkOf(state_.nodes().spec(node));
      if (mark == NodeMark::kOpen) continue;
      const std::vector<Amount> free = FreeOn(state_, node);
      for (const HyperNodeId id : tree_.HyperNodesOf(tree_.ChainOf(node))) {
        Closed& closed = closed_[id.index()];
        ++(mark == NodeMark::kCordoned ? closed.cordoned : closed.not_ready);
        for (std::size_t i = 0; i < free.size(); ++i) closed.free[i] += free[i];
      }
    }
  }

  // Lists the nodes that register their GPUs.
  void AddGpuNodes() {
    for (const NodeId node : state_.nodes().all()) {
      if (!state_.nodes().spec(node).gpus) continue;
      report_.gpus.push_back(GpuNodeOf(state_, node));
    }
    std::sort(report_.gpus.begin(), report_.gpus.end(), [](const auto& a, const auto& b) {
      return NaturalLess(a.node, b.node);
    });
  }

  void AddSubtree(HyperNodeId id, bool last) {
    AddRow(id, tree_.at(id).depth, last);
    std::vector<HyperNodeId> children = tree_.at(id).children;
    std::sort(children.begin(), children.end(), [&](HyperNodeId a, HyperNodeId b) {
      return NaturalLess(tree_.at(a).name, tree_.at(b).name);
    });
    for (const HyperNodeId child : children) AddSubtree(child, child == children.back());
  }

  void AddRow(HyperNodeId id, std::size_t depth, bool last) {
    const HyperNodeTree::HyperNode& hypernode = tree_.at(id);
    TopologyReport::Row row;
    row.name = hypernode.name;
    row.tier = hypernode.tier;
    row.tier_name = hypernode.tier_name;
    if (hypernode.parent.valid() && hypernode.parent != tree_.top()) {
      row.parent = tree_.at(hypernode.parent).name;
    }
    row.depth = depth;
    row.last = last;
    const auto nodes = tree_.NodesOf(id);
    row.nodes = nodes.size();
    if (hypernode.children.empty()) {
      for (const NodeId node : nodes) row.members.push_back(state_.nodes().spec(node).name);
      const std::size_t shown = std::min(nodes.size(), kShownMembers);
      std::partial_sort(row.members.begin(),
                        row.members.begin() + static_cast<std::ptrdiff_t>(shown),
                        row.members.end(),
                        NaturalLess);
      row.members.resize(shown);
    }
    Closed& closed = closed_[id.index()];
    row.cordoned = closed.cordoned;
    row.not_ready = closed.not_ready;
    row.ready = hypernode.ready;
    row.reason = hypernode.reason;
    const std::vector<Amount> free = FreeBelow(state_, id);
    for (const ResourceId resource : shown_) {
      row.used.push_back(state_.sums().Used(id)[resource.index()]);
      row.free.push_back(free[resource.index()] - closed.free[resource.index()]);
    }
    row.pods = pods_[id.index()];
    report_.rows.push_back(std::move(row));
  }

  const ClusterState& state_;
  const HyperNodeTree& tree_;
  std::vector<ResourceId> shown_;
  ShapeRequest request_;
  TopologyReport& report_;
  std::vector<std::int64_t> pods_;  // by HyperNode
  std::vector<Closed> closed_;      // likewise
};

Result<ShapeRequest> ToRequest(const objects::ResourceList& shape, ResourceNames names) {
  objects::Pod pod;
  objects::Container& container = pod.spec.containers.emplace_back();
  container.name = "main";
  container.requests = shape;
  AddDefaultGpuCounts(pod.spec);
  ShapeRequest request;
  TRY_ASSIGN(request.amounts, ToResources(container.requests, names));
  request.amounts.Set(kPods, 1);
  request.gpus = ReadGpuRequest(pod, nullptr);
  if (request.gpus && !request.gpus->problem.empty()) {
    // Nobody wrote the container.
    std::string problem = request.gpus->problem;
    if (problem.starts_with("container ")) problem.erase(0, problem.find(": ") + 2);
    return Fail(Code::kInvalidArgument, std::move(problem));
  }
  return request;
}

// What fits by tier, of the rows that are left.
std::vector<TopologyReport::TierFit> FitsOf(const std::vector<TopologyReport::Row>& rows) {
  std::map<std::int32_t, TopologyReport::TierFit> best;
  for (const TopologyReport::Row& row : rows) {
    const auto [found, is_new] = best.try_emplace(row.tier);
    if (!is_new && found->second.pods >= row.pods) continue;
    found->second = {
        .tier = row.tier, .tier_name = row.tier_name, .hypernode = row.name, .pods = row.pods};
  }
  std::vector<TopologyReport::TierFit> fits;
  fits.reserve(best.size());
  for (auto& [tier, fit] : best) fits.push_back(std::move(fit));
  return fits;
}

}  // namespace

NodeMark MarkOf(const NodeSpec& node) {
  const auto has = [&](bool (*is)(const Taint&)) {
    return std::any_of(node.taints.begin(), node.taints.end(), is);
  };
  if (has(IsUnready)) return NodeMark::kNotReady;
  return node.unschedulable || has(IsCordon) ? NodeMark::kCordoned : NodeMark::kOpen;
}

std::string DiscoveredLabel(const objects::HyperNode& hypernode) {
  const Labels& labels = hypernode.meta.labels;
  if (objects::Find(labels, objects::kTopologySourceKey) == nullptr) return "";
  const std::string* label = objects::Find(labels, hypernode.spec.tier_name);
  return label == nullptr ? "" : *label;
}

void AddLabels(const std::vector<objects::HyperNode>& hypernodes, TopologyReport& report) {
  std::map<std::string_view, const objects::HyperNode*> by_name;
  for (const objects::HyperNode& hypernode : hypernodes) {
    by_name[hypernode.meta.name] = &hypernode;
  }
  for (TopologyReport::Row& row : report.rows) {
    const auto found = by_name.find(row.name);
    if (found != by_name.end()) row.label = DiscoveredLabel(*found->second);
  }
}

Status Narrow(const TreeView& view, TopologyReport& report) {
  if (!view.under.empty()) {
    TRY(KeepUnder(view.under, report.rows));
    report.tiers = FitsOf(report.rows);
    report.loose.clear();
    report.fragmentation.reset();
    std::set<std::string_view> names;
    for (const TopologyReport::Row& row : report.rows) names.insert(row.name);
    std::erase_if(report.gpus, [&](const auto& node) { return !names.contains(node.leaf); });
  }
  if (!view.depth) return {};
  report.depth = *view.depth;
  report.hidden = CutBelow(report.depth, report.rows);
  return {};
}

Result<objects::ResourceList> ParsePodShape(std::string_view text) {
  objects::ResourceList shape;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    const std::size_t equals = part.find('=');
    if (equals == 0 || equals == std::string_view::npos) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("\"{}\": want NAME=AMOUNT, as in cpu=8,nvidia.com/gpu=8", part));
    }
    const std::string name(part.substr(0, equals));
    Result<Quantity> amount = Quantity::Parse(part.substr(equals + 1));
    if (!amount) return tl::unexpected(std::move(amount).error().Context(name));
    if (amount->IsNegative() || amount->IsZero()) {
      return Fail(Code::kInvalidArgument, name + ": want an amount above 0");
    }
    if (!shape.emplace(name, *amount).second) {
      return Fail(Code::kInvalidArgument, name + ": given twice");
    }
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  TRY(ToRequest(shape, ResourceNames()));
  return shape;
}

objects::ResourceList DefaultPodShape(const ClusterState& state) {
  const ResourceNames& names = state.resource_names();
  std::string best_name = "cpu";
  Amount best = 0;
  const auto consider = [&](ResourceId id) {
    for (const NodeId node : state.nodes().all()) {
      const Amount amount = state.nodes().Allocatable(node)[id.index()];
      if (amount <= best) continue;
      best = amount;
      best_name = names.name(id);
    }
  };
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names.name(IdAt<ResourceId>(i)).ends_with("/gpu")) consider(IdAt<ResourceId>(i));
  }
  if (best == 0) consider(kCpu);
  if (best == 0) return {};
  return {{best_name, ToQuantity(best_name, best)}};
}

Result<TopologyReport> MakeTopologyReport(const ClusterState& state,
                                          const objects::ResourceList& pod) {
  TopologyReport report;
  report.pod = pod;
  TRY_ASSIGN(ShapeRequest request, ToRequest(pod, state.resource_names()));
  Reporter(state, std::move(request), report).Report();
  return report;
}

Result<std::vector<std::int64_t>> CountPodsThatFit(const ClusterState& state,
                                                   const objects::ResourceList& pod) {
  TRY_ASSIGN(const ShapeRequest request, ToRequest(pod, state.resource_names()));
  return CountPods(state, request);
}

std::vector<TopologyReport::TierFit> BestOfTiers(const HyperNodeTree& tree,
                                                 const std::vector<std::int64_t>& pods) {
  std::vector<TopologyReport::TierFit> fits;
  for (const std::int32_t tier : tree.tiers()) {
    std::optional<HyperNodeId> best;
    for (const HyperNodeId id : tree.OfTier(tier)) {
      if (!best || pods[id.index()] > pods[best->index()]) best = id;
    }
    if (!best) continue;
    fits.push_back({.tier = tier,
                    .tier_name = tree.at(*best).tier_name,
                    .hypernode = tree.at(*best).name,
                    .pods = pods[best->index()]});
  }
  return fits;
}

}  // namespace strata
