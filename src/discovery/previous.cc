#include "discovery/previous.h"

#include <algorithm>
#include <set>
#include <utility>
#include <variant>

#include "objects/volcano_keys.h"

namespace strata::discovery {
namespace {

using Kind = HyperNodeMember::Kind;

void SortUnique(std::vector<std::string>& names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

HyperNodeMember NodeMember(const std::string& name) {
  return {.kind = Kind::kNode, .selector = HyperNodeMember::Exact{name}};
}

bool ByName(const HyperNodeMember& a, const HyperNodeMember& b) {
  const auto* left = std::get_if<HyperNodeMember::Exact>(&a.selector);
  const auto* right = std::get_if<HyperNodeMember::Exact>(&b.selector);
  return left != nullptr && right != nullptr && left->name < right->name;
}

}  // namespace

Owner OwnerOf(const objects::HyperNode& hypernode) {
  const std::string* source = objects::Find(hypernode.meta.labels, objects::kTopologySourceKey);
  const std::string* name = objects::Find(hypernode.meta.labels, objects::kTopologySourceNameKey);
  if (source == nullptr) return {};
  return {*source, name == nullptr ? "" : *name};
}

std::vector<std::string> ExactNames(const HyperNodeSpec& spec, Kind kind) {
  std::vector<std::string> names;
  for (const HyperNodeMember& member : spec.members) {
    const auto* exact = std::get_if<HyperNodeMember::Exact>(&member.selector);
    if (member.kind == kind && exact != nullptr) names.push_back(exact->name);
  }
  return names;
}

Previous::Previous(const std::vector<objects::HyperNode>& hypernodes) {
  for (const objects::HyperNode& hypernode : hypernodes) {
    objects::HyperNode& kept = by_name_.emplace(hypernode.meta.name, hypernode).first->second;
    // What kubectl notes for itself would be printed as if it were ours.
    kept.meta.annotations.erase("kubectl.kubernetes.io/last-applied-configuration");
  }
  for (const auto& [name, hypernode] : by_name_) {
    std::vector<std::string>& nodes = nodes_[name];
    std::vector<const objects::HyperNode*> way;
    Collect(hypernode, way, nodes);
    SortUnique(nodes);
  }
  TakeApart();
}

// `way` guards against HyperNodes that contain themselves.
void Previous::Collect(const objects::HyperNode& hypernode,
                       std::vector<const objects::HyperNode*>& way,
                       std::vector<std::string>& out) const {
  if (std::find(way.begin(), way.end(), &hypernode) != way.end()) return;
  way.push_back(&hypernode);
  const std::vector<std::string> nodes = ExactNames(hypernode.spec, Kind::kNode);
  out.insert(out.end(), nodes.begin(), nodes.end());
  for (const std::string& child : ExactNames(hypernode.spec, Kind::kHyperNode)) {
    const auto found = by_name_.find(child);
    if (found != by_name_.end()) Collect(found->second, way, out);
  }
  way.pop_back();
}

bool Previous::IsClique(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found != by_name_.end() && OwnerOf(found->second).source == "nvlink";
}

// Trees with cliques anywhere below: they were moved up by one.
std::set<std::string> Previous::MovedUp() const {
  std::set<std::string> moved;
  const auto above = [&](const objects::HyperNode& hypernode) {
    const std::vector<std::string> children = ExactNames(hypernode.spec, Kind::kHyperNode);
    return std::any_of(children.begin(), children.end(), [&](const std::string& child) {
      return IsClique(child) || moved.contains(child);
    });
  };
  for (bool more = true; std::exchange(more, false);) {
    for (const auto& [name, hypernode] : by_name_) {
      if (moved.contains(name) || IsClique(name) || !above(hypernode)) continue;
      moved.insert(name);
      more = true;
    }
  }
  return moved;
}

// With nodes in the place of cliques.
std::vector<HyperNodeMember> Previous::OwnMembers(const HyperNodeSpec& spec) const {
  std::vector<HyperNodeMember> members;
  for (const HyperNodeMember& member : spec.members) {
    const auto* exact = std::get_if<HyperNodeMember::Exact>(&member.selector);
    if (exact == nullptr || member.kind != Kind::kHyperNode || !IsClique(exact->name)) {
      members.push_back(member);
      continue;
    }
    for (const std::string& node : nodes_.at(exact->name)) members.push_back(NodeMember(node));
  }
  std::stable_sort(members.begin(), members.end(), ByName);
  return members;
}

void Previous::TakeApart() {
  const std::set<std::string> moved = MovedUp();
  for (const auto& [name, hypernode] : by_name_) {
    const Owner owner = OwnerOf(hypernode);
    if (owner.source.empty()) continue;
    objects::HyperNode own = hypernode;
    if (moved.contains(name)) {
      --own.spec.tier;
      own.spec.members = OwnMembers(hypernode.spec);
    }
    by_owner_[owner].push_back(std::move(own));
  }
}

const std::vector<objects::HyperNode>& Previous::Of(const Owner& owner) const {
  static const std::vector<objects::HyperNode> none;
  const auto found = by_owner_.find(owner);
  return found == by_owner_.end() ? none : found->second;
}

const std::vector<std::string>& Previous::NodesOf(const std::string& name) const {
  static const std::vector<std::string> none;
  const auto found = nodes_.find(name);
  return found == nodes_.end() ? none : found->second;
}

std::vector<std::string> Previous::NodesOf(const Owner& owner) const {
  std::vector<std::string> nodes;
  for (const objects::HyperNode& hypernode : Of(owner)) {
    const std::vector<std::string>& below = NodesOf(hypernode.meta.name);
    nodes.insert(nodes.end(), below.begin(), below.end());
  }
  SortUnique(nodes);
  return nodes;
}

std::map<std::string, std::string> Previous::LeavesOf(const Owner& owner) const {
  std::map<std::string, std::string> leaves;
  for (const objects::HyperNode& hypernode : Of(owner)) {
    for (const std::string& node : ExactNames(hypernode.spec, Kind::kNode)) {
      leaves.emplace(node, hypernode.meta.name);
    }
  }
  return leaves;
}

bool Previous::TakenByOthers(const std::string& name, const Owner& owner) const {
  const auto found = by_name_.find(name);
  return found != by_name_.end() && OwnerOf(found->second) != owner;
}

}  // namespace strata::discovery
