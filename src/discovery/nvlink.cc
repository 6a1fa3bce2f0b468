#include "discovery/nvlink.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "discovery/hypernodes.h"
#include "discovery/naming.h"

namespace strata::discovery {
namespace {

using Kind = HyperNodeMember::Kind;

// The tree that a HyperNode of another source belongs to: a source has one, but each type of labels
// is a tree of its own.
std::string TreeKey(const objects::HyperNode& hypernode) {
  const Owner owner = OwnerOf(hypernode);
  std::string key = owner.source + (owner.name.empty() ? "" : "-" + owner.name);
  constexpr std::string_view kPrefix = "hypernode-";
  const std::size_t end = hypernode.meta.name.rfind("-tier");
  if (owner.source == "label" && hypernode.meta.name.starts_with(kPrefix) &&
      end != std::string::npos && end > kPrefix.size()) {
    key = owner.source + "-" + hypernode.meta.name.substr(kPrefix.size(), end - kPrefix.size());
  }
  return key;
}

class Joiner {
 public:
  Joiner(const Cliques& cliques, const Owner& owner, std::vector<objects::HyperNode>& hypernodes)
      : cliques_(cliques), owner_(owner), hypernodes_(hypernodes) {}

  void Run(std::vector<std::string>& notes) {
    std::map<std::string, std::vector<std::size_t>> trees;
    for (std::size_t at = 0; at < hypernodes_.size(); ++at) {
      if (OwnerOf(hypernodes_[at]).source != owner_.source) {
        trees[TreeKey(hypernodes_[at])].push_back(at);
      }
    }
    for (const auto& [key, members] : trees) {
      std::string obstacle;
      if (const std::optional<Homes> homes = FindHomes(members, obstacle)) {
        Insert(key, members, *homes);
      } else {
        notes.push_back(
            fmt::format("the tree of {} is not extended by cliques: {}", key, obstacle));
      }
    }
    MakeOwnTree();
  }

 private:
  using Homes = std::map<std::string, std::size_t>;  // clique -> leaf

  // The leaf of each clique that is in the tree; none when a leaf does not hold one whole.
  std::optional<Homes> FindHomes(const std::vector<std::size_t>& tree,
                                 std::string& obstacle) const {
    std::map<std::string, std::size_t> leaf_of;
    for (const std::size_t at : tree) {
      for (const std::string& node : ExactNames(hypernodes_[at].spec, Kind::kNode)) {
        leaf_of.emplace(node, at);
      }
    }
    Homes homes;
    for (const auto& [clique, nodes] : cliques_.nodes) {
      std::set<std::size_t> leaves;
      std::size_t inside = 0;
      for (const std::string& node : nodes) {
        const auto leaf = leaf_of.find(node);
        if (leaf == leaf_of.end()) continue;
        leaves.insert(leaf->second);
        ++inside;
      }
      if (inside == 0) continue;
      if (leaves.size() > 1 || inside < nodes.size()) {
        obstacle = fmt::format("clique {} is not whole in one leaf", clique);
        return std::nullopt;
      }
      homes.emplace(clique, *leaves.begin());
    }
    return homes;
  }

  void Insert(const std::string& key, const std::vector<std::size_t>& tree, const Homes& homes) {
    if (homes.empty()) return;
    for (const std::size_t at : tree) ++hypernodes_[at].spec.tier;
    for (const auto& [clique, leaf] : homes) {
      const std::vector<std::string>& nodes = cliques_.nodes.at(clique);
      std::vector<HyperNodeMember>& members = hypernodes_[leaf].spec.members;
      const auto moved = [&](const HyperNodeMember& member) {
        const auto* exact = std::get_if<HyperNodeMember::Exact>(&member.selector);
        return member.kind == Kind::kNode && exact != nullptr &&
               std::binary_search(nodes.begin(), nodes.end(), exact->name);
      };
      members.erase(std::remove_if(members.begin(), members.end(), moved), members.end());
      const std::string name = Name("-" + key, 1, clique);
      // Cliques come in order, and before the nodes without one.
      const auto place = std::find_if(members.begin(), members.end(), [](const auto& member) {
        return member.kind == Kind::kNode;
      });
      members.insert(place, ExactMember(Kind::kHyperNode, name));
      Add(name, 1, "clique", clique);
      placed_.insert(clique);
    }
  }

