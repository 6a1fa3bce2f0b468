#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "sched/class_view_cache.h"

namespace strata {

// Groups HyperNodes into kinds that look the same to tasks of certain classes: node by node the
// same amounts and plugin scores, and the same tiers in between. In HyperNodes of one kind the same
// tasks are placed at the same positions, so that only one HyperNode of a kind need be tried.
class DomainKinds {
 public:
  // A kind, and the sums of the HyperNodes above where they make a difference.
  using Likeness = std::pair<std::size_t, std::vector<std::int64_t>>;

  // True when amounts are all that matters to these classes: no devices, ports, volumes or NUMA
  // policy, no rule about other pods, and no score that looks at more.
  [[nodiscard]] static bool Suffice(const ClusterState& state,
                                    ClassViewCache& views,
                                    std::span<const ClassId> classes);
  // True when the HyperNode has no children and none of its nodes is in another leaf: inside it
  // only the nodes themselves make a difference.
  [[nodiscard]] static bool IsLeaf(const HyperNodeTree& tree, HyperNodeId hypernode);

  DomainKinds(const ClusterState& state, ClassViewCache& views, std::vector<ClassId> classes)
      : state_(state), views_(views), classes_(std::move(classes)) {}

  // Equal for leaves that look the same at the time of the calls. REQUIRES: Suffice, IsLeaf.
  // COST: O(nodes) when the leaf has changed since the last call.
  [[nodiscard]] std::size_t KindOf(HyperNodeId leaf);
  // Equal for HyperNodes in which a search has the same result. None where that is not cheap to
  // decide: a node is in two leaves, or in none. REQUIRES: Suffice. COST: O(nodes) of the leaves
  // that have changed.
  [[nodiscard]] std::optional<Likeness> LikenessOf(HyperNodeId hypernode);

 private:
  using Picture = std::vector<std::int64_t>;
  enum class Form : std::uint8_t { kUnknown, kLeaf, kRegular, kOther };
  struct Entry {
    Form form = Form::kUnknown;
    std::size_t order = 0;
    std::uint64_t version = 0;  // of the sums of the HyperNode
    std::size_t kind = 0;
  };
  void Refresh();
  [[nodiscard]] Form FormOf(HyperNodeId hypernode);
  [[nodiscard]] bool IsRegular(HyperNodeId hypernode) const;
  // Equal for HyperNodes whose nodes and children are in the same order by name, so that ties are
  // broken the same way.
  [[nodiscard]] std::size_t OrderOf(HyperNodeId hypernode);
  [[nodiscard]] std::size_t Number(HyperNodeId hypernode);
  void AddSums(HyperNodeId hypernode, Picture& picture) const;
  void DrawLeaf(HyperNodeId leaf, Picture& picture);

  const ClusterState& state_;
  ClassViewCache& views_;
  std::vector<ClassId> classes_;
  std::uint64_t tree_version_ = 0;
  std::vector<Entry> entries_;  // by HyperNode
  std::map<std::vector<std::uint32_t>, std::size_t> orders_;
  std::map<Picture, std::size_t> kinds_;
  std::vector<Score> scores_;  // scratch
  std::size_t next_kind_ = 0;  // never reused, so that a kind is always the same picture
};

}  // namespace strata
