#include "discovery/hypernodes.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "discovery/naming.h"
#include "objects/load.h"
#include "objects/volcano_keys.h"

namespace strata::discovery {
namespace {

using Kind = HyperNodeMember::Kind;

std::size_t CommonNodes(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::string> common;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
  return common.size();
}

class Namer {
 public:
  Namer(const Tree& tree, const Owner& owner, const Previous& previous)
      : tree_(tree), owner_(owner), previous_(previous), names_(tree.groups.size()) {
    for (const Group& group : tree.groups) ++bearers_[{group.tier, group.anchor}];
  }

  std::vector<std::string> Run() {
    for (std::size_t at = 0; at < names_.size(); ++at) {
      if (!tree_.groups[at].name.empty()) Take(at, tree_.groups[at].name);
    }
    KeepOldNames();
    for (std::size_t at = 0; at < names_.size(); ++at) {
      if (names_[at].empty()) Take(at, FreshName(tree_.groups[at]));
    }
    return std::move(names_);
  }

 private:
  struct Match {
    std::size_t common = 0;
    bool natural = false;
    std::string name;
    std::size_t group = 0;

    [[nodiscard]] auto Order() const {
      return std::tuple(-static_cast<std::int64_t>(common), !natural, name, group);
    }
  };

  void Take(std::size_t at, const std::string& name) {
    names_[at] = name;
    taken_.insert(name);
  }

  [[nodiscard]] std::string NaturalName(const Group& group) const {
    const std::string entry = owner_.name.empty() ? "" : "-" + owner_.name;
    std::string name =
        fmt::format("hn-{}{}-t{}-{}", owner_.source, entry, group.tier, Slug(group.anchor));
    // Two switches of one name: what tells them apart becomes part of both names.
    if (bearers_.at({group.tier, group.anchor}) > 1) {
      name += "-" + HashWord(HashOf(group.identity), 8);
    }
    return name;
  }

  [[nodiscard]] std::string FreshName(const Group& group) const {
    std::string name = NaturalName(group);
    for (std::string salt = group.identity;
         taken_.contains(name) || previous_.TakenByOthers(name, owner_);
         salt += '+') {
      name = NaturalName(group) + "-" + HashWord(HashOf(salt), 8);
    }
    return name;
  }

  void KeepOldNames() {
    if (std::none_of(names_.begin(), names_.end(), [](const auto& name) { return name.empty(); })) {
      return;
    }
    const std::vector<std::vector<std::string>> below = NodesBelow(tree_);
    std::vector<Match> matches;
    for (const objects::HyperNode& old : previous_.Of(owner_)) {
      const std::vector<std::string>& before = previous_.NodesOf(old.meta.name);
      for (std::size_t at = 0; at < names_.size(); ++at) {
        const Group& group = tree_.groups[at];
        if (!names_[at].empty() || group.tier != old.spec.tier) continue;
        const std::size_t common = CommonNodes(before, below[at]);
        if (common == 0 || 2 * common < std::max(before.size(), below[at].size())) continue;
        matches.push_back({common, NaturalName(group) == old.meta.name, old.meta.name, at});
      }
    }
    std::sort(matches.begin(), matches.end(), [](const Match& a, const Match& b) {
      return a.Order() < b.Order();
    });
    for (const Match& match : matches) {
      if (names_[match.group].empty() && !taken_.contains(match.name)) {
        Take(match.group, match.name);
      }
    }
  }

