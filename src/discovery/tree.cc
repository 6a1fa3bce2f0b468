#include "discovery/tree.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "discovery/grouping.h"

namespace strata::discovery {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

std::string LevelName(std::size_t level) {
  constexpr std::array<std::string_view, 3> kNames = {"leaf", "spine", "core"};
  return level <= kNames.size() ? std::string(kNames[level - 1]) : fmt::format("level-{}", level);
}

// Turns a map child -> links into shares.
Shares ToShares(const std::map<std::size_t, std::int64_t>& links) {
  Shares shares;
  for (const auto& [child, count] : links) shares.push_back({child, count});
  return shares;
}

// Switches of one level that count as one.
struct Cluster {
  std::size_t level = 0;
  std::vector<std::size_t> switches;  // ascending, so the first is the lowest name
  std::vector<std::size_t> hosts;
  std::vector<std::size_t> children;  // clusters
  std::size_t parent = kNone;

  [[nodiscard]] bool alive() const { return !hosts.empty() || !children.empty(); }
};

class Former {
 public:
  Former(const Fabric& fabric, const std::map<std::string, std::string>& previous_leaf)
      : previous_leaf_(previous_leaf) {
    IndexSwitches(fabric);
    IndexHosts(fabric);
  }

  Tree Run() {
    FindLevels();
    GroupLeaves();
    const std::size_t top = level_.empty() ? 0 : *std::max_element(level_.begin(), level_.end());
    for (std::size_t level = 2; level <= top; ++level) GroupLevel(level);
    for (std::size_t level = 2; level <= top; ++level) DropIfIdle(level);
    JoinTops(top + 1);
    return Emit(top + 1);
  }

 private:
  // (cluster, previous leaf) -> hosts there that are there now.
  using Mates = std::map<std::pair<std::size_t, std::string>, std::size_t>;

  struct Switch {
    std::string name;
    std::string id;
    auto operator<=>(const Switch&) const = default;
  };

  // Indexes follow the names, so that the lowest index is the lowest name.
  void IndexSwitches(const Fabric& fabric) {
    for (const auto& [id, name] : fabric.switches) switches_.push_back({name, id});
    std::sort(switches_.begin(), switches_.end());
    std::map<std::string, std::size_t> index;
    for (std::size_t i = 0; i < switches_.size(); ++i) index.emplace(switches_[i].id, i);
    neighbours_.resize(switches_.size());
    leaf_hosts_.resize(switches_.size());
    level_.assign(switches_.size(), 0);
    cluster_of_.assign(switches_.size(), kNone);
    for (const auto& [pair, count] : fabric.switch_links) {
      const auto a = index.find(pair.first);
      const auto b = index.find(pair.second);
      if (a == index.end() || b == index.end()) continue;
      neighbours_[a->second].push_back({b->second, count.links()});
      neighbours_[b->second].push_back({a->second, count.links()});
    }
    index_ = std::move(index);
  }

  void IndexHosts(const Fabric& fabric) {
    for (const auto& [pair, count] : fabric.host_links) {
      const auto at = index_.find(pair.second);
      if (at == index_.end()) continue;
      // host_links is ordered by host, so a new name is a new host.
      if (hosts_.empty() || hosts_.back() != pair.first) {
        hosts_.push_back(pair.first);
        host_links_.emplace_back();
      }
      host_links_.back().push_back({at->second, count.links()});
      leaf_hosts_[at->second].push_back({hosts_.size() - 1, count.links()});
    }
    for (Shares& links : host_links_) std::sort(links.begin(), links.end());
    for (const auto& [host, address] : fabric.hosts) {
      if (!std::binary_search(hosts_.begin(), hosts_.end(), host)) unlinked_.push_back(host);
    }
  }

  // A switch that looks like a spine: more of its neighbours are better leaves than it has hosts.
  [[nodiscard]] bool LooksAboveLeaves(std::size_t at) const {
    const std::size_t own = leaf_hosts_[at].size();
    if (own == 0) return false;
    const auto better =
        std::count_if(neighbours_[at].begin(), neighbours_[at].end(), [&](const Share& neighbour) {
          return leaf_hosts_[neighbour.child].size() > own;
        });
    return static_cast<std::size_t>(better) > own;
  }

