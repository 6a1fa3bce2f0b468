#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "sched/session.h"

namespace strata {

// Which HyperNodes look the same to tasks that ask for amounts alone: node by node, what there is
// and what the plugins give. In those of one kind the same tasks find the same places, position by
// position, so that only one of them need be tried.
//
// Only HyperNodes that are one chain of nodes have a kind: inside one chain nothing but the nodes
// themselves makes a difference.
class LeafKinds {
 public:
  // True when that is all that matters to these classes: no devices, ports, volumes, CPUs of their
  // own, and no rule about pods elsewhere.
  [[nodiscard]] static bool Suffice(Session& session, std::span<const ClassId> classes);
  // True when the HyperNode has no parts, and no other HyperNode has a part of it.
  [[nodiscard]] static bool IsLeaf(const HyperNodeTree& tree, HyperNodeId hypernode);

  LeafKinds(Session& session, std::vector<ClassId> classes)
      : session_(session), classes_(std::move(classes)) {}

  // Equal for leaves that are alike now, or were when they were asked about. REQUIRES: both of the
  // above. COST: O(nodes) when the leaf has changed since it was asked about last.
  [[nodiscard]] std::size_t KindOf(HyperNodeId leaf);

 private:
  using Picture = std::vector<std::int64_t>;
  struct Entry {
    std::uint64_t version = 0;  // of the sums of the HyperNode
    std::size_t kind = 0;
  };
  void Draw(HyperNodeId leaf);  // into picture_

  Session& session_;
  std::vector<ClassId> classes_;
  std::uint64_t tree_version_ = 0;
  std::vector<Entry> entries_;  // by HyperNode
  std::map<Picture, std::size_t> kinds_;
  Picture picture_;            // scratch
  std::vector<Score> scores_;  // scratch
  std::size_t next_kind_ = 0;  // never goes back, so that a kind is one picture for good
};

}  // namespace strata
