#include "replay/fabric.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "model/gpu_amounts.h"
#include "replay/formats/table.h"

namespace strata::replay {
namespace {

constexpr std::int64_t kMebibyte = 1 << 20U;
// What a node has of an amount that is not counted: never the reason that something does not fit.
constexpr std::int64_t kPlenty = 1'000'000'000;

// Gives each name of a level its index, in the order of appearance.
class DomainNames {
 public:
  explicit DomainNames(Fabric::Level& level) : level_(level) {}

  void AddNode(const std::string& domain) {
    const auto [known, added] =
        index_.emplace(domain, static_cast<DomainIndex>(level_.domains.size()));
    if (added) level_.domains.push_back(domain);
    level_.of_node.push_back(known->second);
  }
  void AddNodeWithout() { level_.of_node.push_back(Fabric::kNoDomain); }

 private:
  Fabric::Level& level_;
  std::map<std::string, DomainIndex> index_;
};

HyperNodeMember Exact(HyperNodeMember::Kind kind, std::string name) {
  HyperNodeMember member{.kind = kind, .selector = {}};
  member.selector.emplace<HyperNodeMember::Exact>().name = std::move(name);
  return member;
}

std::string HyperNodeName(const Fabric::Level& level, DomainIndex domain) {
  return fmt::format("tier{}.{}", level.tier, level.domains[domain]);
}

// The HyperNodes of one level: nodes at the lowest one, domains of the level below above it.
void AddLevel(const Fabric& fabric, std::size_t at, ClusterState& state) {
  const Fabric::Level& level = fabric.levels[at];
  std::vector<HyperNodeSpec> specs(level.domains.size());
  std::vector<std::set<std::string>> children(level.domains.size());
  for (NodeIndex node = 0; node < fabric.nodes.size(); ++node) {
    const DomainIndex domain = level.of_node[node];
    if (domain == Fabric::kNoDomain) continue;
    const Fabric::Level* below = at == 0 ? nullptr : &fabric.levels[at - 1];
    if (below == nullptr || below->of_node[node] == Fabric::kNoDomain) {
      specs[domain].members.push_back(Exact(HyperNodeMember::Kind::kNode, fabric.nodes[node].name));
    } else {
      children[domain].insert(HyperNodeName(*below, below->of_node[node]));
    }
  }
  for (DomainIndex domain = 0; domain < specs.size(); ++domain) {
    HyperNodeSpec& spec = specs[domain];
    spec.name = HyperNodeName(level, domain);
    spec.tier = level.tier;
    spec.tier_name = level.name;
    for (const std::string& child : children[domain]) {
      spec.members.push_back(Exact(HyperNodeMember::Kind::kHyperNode, child));
    }
    state.UpsertHyperNode(std::move(spec));
  }
}

}  // namespace

std::int64_t Fabric::TotalGpus() const {
  std::int64_t sum = 0;
  for (const Node& node : nodes) sum += node.gpus;
  return sum;
}

std::int32_t Fabric::TierOf(std::size_t level) const {
  if (level < levels.size()) return levels[level].tier;
  return levels.empty() ? 1 : levels.back().tier + 1;
}

Result<Fabric> ReadLingjun(std::string_view path,
                           std::string_view text,
                           std::string_view psw,
                           std::int32_t gpus) {
  TRY_ASSIGN(Table table, Table::Open(path, text));
  for (const char* column : {"ip", "DSW", "PSW", "ASW"}) {
    if (!table.Has(column)) return table.Bad(column, "missing from the header (ip,DSW,PSW,ASW)");
  }
  Fabric fabric;
  fabric.levels = {{.tier = 1, .name = "ASW", .domains = {}, .of_node = {}},
                   {.tier = 2, .name = "PSW", .domains = {}, .of_node = {}},
                   {.tier = 3, .name = "DSW", .domains = {}, .of_node = {}}};
  std::vector<DomainNames> names;
  for (Fabric::Level& level : fabric.levels) names.emplace_back(level);
  std::set<std::string> known;
  while (true) {
    TRY_ASSIGN(const bool more, table.Next());
    if (!more) break;
    if (!psw.empty() && table.Text("PSW") != psw) continue;
    for (const char* column : {"ip", "DSW", "PSW", "ASW"}) {
      if (table.Text(column).empty()) return table.Want(column, "a name");
    }
    if (!known.emplace(table.Text("ip")).second) return table.Want("ip", "a host named once");
    fabric.nodes.push_back({.name = std::string(table.Text("ip")),
                            .gpus = gpus,
                            .cpu_milli = 0,
                            .memory = 0,
                            .gpu_model = ""});
    const std::string core(table.Text("DSW"));
    const std::string aggregation = core + "." + std::string(table.Text("PSW"));
    names[0].AddNode(aggregation + "." + std::string(table.Text("ASW")));
    names[1].AddNode(aggregation);
    names[2].AddNode(core);
  }
  if (!fabric.nodes.empty()) return fabric;
  return Fail(Code::kInvalidArgument,
              psw.empty() ? fmt::format("{}: no hosts", path)
                          : fmt::format("{}: no hosts with PSW \"{}\"", path, psw));
}

Result<Fabric> ReadOpenbNodes(std::string_view path, std::string_view text) {
  TRY_ASSIGN(Table table, Table::Open(path, text));
  for (const char* column : {"sn", "cpu_milli", "memory_mib", "gpu", "model"}) {
    if (!table.Has(column)) {
      return table.Bad(column, "missing from the header (sn,cpu_milli,memory_mib,gpu,model)");
    }
  }
  Fabric fabric;
  std::set<std::string> known;
  while (true) {
    TRY_ASSIGN(const bool more, table.Next());
    if (!more) break;
    Fabric::Node node;
    node.name = table.Text("sn");
    if (node.name.empty()) return table.Want("sn", "a name");
    if (!known.insert(node.name).second) return table.Want("sn", "a node named once");
    node.gpu_model = table.Text("model");
    TRY_ASSIGN(node.cpu_milli, table.Count("cpu_milli", 0));
    TRY_ASSIGN(const std::int32_t mebibytes, table.Count("memory_mib", 0));
    TRY_ASSIGN(node.gpus, table.Count("gpu", 0));
    if (node.gpus > 64) return table.Want("gpu", "at most 64 GPUs");
    node.memory = mebibytes * kMebibyte;
    if (node.gpus > 0) fabric.nodes.push_back(std::move(node));
  }
  if (!fabric.nodes.empty()) return fabric;
  return Fail(Code::kInvalidArgument, fmt::format("{}: no nodes with GPUs", path));
}

Fabric MakeFabric(std::int64_t spines, std::int64_t racks, std::int64_t nodes, std::int32_t gpus) {
  Fabric fabric;
  fabric.levels = {{.tier = 1, .name = "rack", .domains = {}, .of_node = {}},
                   {.tier = 2, .name = "spine", .domains = {}, .of_node = {}}};
  std::vector<DomainNames> names;
  for (Fabric::Level& level : fabric.levels) names.emplace_back(level);
  for (std::int64_t node = 0; node < spines * racks * nodes; ++node) {
    fabric.nodes.push_back({.name = fmt::format("node-{}", node),
                            .gpus = gpus,
                            .cpu_milli = 0,
                            .memory = 0,
                            .gpu_model = ""});
    names[0].AddNode(fmt::format("rack-{}", node / nodes));
    names[1].AddNode(fmt::format("spine-{}", node / nodes / racks));
  }
  return fabric;
}

Fabric FabricOf(const ClusterState& state) {
  Fabric fabric;
  const HyperNodeTree& tree = state.tree();
  for (const std::int32_t tier : tree.tiers()) {
    if (tree.OfTier(tier).empty() || tree.OfTier(tier).front() == tree.top()) continue;
    fabric.levels.push_back({.tier = tier, .name = "", .domains = {}, .of_node = {}});
    fabric.levels.back().name = tree.at(tree.OfTier(tier).front()).tier_name;
  }
  std::vector<NodeId> nodes(state.nodes().all().begin(), state.nodes().all().end());
  std::sort(nodes.begin(), nodes.end(), [&](NodeId a, NodeId b) {
    return tree.NameRank(a) < tree.NameRank(b);
  });
  std::vector<DomainNames> names;
  for (Fabric::Level& level : fabric.levels) names.emplace_back(level);
  const auto gpu = state.resource_names().Find(kGpuResource);
  for (const NodeId id : nodes) {
    const Resources& has = state.nodes().spec(id).allocatable;
    fabric.nodes.push_back({.name = state.nodes().spec(id).name,
                            .gpus = gpu ? static_cast<std::int32_t>(has.Get(*gpu) / 1000) : 0,
                            .cpu_milli = has.Get(kCpu),
                            .memory = has.Get(kMemory),
                            .gpu_model = ""});
    for (std::size_t level = 0; level < fabric.levels.size(); ++level) {
      std::optional<std::string> domain;
      for (const HyperNodeId above : tree.HyperNodesOf(tree.ChainOf(id))) {
        const HyperNodeTree::HyperNode& hypernode = tree.at(above);
        if (above != tree.top() && hypernode.tier == fabric.levels[level].tier && !domain) {
          domain = hypernode.name;
        }
      }
      domain ? names[level].AddNode(*domain) : names[level].AddNodeWithout();
    }
  }
  return fabric;
}

Status FillState(const Fabric& fabric, ClusterState& state) {
  const ResourceId gpu = state.resource_names().Intern(kGpuResource);
  state.GrowTables();
  for (const Fabric::Node& node : fabric.nodes) {
    NodeSpec spec;
    spec.name = node.name;
    spec.allocatable.Set(gpu, Amount{node.gpus} * 1000);
    spec.allocatable.Set(kPods, kMaxPodsPerNode);
    spec.allocatable.Set(kCpu, node.cpu_milli > 0 ? node.cpu_milli : kPlenty);
    spec.allocatable.Set(kMemory, node.memory > 0 ? node.memory : kPlenty * 1000);
    const auto added = state.UpsertNode(std::move(spec));
    if (!added) return tl::unexpected<Error>(added.error());
  }
  for (std::size_t level = 0; level < fabric.levels.size(); ++level) AddLevel(fabric, level, state);
  return {};
}

}  // namespace strata::replay