  void FindLevels() {
    std::vector<bool> above(switches_.size());
    for (std::size_t s = 0; s < switches_.size(); ++s) above[s] = LooksAboveLeaves(s);
    std::vector<std::size_t> frontier;
    for (std::size_t s = 0; s < switches_.size(); ++s) {
      if (leaf_hosts_[s].empty()) continue;
      // A mis-cabled port does not make a leaf of a spine, as long as its host has a leaf.
      const bool stray =
          above[s] &&
          std::all_of(leaf_hosts_[s].begin(), leaf_hosts_[s].end(), [&](const Share& h) {
            const Shares& links = host_links_[h.child];
            return std::any_of(
                links.begin(), links.end(), [&](const Share& link) { return !above[link.child]; });
          });
      if (stray) continue;
      level_[s] = 1;
      frontier.push_back(s);
    }
    for (std::size_t level = 2; !frontier.empty(); ++level) {
      std::vector<std::size_t> next;
      for (const std::size_t s : frontier) {
        for (const Share& neighbour : neighbours_[s]) {
          if (level_[neighbour.child] != 0) continue;
          level_[neighbour.child] = level;
          next.push_back(neighbour.child);
        }
      }
      frontier = std::move(next);
    }
  }

  // Makes clusters of the switches of `level`, whose links to what is below are `shares` (by
  // switch).
  void MakeClusters(std::size_t level, const std::map<std::size_t, Shares>& shares) {
    std::vector<std::size_t> owners;
    std::vector<Shares> owned;
    for (const auto& [owner, children] : shares) {
      if (children.empty()) continue;
      owners.push_back(owner);
      owned.push_back(children);
    }
    const std::vector<std::size_t> group_of = GroupByOverlap(owned);
    for (std::size_t i = 0; i < owners.size(); ++i) {
      if (group_of[i] == i) {
        cluster_of_[owners[i]] = clusters_.size();
        clusters_.push_back({.level = level, .switches = {}, .hosts = {}, .children = {}});
      }
      cluster_of_[owners[i]] = cluster_of_[owners[group_of[i]]];
      clusters_[cluster_of_[owners[i]]].switches.push_back(owners[i]);
    }
  }

  // A host that is there and has no link just now stays with its previous mates.
  void PlaceUnlinked(const Mates& mates) {
    std::map<std::string, std::pair<std::size_t, std::size_t>> home;  // leaf -> (mates, cluster)
    for (const auto& [key, count] : mates) {
      auto& best = home[key.second];
      if (count > best.first) best = {count, key.first};
    }
    for (const std::string& host : unlinked_) {
      const auto leaf = previous_leaf_.find(host);
      if (leaf == previous_leaf_.end()) continue;
      const auto found = home.find(leaf->second);
      if (found == home.end()) continue;
      clusters_[found->second.second].hosts.push_back(hosts_.size());
      hosts_.push_back(host);
      host_links_.emplace_back();
    }
  }

  void GroupLeaves() {
    std::map<std::size_t, Shares> shares;
    for (std::size_t s = 0; s < switches_.size(); ++s) {
      if (level_[s] == 1) shares.emplace(s, leaf_hosts_[s]);
    }
    MakeClusters(1, shares);
    std::vector<std::pair<std::size_t, std::vector<std::size_t>>> undecided;
    Mates mates;
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      std::vector<std::size_t> best = BestClusters(host_links_[host], 1);
      if (best.empty()) continue;
      if (best.size() > 1) {
        undecided.emplace_back(host, std::move(best));
        continue;
      }
      clusters_[best.front()].hosts.push_back(host);
      ++mates[{best.front(), PreviousLeaf(host)}];
    }
    for (const auto& [host, best] : undecided) {
      const std::string leaf = PreviousLeaf(host);
      const auto known = [&](std::size_t cluster) {
        const auto found = mates.find({cluster, leaf});
        return leaf.empty() || found == mates.end() ? std::size_t{0} : found->second;
      };
      const auto chosen = std::max_element(
          best.begin(), best.end(), [&](auto a, auto b) { return known(a) < known(b); });
      clusters_[*chosen].hosts.push_back(host);
    }
    PlaceUnlinked(mates);
    for (Cluster& cluster : clusters_) std::sort(cluster.hosts.begin(), cluster.hosts.end());
  }