  void MakeOwnTree() {
    std::map<std::string, std::vector<std::string>> domains;
    for (const auto& [clique, nodes] : cliques_.nodes) {
      if (placed_.contains(clique)) continue;
      Add(Name("", 1, clique), 1, "clique", clique);
      domains[clique.substr(0, clique.rfind('.'))].push_back(clique);
    }
    const bool worth_a_tier = std::any_of(
        domains.begin(), domains.end(), [](const auto& entry) { return entry.second.size() > 1; });
    if (!worth_a_tier) return;
    for (const auto& [domain, members] : domains) {
      objects::HyperNode& hypernode = New(Name("", 2, domain), 2, "nvlink-domain");
      for (const std::string& clique : members) {
        hypernode.spec.members.push_back(ExactMember(Kind::kHyperNode, Name("", 1, clique)));
      }
    }
  }

  [[nodiscard]] std::string Name(const std::string& key, int tier, const std::string& value) const {
    const std::string entry = owner_.name.empty() ? "" : "-" + owner_.name;
    return fmt::format("hn-{}{}{}-t{}-{}", owner_.source, entry, key, tier, Slug(value));
  }

  objects::HyperNode& New(const std::string& name, std::int32_t tier, const char* tier_name) {
    objects::HyperNode& hypernode = hypernodes_.emplace_back();
    hypernode.meta.kind = "HyperNode";
    hypernode.meta.name = name;
    SetOwner(hypernode, owner_);
    hypernode.spec.name = name;
    hypernode.spec.tier = tier;
    hypernode.spec.tier_name = tier_name;
    return hypernode;
  }

  void Add(const std::string& name,
           std::int32_t tier,
           const char* tier_name,
           const std::string& clique) {
    objects::HyperNode& hypernode = New(name, tier, tier_name);
    hypernode.meta.labels.emplace(cliques_.label, clique);
    for (const std::string& node : cliques_.nodes.at(clique)) {
      hypernode.spec.members.push_back(ExactMember(Kind::kNode, node));
    }
  }

  const Cliques& cliques_;
  const Owner& owner_;
  std::vector<objects::HyperNode>& hypernodes_;
  std::set<std::string> placed_;
};

}  // namespace

Cliques CliquesOfNodes(const std::string& label, std::span<const objects::Node> nodes) {
  Cliques cliques{.label = label, .nodes = {}};
  for (const objects::Node& node : nodes) {
    const std::string* value = objects::Find(node.meta.labels, label);
    if (value != nullptr && !value->empty()) cliques.nodes[*value].push_back(node.meta.name);
  }
  for (auto& [clique, members] : cliques.nodes) std::sort(members.begin(), members.end());
  return cliques;
}

Cliques CliquesOfPrevious(const std::string& label, const Owner& owner, const Previous& previous) {
  Cliques cliques{.label = label, .nodes = {}};
  for (const objects::HyperNode& hypernode : previous.Of(owner)) {
    const std::string* value = objects::Find(hypernode.meta.labels, label);
    if (value != nullptr) cliques.nodes.emplace(*value, previous.NodesOf(hypernode.meta.name));
  }
  return cliques;
}

void JoinCliques(const Cliques& cliques,
                 const Owner& owner,
                 std::vector<objects::HyperNode>& hypernodes,
                 std::vector<std::string>& notes) {
  Joiner(cliques, owner, hypernodes).Run(notes);
}

}  // namespace strata::discovery
