#include "discovery/path_tree.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace strata::discovery {
namespace {

using Path = std::vector<std::string>;

// The values seen above each path that begins at the bottom.
using Extensions = std::map<Path, std::set<std::string>>;

Extensions ExtensionsOf(const std::vector<NodePath>& paths) {
  Extensions above;
  for (const NodePath& entry : paths) {
    Path lower;
    for (const std::string& value : entry.values) {
      if (!lower.empty()) above[lower].insert(value);
      lower.push_back(value);
    }
  }
  return above;
}

Path Extend(Path path, const Extensions& above) {
  for (auto found = above.find(path); found != above.end() && found->second.size() == 1;
       found = above.find(path)) {
    path.push_back(*found->second.begin());
  }
  return path;
}

}  // namespace

Tree TreeOfPaths(const std::vector<NodePath>& paths, const std::vector<std::string>& tier_names) {
  const Extensions above = ExtensionsOf(paths);
  // A domain of level k is the part of a path from k upwards, kept with its level: the same values
  // may stand at two levels.
  using Domain = std::pair<std::size_t, Path>;
  std::map<Domain, std::set<std::string>> nodes;
  std::map<Domain, std::set<Domain>> children;
  for (const NodePath& entry : paths) {
    if (entry.values.empty()) continue;
    const Path path = Extend(entry.values, above);
    nodes[{1, path}].insert(entry.node);
    for (std::size_t level = 2; level <= path.size(); ++level) {
      const Path lower(path.begin() + static_cast<std::ptrdiff_t>(level) - 2, path.end());
      const Path upper(lower.begin() + 1, lower.end());
      children[{level, upper}].insert({level - 1, lower});
    }
  }
  Tree tree;
  std::map<Domain, std::size_t> place;
  const auto add = [&](const Domain& domain) -> Group& {
    place.emplace(domain, tree.groups.size());
    Group& group = tree.groups.emplace_back();
    group.tier = static_cast<std::int32_t>(domain.first);
    group.tier_name = tier_names[std::min(domain.first, tier_names.size()) - 1];
    group.anchor = domain.second.front();
    for (const std::string& value : domain.second) group.identity += "/" + value;
    return group;
  };
  for (const auto& [domain, members] : nodes) {
    add(domain).nodes.assign(members.begin(), members.end());
  }
  // Ordered by level first, so children have their place already.
  for (const auto& [domain, members] : children) {
    Group& group = add(domain);
    for (const Domain& member : members) group.children.push_back(place.at(member));
    std::sort(group.children.begin(), group.children.end());
  }
  return tree;
}

}  // namespace strata::discovery