  [[nodiscard]] std::string PreviousLeaf(std::size_t host) const {
    const auto found = previous_leaf_.find(hosts_[host]);
    return found == previous_leaf_.end() ? "" : found->second;
  }

  // The clusters of `level` with most of these links to switches, ascending.
  [[nodiscard]] std::vector<std::size_t> BestClusters(const Shares& links,
                                                      std::size_t level) const {
    std::map<std::size_t, std::int64_t> sums;
    for (const Share& link : links) {
      const std::size_t cluster = cluster_of_[link.child];
      if (cluster != kNone && clusters_[cluster].level == level) sums[cluster] += link.links;
    }
    std::int64_t max = 0;
    for (const auto& [cluster, sum] : sums) max = std::max(max, sum);
    std::vector<std::size_t> best;
    for (const auto& [cluster, sum] : sums) {
      if (sum == max) best.push_back(cluster);
    }
    return best;
  }

  void GroupLevel(std::size_t level) {
    std::map<std::size_t, Shares> shares;
    for (std::size_t s = 0; s < switches_.size(); ++s) {
      if (level_[s] != level) continue;
      std::map<std::size_t, std::int64_t> links;
      for (const Share& neighbour : neighbours_[s]) {
        const std::size_t below = cluster_of_[neighbour.child];
        if (level_[neighbour.child] + 1 != level || below == kNone) continue;
        if (clusters_[below].alive()) links[below] += neighbour.links;
      }
      shares.emplace(s, ToShares(links));
    }
    const std::size_t old_count = clusters_.size();
    MakeClusters(level, shares);
    for (std::size_t child = 0; child < old_count; ++child) {
      if (clusters_[child].level + 1 != level || !clusters_[child].alive()) continue;
      Shares up;
      for (const std::size_t s : clusters_[child].switches) {
        up.insert(up.end(), neighbours_[s].begin(), neighbours_[s].end());
      }
      const std::vector<std::size_t> best = BestClusters(up, level);
      if (!best.empty()) Adopt(best.front(), child);
    }
  }

  void Adopt(std::size_t parent, std::size_t child) {
    clusters_[child].parent = parent;
    clusters_[parent].children.push_back(child);
  }

  void DropIfIdle(std::size_t level) {
    const bool idle = std::all_of(clusters_.begin(), clusters_.end(), [&](const Cluster& cluster) {
      return cluster.level != level || cluster.children.size() <= 1;
    });
    if (!idle) return;
    for (std::size_t at = 0; at < clusters_.size(); ++at) {
      if (clusters_[at].level != level || !clusters_[at].alive()) continue;
      const std::size_t child = clusters_[at].children.front();
      const std::size_t parent = clusters_[at].parent;
      clusters_[child].parent = parent;
      if (parent != kNone) {
        std::vector<std::size_t>& siblings = clusters_[parent].children;
        std::replace(siblings.begin(), siblings.end(), at, child);
      }
      clusters_[at].children.clear();
    }
  }

  void JoinTops(std::size_t level) {
    DisjointSets parts(switches_.size());
    for (std::size_t s = 0; s < switches_.size(); ++s) {
      for (const Share& neighbour : neighbours_[s]) parts.Join(s, neighbour.child);
    }
    // Rails may be fabrics of their own that only share their hosts.
    for (const Cluster& cluster : clusters_) {
      for (const std::size_t s : cluster.switches) parts.Join(cluster.switches.front(), s);
    }
    std::map<std::size_t, std::vector<std::size_t>> tops;
    for (std::size_t at = 0; at < clusters_.size(); ++at) {
      if (!clusters_[at].alive() || clusters_[at].parent != kNone) continue;
      tops[parts.Find(clusters_[at].switches.front())].push_back(at);
    }
    for (const auto& [part, roots] : tops) {
      if (roots.size() < 2) continue;
      const std::size_t top = clusters_.size();
      clusters_.push_back({.level = level, .switches = {}, .hosts = {}, .children = {}});
      for (const std::size_t root : roots) {
        Adopt(top, root);
        clusters_[top].switches.push_back(clusters_[root].switches.front());
      }
      std::sort(clusters_[top].switches.begin(), clusters_[top].switches.end());
    }
  }

