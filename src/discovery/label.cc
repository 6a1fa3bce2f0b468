#include "discovery/label.h"

#include <set>
#include <utility>

#include <fmt/format.h>

#include "discovery/naming.h"
#include "discovery/path_tree.h"

namespace strata::discovery {
namespace {

constexpr int kWordLength = 5;

NodePath PathOf(const objects::Node& node, const LabelConfig::Type& type) {
  NodePath path{.node = node.meta.name, .values = {}};
  for (auto key = type.keys.rbegin(); key != type.keys.rend(); ++key) {
    const std::string* value = objects::Find(node.meta.labels, *key);
    if (value == nullptr || value->empty()) break;
    path.values.push_back(*value);
  }
  return path;
}

}  // namespace

std::string TypeName(const std::string& type) {
  std::string name = ValidName(type);
  for (char& c : name) {
    if (c == '.') c = '-';
  }
  return name;
}

Tree TreeOfLabels(const LabelConfig::Type& type,
                  std::span<const objects::Node> nodes,
                  const std::string& infix) {
  std::vector<NodePath> paths;
  for (const objects::Node& node : nodes) paths.push_back(PathOf(node, type));
  const std::vector<std::string> keys(type.keys.rbegin(), type.keys.rend());
  Tree tree = TreeOfPaths(paths, keys);
  std::set<std::string> taken;
  for (Group& group : tree.groups) {
    group.labels.emplace(group.tier_name, group.anchor);
    const std::string path = fmt::format("{}/{}{}", type.name, group.tier_name, group.identity);
    // Five characters are few: of two paths with one hash the later one is hashed once more.
    std::string salt;
    do {
      group.name = fmt::format("hypernode-{}{}-tier{}-{}",
                               infix,
                               TypeName(type.name),
                               group.tier,
                               HashWord(HashOf(path + salt), kWordLength));
      salt += '+';
    } while (!taken.insert(group.name).second);
  }
  return tree;
}

}  // namespace strata::discovery
