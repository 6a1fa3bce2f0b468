#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "sched/session.h"

namespace strata {

// Which HyperNodes look the same to tasks that ask for amounts alone: node by node, what there is
// and what the plugins give, and the tiers between. In those of one kind the same tasks find the
// same places, position by position, so that only one of them need be tried.
class DomainKinds {
 public:
  // A kind, and the sums of what is above where that makes a difference.
  using Likeness = std::pair<std::size_t, std::vector<std::int64_t>>;

  // True when that is all that matters to these classes: no devices, ports, volumes, CPUs of their
  // own, and no rule about pods elsewhere.
  [[nodiscard]] static bool Suffice(Session& session, std::span<const ClassId> classes);
  // True when the HyperNode has no parts, and no other HyperNode has a part of it: inside it
  // nothing but the nodes themselves makes a difference.
  [[nodiscard]] static bool IsLeaf(const HyperNodeTree& tree, HyperNodeId hypernode);

  DomainKinds(Session& session, std::vector<ClassId> classes)
      : session_(session), classes_(std::move(classes)) {}

  // Equal for leaves that are alike now, or were when they were asked about. REQUIRES: both of the
  // above. COST: O(nodes) when the leaf has changed since it was asked about last.
  [[nodiscard]] std::size_t KindOf(HyperNodeId leaf);
  // Equal for HyperNodes where all of it comes to the same. None where that is not easily said: a
  // node is in two leaves, or beside them. REQUIRES: Suffice. COST: O(nodes) of the leaves that
  // have changed.
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
  // Equal for HyperNodes in which names ascend in the same way, so that ties fall alike.
  [[nodiscard]] std::size_t OrderOf(HyperNodeId hypernode);
  [[nodiscard]] std::size_t Number(HyperNodeId hypernode);
  void AddSums(HyperNodeId hypernode, Picture& picture) const;
  void DrawLeaf(HyperNodeId leaf, Picture& picture);

  Session& session_;
  std::vector<ClassId> classes_;
  std::uint64_t tree_version_ = 0;
  std::vector<Entry> entries_;  // by HyperNode
  std::map<std::vector<std::uint32_t>, std::size_t> orders_;
  std::map<Picture, std::size_t> kinds_;
  std::vector<Score> scores_;  // scratch
  std::size_t next_kind_ = 0;  // never goes back, so that a kind is one picture for good
};

}  // namespace strata
