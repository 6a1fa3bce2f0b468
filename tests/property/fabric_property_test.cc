// Fabrics: any gives a valid forest, and a change of a healthy one changes only what it should.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "discovery/hypernodes.h"
#include "discovery/tree.h"
#include "objects/syntax.h"
#include "tests/support/property.h"

namespace strata::discovery {
namespace {

using strata::testing::Below;
using strata::testing::CheckProperty;

const Owner kOwner = {"infiniband", ""};

std::string HostName(int pod, int host) {
  return "node-" + std::to_string(pod) + "-" + std::to_string(host);
}
std::string LeafId(int pod, int rail) {
  return "leaf-p" + std::to_string(pod) + "-r" + std::to_string(rail);
}
std::string SpineId(int spine) {
  return "spine-" + std::to_string(spine);
}

// Pods with one leaf per rail, and spines that every leaf is cabled to.
struct FatTree {
  int pods = 0;
  int hosts = 0;  // per pod
  int rails = 0;
  int spines = 0;
  Fabric fabric;
};

FatTree MakeFatTree(int pods, int hosts, int rails, int spines) {
  FatTree tree{pods, hosts, rails, spines, {}};
  Fabric& fabric = tree.fabric;
  for (int pod = 0; pod < pods; ++pod) {
    for (int rail = 0; rail < rails; ++rail) {
      const std::string leaf = LeafId(pod, rail);
      fabric.AddSwitch(leaf, leaf);
      for (int host = 0; host < hosts; ++host) {
        fabric.AddHost(HostName(pod, host));
        fabric.LinkHost(HostName(pod, host), leaf, Fabric::Seen::kByHost);
      }
      for (int spine = 0; spine < spines; ++spine) {
        fabric.AddSwitch(SpineId(spine), SpineId(spine));
        fabric.LinkSwitches(leaf, SpineId(spine));
      }
    }
  }
  return tree;
}

FatTree AnyFatTree() {
  return MakeFatTree(2 + *Below(4), 4 + *Below(5), 3 + *Below(4), 2 + *Below(3));
}

void RemoveSwitch(Fabric& fabric, const std::string& id) {
  fabric.switches.erase(id);
  std::erase_if(fabric.host_links, [&](const auto& link) { return link.first.second == id; });
  std::erase_if(fabric.switch_links, [&](const auto& link) {
    return link.first.first == id || link.first.second == id;
  });
}

void RemoveHost(Fabric& fabric, const std::string& host) {
  fabric.hosts.erase(host);
  std::erase_if(fabric.host_links, [&](const auto& link) { return link.first.first == host; });
}

std::vector<objects::HyperNode> Discovered(const Fabric& fabric,
                                           const std::vector<objects::HyperNode>& before = {}) {
  const Previous previous(before);
  return NameTree(FormTree(fabric, previous.LeavesOf(kOwner)), kOwner, previous);
}

// Name -> members, and the tier.
using Picture = std::map<std::string, std::vector<std::string>>;

Picture PictureOf(const std::vector<objects::HyperNode>& hypernodes) {
  Picture picture;
  for (const objects::HyperNode& hypernode : hypernodes) {
    std::vector<std::string>& members = picture[hypernode.meta.name];
    members = ExactNames(hypernode.spec, HyperNodeMember::Kind::kHyperNode);
    const auto nodes = ExactNames(hypernode.spec, HyperNodeMember::Kind::kNode);
    members.insert(members.end(), nodes.begin(), nodes.end());
    members.push_back("tier " + std::to_string(hypernode.spec.tier));
  }
  return picture;
}

void CheckForest(const Fabric& fabric, const std::vector<objects::HyperNode>& hypernodes) {
  std::map<std::string, const objects::HyperNode*> by_name;
  for (const objects::HyperNode& hypernode : hypernodes) {
    RC_ASSERT(objects::IsDnsSubdomain(hypernode.meta.name));
    RC_ASSERT(by_name.emplace(hypernode.meta.name, &hypernode).second);
    RC_ASSERT(!hypernode.spec.members.empty());
  }
  std::set<std::string> members;
  std::set<std::string> nodes;
  for (const objects::HyperNode& hypernode : hypernodes) {
    for (const std::string& child : ExactNames(hypernode.spec, HyperNodeMember::Kind::kHyperNode)) {
      RC_ASSERT(by_name.contains(child));
      RC_ASSERT(by_name.at(child)->spec.tier < hypernode.spec.tier);
      RC_ASSERT(members.insert(child).second);  // one parent
    }
    for (const std::string& node : ExactNames(hypernode.spec, HyperNodeMember::Kind::kNode)) {
      RC_ASSERT(nodes.insert(node).second);
    }
  }
  std::set<std::string> linked;
  for (const auto& [pair, count] : fabric.host_links) linked.insert(pair.first);
  RC_ASSERT(nodes == linked);
}

TEST(Fabrics, AnyFabricIsAForestThatHoldsEveryLinkedHostOnce) {
  CheckProperty(400, [] {
    Fabric fabric;
    const int switches = 1 + *Below(8);
    const int hosts = *Below(12);
    const auto id = [](int at) { return "S-" + std::to_string(at); };
    // Names may clash and be odd: ids tell switches apart.
    for (int s = 0; s < switches; ++s) {
      fabric.AddSwitch(id(s), *rc::gen::element<std::string>("", "leaf", "Leaf_1", "a.b", "--"));
    }
    for (int h = 0; h < hosts; ++h) {
      const std::string host = "node-" + std::to_string(h);
      fabric.AddHost(host);
      for (int port = *Below(4); port > 0; --port) {
        fabric.LinkHost(host, id(*Below(switches)), Fabric::Seen::kByHost);
      }
    }
    for (int link = *Below(16); link > 0; --link) {
      fabric.LinkSwitches(id(*Below(switches)), id(*Below(switches)));
    }
    CheckForest(fabric, Discovered(fabric));
    // What was found before is found again, names and all.
    const auto first = Discovered(fabric);
    RC_ASSERT(PictureOf(Discovered(fabric, first)) == PictureOf(first));
  });
}

TEST(Fabrics, AHealthyFatTreeHasItsPodsAsLeaves) {
  CheckProperty(100, [] {
    const FatTree tree = AnyFatTree();
    const auto found = Discovered(tree.fabric);
    CheckForest(tree.fabric, found);
    RC_ASSERT(found.size() == static_cast<std::size_t>(tree.pods) + 1);
    for (int pod = 0; pod < tree.pods; ++pod) {
      const objects::HyperNode& leaf = found[static_cast<std::size_t>(pod)];
      RC_ASSERT(leaf.spec.members.size() == static_cast<std::size_t>(tree.hosts));
      RC_ASSERT(leaf.spec.tier == 1);
    }
    RC_ASSERT(found.back().spec.tier == 2);
  });
}

TEST(Fabrics, WhatRedundancyCoversChangesNothing) {
  CheckProperty(200, [] {
    FatTree tree = AnyFatTree();
    const auto before = Discovered(tree.fabric);
    const std::string host = HostName(*Below(tree.pods), *Below(tree.hosts));
    const std::string leaf = LeafId(*Below(tree.pods), *Below(tree.rails));
    switch (*Below(4)) {
      case 0:
        RemoveSwitch(tree.fabric, SpineId(*Below(tree.spines)));
        break;
      case 1:
        RemoveSwitch(tree.fabric, leaf);
        break;
      case 2:  // one port of one host
        tree.fabric.host_links.erase(
            std::next(tree.fabric.host_links.begin(), *Below(tree.pods * tree.hosts * tree.rails)));
        break;
      default:  // one port of one host, in any leaf instead
        for (auto link = tree.fabric.host_links.begin(); link != tree.fabric.host_links.end();
             ++link) {
          if (link->first.first != host) continue;
          tree.fabric.host_links.erase(link);
          break;
        }
        tree.fabric.LinkHost(host, leaf, Fabric::Seen::kByHost);
    }
    const auto after = Discovered(tree.fabric, before);
    CheckForest(tree.fabric, after);
    RC_ASSERT(PictureOf(after) == PictureOf(before));
  });
}

TEST(Fabrics, AHostThatGoesIsMissedInItsLeafOnly) {
  CheckProperty(100, [] {
    FatTree tree = AnyFatTree();
    const auto before = Discovered(tree.fabric);
    const std::string host = HostName(*Below(tree.pods), *Below(tree.hosts));
    RemoveHost(tree.fabric, host);
    Picture expected = PictureOf(before);
    for (auto& [name, members] : expected) std::erase(members, host);
    RC_ASSERT(PictureOf(Discovered(tree.fabric, before)) == expected);
  });
}

TEST(Fabrics, AHostThatMovesChangesTwoLeavesOnly) {
  CheckProperty(100, [] {
    FatTree tree = AnyFatTree();
    const auto before = Discovered(tree.fabric);
    const int from = *Below(tree.pods);
    const int to = (from + 1 + *Below(tree.pods - 1)) % tree.pods;
    const std::string host = HostName(from, *Below(tree.hosts));
    RemoveHost(tree.fabric, host);
    tree.fabric.AddHost(host);
    for (int rail = 0; rail < tree.rails; ++rail) {
      tree.fabric.LinkHost(host, LeafId(to, rail), Fabric::Seen::kByHost);
    }
    Picture expected = PictureOf(before);
    for (auto& [name, members] : expected) {
      std::erase(members, host);
      if (std::find(members.begin(), members.end(), HostName(to, 0)) == members.end()) continue;
      members.insert(std::upper_bound(members.begin(), members.end() - 1, host), host);
    }
    RC_ASSERT(PictureOf(Discovered(tree.fabric, before)) == expected);
  });
}

TEST(Fabrics, APodThatComesIsNewAndTheOthersStay) {
  CheckProperty(100, [] {
    const FatTree tree = AnyFatTree();
    const auto before = Discovered(tree.fabric);
    FatTree larger = MakeFatTree(tree.pods + 1, tree.hosts, tree.rails, tree.spines);
    const Picture after = PictureOf(Discovered(larger.fabric, before));
    RC_ASSERT(after.size() == before.size() + 1);
    for (const auto& [name, members] : PictureOf(before)) {
      RC_ASSERT(after.contains(name));
      const bool leaf = members.back() == "tier 1";
      if (leaf) RC_ASSERT(after.at(name) == members);
    }
  });
}

}  // namespace
}  // namespace strata::discovery
