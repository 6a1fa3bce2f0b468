#include "model/hypernode_links.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "model/sorted_vector.h"

namespace strata {
namespace {

using Specs = std::span<const HyperNodeSpec* const>;
using Edges = std::vector<std::vector<std::uint32_t>>;  // of each HyperNode, what it lists

constexpr std::uint32_t kUnseen = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kNamesInAReason = 3;

std::optional<std::uint32_t> IndexOf(Specs specs, std::string_view name) {
  const auto found = std::lower_bound(
      specs.begin(), specs.end(), name, [](const HyperNodeSpec* spec, std::string_view wanted) {
        return spec->name < wanted;
      });
  if (found == specs.end() || (*found)->name != name) return std::nullopt;
  return static_cast<std::uint32_t>(found - specs.begin());
}

Edges ListedHyperNodes(Specs specs) {
  Edges edges(specs.size());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    for (const HyperNodeMember& member : specs[i]->members) {
      const auto* exact = std::get_if<HyperNodeMember::Exact>(&member.selector);
      if (member.kind != HyperNodeMember::Kind::kHyperNode || exact == nullptr) continue;
      if (const auto child = IndexOf(specs, exact->name)) edges[i].push_back(*child);
    }
    SortUnique(edges[i]);
  }
  return edges;
}

// Tarjan's strongly connected components, on a stack of its own: a chain of HyperNodes may be
// longer than the program's stack is deep. Two HyperNodes are in one component when each leads to
// the other.
class Components {
 public:
  explicit Components(const Edges& edges)
      : edges_(edges),
        seen_(edges.size(), kUnseen),
        low_(edges.size()),
        of_(edges.size(), kUnseen) {
    for (std::uint32_t i = 0; i < edges.size(); ++i) {
      if (seen_[i] == kUnseen) Walk(i);
    }
  }

  [[nodiscard]] std::uint32_t operator[](std::uint32_t i) const { return of_[i]; }

 private:
  struct Step {
    std::uint32_t at;
    std::size_t next_edge;
  };

  void Walk(std::uint32_t root) {
    Enter(root);
    while (!path_.empty()) {
      Step& step = path_.back();
      if (step.next_edge == edges_[step.at].size()) {
        Leave(step.at);
        continue;
      }
      const std::uint32_t child = edges_[step.at][step.next_edge++];
      if (seen_[child] == kUnseen) {
        Enter(child);
      } else if (of_[child] == kUnseen) {
        low_[step.at] = std::min(low_[step.at], seen_[child]);
      }
    }
  }

  void Enter(std::uint32_t i) {
    seen_[i] = low_[i] = clock_++;
    open_.push_back(i);
    path_.push_back({i, 0});
  }

  void Leave(std::uint32_t i) {
    path_.pop_back();
    if (!path_.empty()) low_[path_.back().at] = std::min(low_[path_.back().at], low_[i]);
    if (low_[i] != seen_[i]) return;
    for (std::uint32_t member = kUnseen; member != i; open_.pop_back()) {
      member = open_.back();
      of_[member] = i;
    }
  }

  const Edges& edges_;
  std::vector<std::uint32_t> seen_;  // when a HyperNode was first met
  std::vector<std::uint32_t> low_;   // the earliest open HyperNode it leads to
  std::vector<std::uint32_t> of_;    // its component, named by one of its HyperNodes
  std::vector<std::uint32_t> open_;  // met, component not yet known
  std::vector<Step> path_;
  std::uint32_t clock_ = 0;
};

// A list of quoted members in a sentence, cut short so that a HyperNode with a thousand faults
// still has a reason that can be read.
class MemberList {
 public:
  void Add(const std::string& name, const std::string& remark) {
    if (++count_ > kNamesInAReason) return;
    if (count_ > 1) text_ += ", ";
    text_ += "\"" + name + "\" (" + remark + ")";
  }

  [[nodiscard]] bool empty() const { return count_ == 0; }
  // "member "a" (...)", "members "a" (...), "b" (...) and 7 more".
  [[nodiscard]] std::string ToString() const {
    std::string text = count_ == 1 ? "member " : "members ";
    text += text_;
    if (count_ <= kNamesInAReason) return text;
    return text + " and " + std::to_string(count_ - kNamesInAReason) + " more";
  }

 private:
  std::size_t count_ = 0;
  std::string text_;
};

void LeaveOutCycles(Specs specs, const Edges& edges, HyperNodeLinks& links) {
  const Components component(edges);
  for (std::uint32_t i = 0; i < edges.size(); ++i) {
    const auto back = std::find_if(edges[i].begin(), edges[i].end(), [&](std::uint32_t child) {
      return component[child] == component[i];
    });
    if (back == edges[i].end()) continue;
    links.left_out[i] = true;
    // A HyperNode that lists itself has that as its own fault, whatever larger cycle it is also on.
    const bool lists_itself = HasSorted(edges[i], i);
    links.faults[i] =
        lists_itself
            ? "Excluded from the tree: it lists itself as a member; remove that member."
            : "Excluded from the tree: it is on a cycle, its member \"" + specs[*back]->name +
                  "\" leads back to it; remove one of the members that close the cycle.";
  }
}

// Gives `parent` those of its children that it may have. Parents must come in ascending order.
void ClaimChildren(Specs specs,
                   std::uint32_t parent,
                   const std::vector<std::uint32_t>& children,
                   HyperNodeLinks& links) {
  MemberList not_below;
  MemberList taken;
  for (const std::uint32_t child : children) {
    if (links.left_out[child]) continue;
    const HyperNodeSpec& spec = *specs[child];
    if (specs[parent]->tier <= spec.tier) {
      not_below.Add(spec.name, "tier " + std::to_string(spec.tier));
    } else if (links.parent[child].valid()) {
      taken.Add(spec.name, "held by \"" + specs[links.parent[child].index()]->name + "\"");
    } else {
      links.parent[child] = HyperNodeId{parent};
    }
  }
  std::string& faults = links.faults[parent];
  if (!not_below.empty()) {
    AddSentence(faults,
                "Continues without " + not_below.ToString() + ": its own tier " +
                    std::to_string(specs[parent]->tier) +
                    " must be above theirs; change the tiers or remove the members.");
  }
  if (!taken.empty()) {
    AddSentence(faults,
                "Continues without " + taken.ToString() +
                    ": a HyperNode has one parent, the one with the lowest name; remove it"
                    " from the members of one of them.");
  }
}

}  // namespace

void AddSentence(std::string& reason, std::string_view sentence) {
  if (!reason.empty() && !sentence.empty()) reason += ' ';
  reason += sentence;
}

HyperNodeLinks ResolveLinks(Specs specs) {
  HyperNodeLinks links;
  links.parent.resize(specs.size());
  links.left_out.resize(specs.size());
  links.faults.resize(specs.size());
  const Edges edges = ListedHyperNodes(specs);
  LeaveOutCycles(specs, edges, links);
  for (std::uint32_t parent = 0; parent < specs.size(); ++parent) {
    if (!links.left_out[parent]) ClaimChildren(specs, parent, edges[parent], links);
  }
  return links;
}

}  // namespace strata