  const Tree& tree_;
  const Owner& owner_;
  const Previous& previous_;
  std::map<std::pair<std::int32_t, std::string>, int> bearers_;  // (tier, anchor)
  std::vector<std::string> names_;
  std::set<std::string> taken_;
};

// Takes out what is not in the cluster; says whether anything is left.
bool KeepKnown(objects::HyperNode& hypernode,
               const HostNames& names,
               const std::set<std::string>& gone,
               std::size_t& left_out) {
  auto& members = hypernode.spec.members;
  const auto unknown = [&](HyperNodeMember& member) {
    auto* exact = std::get_if<HyperNodeMember::Exact>(&member.selector);
    if (exact == nullptr) return false;
    if (member.kind == Kind::kHyperNode) return gone.contains(exact->name);
    const std::optional<std::string> node = names.Find(exact->name);
    if (!node) ++left_out;
    if (node) exact->name = *node;
    return !node;
  };
  members.erase(std::remove_if(members.begin(), members.end(), unknown), members.end());
  return !members.empty();
}

Status CheckForest(const std::vector<objects::HyperNode>& hypernodes) {
  std::map<std::string, const objects::HyperNode*> by_name;
  for (const objects::HyperNode& hypernode : hypernodes) by_name[hypernode.meta.name] = &hypernode;
  std::map<std::string, std::string> parent_of;
  for (const objects::HyperNode& hypernode : hypernodes) {
    const auto fail = [&](const std::string& child, std::string_view why) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("HyperNode {}: member {} {}", hypernode.meta.name, child, why));
    };
    for (const std::string& child : ExactNames(hypernode.spec, Kind::kHyperNode)) {
      const auto found = by_name.find(child);
      if (found == by_name.end()) return fail(child, "is not among the HyperNodes");
      if (found->second->spec.tier >= hypernode.spec.tier) {
        return fail(child, "has a tier that is not below");
      }
      const auto [known, is_new] = parent_of.emplace(child, hypernode.meta.name);
      if (!is_new) return fail(child, "is already a member of " + known->second);
    }
  }
  return {};
}

}  // namespace

void SetOwner(objects::HyperNode& hypernode, const Owner& owner) {
  Labels& labels = hypernode.meta.labels;
  labels.insert_or_assign(std::string(objects::kTopologySourceKey), owner.source);
  if (owner.name.empty()) {
    labels.erase(std::string(objects::kTopologySourceNameKey));
  } else {
    labels.insert_or_assign(std::string(objects::kTopologySourceNameKey), owner.name);
  }
}

HyperNodeMember ExactMember(Kind kind, const std::string& name) {
  return {.kind = kind, .selector = HyperNodeMember::Exact{name}};
}

std::vector<objects::HyperNode> NameTree(const Tree& tree,
                                         const Owner& owner,
                                         const Previous& previous) {
  const std::vector<std::string> names = Namer(tree, owner, previous).Run();
  std::vector<objects::HyperNode> hypernodes;
  for (std::size_t at = 0; at < names.size(); ++at) {
    const Group& group = tree.groups[at];
    objects::HyperNode& hypernode = hypernodes.emplace_back();
    hypernode.meta.kind = "HyperNode";
    hypernode.meta.name = names[at];
    hypernode.meta.labels = group.labels;
    SetOwner(hypernode, owner);
    hypernode.spec.name = names[at];
    hypernode.spec.tier = group.tier;
    hypernode.spec.tier_name = group.tier_name;
    std::vector<std::string> children;
    for (const std::size_t child : group.children) children.push_back(names[child]);
    std::sort(children.begin(), children.end());
    for (const std::string& child : children) {
      hypernode.spec.members.push_back(ExactMember(Kind::kHyperNode, child));
    }
    for (const std::string& node : group.nodes) {
      hypernode.spec.members.push_back(ExactMember(Kind::kNode, node));
    }
  }
  return hypernodes;
}

Result<std::vector<objects::HyperNode>> AdoptManifests(const std::string& text,
                                                       const Owner& owner,
                                                       const HostNames& names,
                                                       std::size_t& left_out) {
  const objects::Source source{.name = "output", .text = text};
  TRY_ASSIGN(objects::ObjectSet set, objects::ParseObjects(std::span(&source, 1)));
  TRY(CheckForest(set.hypernodes));
  std::stable_sort(set.hypernodes.begin(), set.hypernodes.end(), [](const auto& a, const auto& b) {
    return a.spec.tier < b.spec.tier;
  });
  std::vector<objects::HyperNode> kept;
  std::set<std::string> gone;
  for (objects::HyperNode& hypernode : set.hypernodes) {
    if (!KeepKnown(hypernode, names, gone, left_out)) {
      gone.insert(hypernode.meta.name);
      continue;
    }
    SetOwner(hypernode, owner);
    kept.push_back(std::move(hypernode));
  }
  return kept;
}

}  // namespace strata::discovery
