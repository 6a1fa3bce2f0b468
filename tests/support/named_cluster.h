#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/hypernode_tree.h"

// Small trees of HyperNodes for tests.
namespace strata::testing {

[[nodiscard]] inline HyperNodeMember NodeNamed(std::string name) {
  return {.kind = HyperNodeMember::Kind::kNode,
          .selector = HyperNodeMember::Exact{std::move(name)}};
}

[[nodiscard]] inline HyperNodeMember Child(std::string name) {
  return {.kind = HyperNodeMember::Kind::kHyperNode,
          .selector = HyperNodeMember::Exact{std::move(name)}};
}

[[nodiscard]] inline HyperNodeMember Matching(
    std::string_view pattern, HyperNodeMember::Kind kind = HyperNodeMember::Kind::kNode) {
  return {.kind = kind, .selector = *NamePattern::Compile(pattern)};
}

[[nodiscard]] inline HyperNodeMember Labelled(
    std::string key, std::string value, HyperNodeMember::Kind kind = HyperNodeMember::Kind::kNode) {
  return {.kind = kind,
          .selector = LabelSelector{{{std::move(key), SelectorOp::kIn, {std::move(value)}}}}};
}

// A tree over nodes, asked and answering by name.
class NamedCluster {
 public:
  void Add(std::string name, std::int32_t tier, std::vector<HyperNodeMember> members) {
    AddNamed(std::move(name), tier, "", std::move(members));
  }
  void AddNamed(std::string name,
                std::int32_t tier,
                std::string tier_name,
                std::vector<HyperNodeMember> members) {
    tree.UpsertHyperNode({std::move(name), tier, std::move(tier_name), std::move(members)});
  }
  void AddNode(const std::string& name, const Labels& labels = {}) {
    if (!ids.contains(name)) {
      ids[name] = IdAt<NodeId>(names.size());
      names.push_back(name);
    }
    tree.UpsertNode(ids[name], name, labels);
  }
  void AddNodes(int count) {
    for (int i = 0; i < count; ++i) AddNode("node" + std::to_string(i));
  }
  void RemoveNode(const std::string& name) { tree.RemoveNode(ids.at(name)); }

  [[nodiscard]] HyperNodeId Id(std::string_view name) const { return tree.Find(name).value(); }
  [[nodiscard]] const HyperNodeTree::HyperNode& At(std::string_view name) const {
    return tree.at(Id(name));
  }
  [[nodiscard]] NodeId Node(const std::string& name) const { return ids.at(name); }
  [[nodiscard]] std::vector<std::string> NodesOf(std::string_view name) const {
    std::vector<std::string> result;
    for (const NodeId node : tree.NodesOf(Id(name))) result.push_back(names[node.index()]);
    return result;
  }
  [[nodiscard]] std::vector<std::string> Names(std::span<const HyperNodeId> hypernodes) const {
    std::vector<std::string> result;
    for (const HyperNodeId id : hypernodes) result.push_back(tree.at(id).name);
    return result;
  }
  [[nodiscard]] std::vector<std::string> ChildrenOf(std::string_view name) const {
    return Names(At(name).children);
  }
  [[nodiscard]] std::string ParentOf(std::string_view name) const {
    const HyperNodeId parent = At(name).parent;
    return parent.valid() ? tree.at(parent).name : "";
  }
  [[nodiscard]] std::vector<std::string> HyperNodesOf(const std::string& node) const {
    return Names(tree.HyperNodesOf(tree.ChainOf(Node(node))));
  }
  [[nodiscard]] std::string LeafOf(const std::string& node) const {
    return tree.at(tree.LeafOf(tree.ChainOf(Node(node)))).name;
  }
  [[nodiscard]] std::string Lca(std::string_view a, std::string_view b) const {
    return tree.at(tree.Lca(Id(a), Id(b))).name;
  }

  HyperNodeTree tree;
  std::vector<std::string> names;
  std::map<std::string, NodeId> ids;
};

inline const std::string kTop(kTopHyperNodeName);

//                        s6                       tier 3
//            s4                      s5           tier 2
//      s0          s1          s2          s3     tier 1
//   node0 node1 node2 node3 node4 node5 node6 node7
[[nodiscard]] inline NamedCluster SevenHyperNodes() {
  NamedCluster cluster;
  cluster.AddNodes(8);
  for (int i = 0; i < 4; ++i) {
    cluster.Add(
        "s" + std::to_string(i),
        1,
        {NodeNamed("node" + std::to_string(2 * i)), NodeNamed("node" + std::to_string(2 * i + 1))});
  }
  cluster.Add("s4", 2, {Child("s0"), Child("s1")});
  cluster.Add("s5", 2, {Child("s2"), Child("s3")});
  cluster.Add("s6", 3, {Child("s4"), Child("s5")});
  return cluster;
}

}  // namespace strata::testing