  Tree Emit(std::size_t joined_level) {
    std::vector<std::size_t> order;
    std::map<std::size_t, std::int32_t> tiers;  // level -> tier
    for (std::size_t at = 0; at < clusters_.size(); ++at) {
      if (!clusters_[at].alive()) continue;
      order.push_back(at);
      tiers.emplace(clusters_[at].level, 0);
    }
    std::int32_t tier = 0;
    for (auto& [level, number] : tiers) number = ++tier;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::tuple(clusters_[a].level, clusters_[a].switches.front()) <
             std::tuple(clusters_[b].level, clusters_[b].switches.front());
    });
    std::map<std::size_t, std::size_t> place;
    for (std::size_t i = 0; i < order.size(); ++i) place.emplace(order[i], i);
    Tree tree;
    for (const std::size_t at : order) {
      const Cluster& cluster = clusters_[at];
      const Switch& anchor = switches_[cluster.switches.front()];
      Group& group = tree.groups.emplace_back();
      group.tier = tiers.at(cluster.level);
      group.tier_name = cluster.level == joined_level ? "fabric" : LevelName(cluster.level);
      group.anchor = anchor.name;
      group.identity = anchor.id;
      for (const std::size_t host : cluster.hosts) group.nodes.push_back(hosts_[host]);
      std::sort(group.nodes.begin(), group.nodes.end());
      for (const std::size_t child : cluster.children) group.children.push_back(place.at(child));
      std::sort(group.children.begin(), group.children.end());
    }
    NoteStrays(tree);
    return tree;
  }

  // Hosts whose links do not all go where they belong: somebody should look at the cables.
  void NoteStrays(Tree& tree) const {
    for (std::size_t at = 0; at < clusters_.size(); ++at) {
      for (const std::size_t host : clusters_[at].hosts) {
        for (const Share& link : host_links_[host]) {
          if (cluster_of_[link.child] == at) continue;
          tree.notes.push_back(fmt::format("{} is also cabled to {}, outside its group at {}",
                                           hosts_[host],
                                           switches_[link.child].name,
                                           switches_[clusters_[at].switches.front()].name));
        }
      }
    }
    std::sort(tree.notes.begin(), tree.notes.end());
  }

  const std::map<std::string, std::string>& previous_leaf_;
  std::vector<Switch> switches_;
  std::map<std::string, std::size_t> index_;
  std::vector<Shares> neighbours_;  // by switch
  std::vector<Shares> leaf_hosts_;  // by switch: its hosts
  std::vector<std::string> hosts_;  // ascending; unlinked ones that were placed come last
  std::vector<std::string> unlinked_;
  std::vector<Shares> host_links_;       // by host: its switches
  std::vector<std::size_t> level_;       // by switch; 0 is not reached
  std::vector<std::size_t> cluster_of_;  // by switch
  std::vector<Cluster> clusters_;
};

}  // namespace

std::vector<std::vector<std::string>> NodesBelow(const Tree& tree) {
  std::vector<std::vector<std::string>> below(tree.groups.size());
  for (std::size_t at = 0; at < tree.groups.size(); ++at) {
    below[at] = tree.groups[at].nodes;
    for (const std::size_t child : tree.groups[at].children) {
      below[at].insert(below[at].end(), below[child].begin(), below[child].end());
    }
    std::sort(below[at].begin(), below[at].end());
  }
  return below;
}

Tree FormTree(const Fabric& fabric, const std::map<std::string, std::string>& previous_leaf) {
  return Former(fabric, previous_leaf).Run();
}

}  // namespace strata::discovery
