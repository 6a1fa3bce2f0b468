#include "model/hypernode_shape.h"

#include <algorithm>
#include <limits>

#include "model/hypernode_links.h"

namespace strata {
namespace {

constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

// What is accepted, but probably not what was meant.
std::string NotesOn(const HyperNodeSpec& spec) {
  bool has_nodes = false;
  bool has_hypernodes = false;
  bool has_skipped = false;
  for (const HyperNodeMember& member : spec.members) {
    if (member.kind == HyperNodeMember::Kind::kNode) {
      has_nodes = true;
      continue;
    }
    has_hypernodes = true;
    has_skipped |= std::holds_alternative<NamePattern>(member.selector) ||
                   std::holds_alternative<LabelSelector>(member.selector);
  }
  std::string notes;
  if (has_skipped) {
    AddSentence(notes,
                "Members of type HyperNode with regexMatch or labelMatch are skipped: only "
                "exactMatch selects HyperNodes.");
  }
  if (has_nodes && has_hypernodes) {
    AddSentence(notes, "It has members of both types, Node and HyperNode; all of them count.");
  }
  return notes;
}

ResolvedHyperNode ResolvedFrom(const HyperNodeSpec& spec) {
  ResolvedHyperNode resolved;
  resolved.name = spec.name;
  resolved.tier = spec.tier;
  resolved.tier_name = spec.tier_name;
  return resolved;
}

}  // namespace

HyperNodeShape::HyperNodeShape(std::span<const HyperNodeSpec* const> specs) {
  HyperNodeLinks links = ResolveLinks(specs);
  hypernodes_.reserve(specs.size() + 1);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    ResolvedHyperNode& hypernode = hypernodes_.emplace_back(ResolvedFrom(*specs[i]));
    hypernode.parent = links.parent[i];
    hypernode.in_tree = !links.left_out[i];
    hypernode.ready = links.faults[i].empty();
    hypernode.reason = std::move(links.faults[i]);
    AddSentence(hypernode.reason, NotesOn(*specs[i]));
    ready_ = ready_ && hypernode.ready;
  }
  AddTop();
  OrderDepthFirst();
  CollectTiers();
  CollectTierNames();
}

void HyperNodeShape::AddTop() {
  std::int32_t highest = 0;
  for (const ResolvedHyperNode& hypernode : hypernodes_) {
    if (hypernode.in_tree) highest = std::max(highest, hypernode.tier);
  }
  const HyperNodeId top_id = IdAt<HyperNodeId>(hypernodes_.size());
  ResolvedHyperNode& top = hypernodes_.emplace_back();
  top.name = kTopHyperNodeName;
  top.tier = std::min(highest, kHighestTier) + 1;
  for (std::size_t i = 0; i < top_id.index(); ++i) {
    ResolvedHyperNode& hypernode = hypernodes_[i];
    if (!hypernode.in_tree) continue;
    if (!hypernode.parent.valid()) hypernode.parent = top_id;
    hypernodes_[hypernode.parent.index()].children.push_back(IdAt<HyperNodeId>(i));
  }
}

void HyperNodeShape::OrderDepthFirst() {
  position_.assign(hypernodes_.size(), kNowhere);
  end_.assign(hypernodes_.size(), 0);
  std::vector<HyperNodeId> pending = {top()};
  while (!pending.empty()) {
    const HyperNodeId id = pending.back();
    pending.pop_back();
    position_[id.index()] = static_cast<std::uint32_t>(order_.size());
    order_.push_back(id);
    ResolvedHyperNode& hypernode = hypernodes_[id.index()];
    if (hypernode.parent.valid()) {
      hypernode.depth = hypernodes_[hypernode.parent.index()].depth + 1;
    }
    pending.insert(pending.end(), hypernode.children.rbegin(), hypernode.children.rend());
  }
  // Backwards, so that the end of every child is known before its parent's.
  for (std::uint32_t position = static_cast<std::uint32_t>(order_.size()); position-- > 0;) {
    const HyperNodeId id = order_[position];
    const std::vector<HyperNodeId>& children = hypernodes_[id.index()].children;
    end_[id.index()] = children.empty() ? position + 1 : end_[children.back().index()];
  }
}

void HyperNodeShape::CollectTiers() {
  std::map<std::int32_t, std::vector<HyperNodeId>> by_tier;
  for (std::size_t i = 0; i < hypernodes_.size(); ++i) {
    if (hypernodes_[i].in_tree) by_tier[hypernodes_[i].tier].push_back(IdAt<HyperNodeId>(i));
  }
  for (const auto& [tier, ids] : by_tier) {
    tiers_.push_back(tier);
    tier_begin_.push_back(static_cast<std::uint32_t>(by_tier_.size()));
    by_tier_.insert(by_tier_.end(), ids.begin(), ids.end());
  }
  tier_begin_.push_back(static_cast<std::uint32_t>(by_tier_.size()));
}

void HyperNodeShape::CollectTierNames() {
  // For each tier name, the first HyperNode of each tier that has it.
  std::map<std::string, std::map<std::int32_t, HyperNodeId>, std::less<>> with_name;
  for (std::size_t i = 0; i < hypernodes_.size(); ++i) {
    const ResolvedHyperNode& hypernode = hypernodes_[i];
    if (!hypernode.in_tree || hypernode.tier_name.empty()) continue;
    with_name[hypernode.tier_name].try_emplace(hypernode.tier, IdAt<HyperNodeId>(i));
  }
  for (const auto& [name, tiers] : with_name) tier_of_name_[name] = tiers.rbegin()->first;

  for (ResolvedHyperNode& hypernode : hypernodes_) {
    if (!hypernode.in_tree || hypernode.tier_name.empty()) continue;
    const std::map<std::int32_t, HyperNodeId>& tiers = with_name.find(hypernode.tier_name)->second;
    if (tiers.size() == 1) continue;
    const auto& [tier, bearer] =
        tiers.begin()->first == hypernode.tier ? *std::next(tiers.begin()) : *tiers.begin();
    AddSentence(hypernode.reason,
                "Its tierName \"" + hypernode.tier_name + "\" is also on tier " +
                    std::to_string(tier) + " (HyperNode \"" + hypernodes_[bearer.index()].name +
                    "\"); as a limit it means the highest, tier " +
                    std::to_string(tiers.rbegin()->first) + ".");
  }
}

std::optional<HyperNodeId> HyperNodeShape::Find(std::string_view name) const {
  if (name == kTopHyperNodeName) return top();
  const auto end = hypernodes_.end() - 1;
  const auto found = std::lower_bound(
      hypernodes_.begin(), end, name, [](const ResolvedHyperNode& a, std::string_view wanted) {
        return a.name < wanted;
      });
  if (found == end || found->name != name) return std::nullopt;
  return IdAt<HyperNodeId>(static_cast<std::size_t>(found - hypernodes_.begin()));
}

std::span<const HyperNodeId> HyperNodeShape::OfTier(std::int32_t tier) const {
  const auto found = std::lower_bound(tiers_.begin(), tiers_.end(), tier);
  if (found == tiers_.end() || *found != tier) return {};
  const auto index = static_cast<std::size_t>(found - tiers_.begin());
  return std::span(by_tier_).subspan(tier_begin_[index],
                                     tier_begin_[index + 1] - tier_begin_[index]);
}

std::optional<std::int32_t> HyperNodeShape::TierOfName(std::string_view tier_name) const {
  const auto found = tier_of_name_.find(tier_name);
  if (found == tier_of_name_.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string> HyperNodeShape::TierNames() const {
  std::vector<std::string> names;
  names.reserve(tier_of_name_.size());
  for (const auto& [name, tier] : tier_of_name_) names.push_back(name);
  return names;
}

std::vector<HyperNodeId> HyperNodeShape::AncestorsOf(HyperNodeId id) const {
  std::vector<HyperNodeId> ancestors;
  for (; id.valid(); id = hypernodes_[id.index()].parent) ancestors.push_back(id);
  return ancestors;
}

HyperNodeId HyperNodeShape::Lca(HyperNodeId a, HyperNodeId b) const {
  if (!a.valid()) return b;
  if (!b.valid()) return a;
  while (a.valid() && !IsAncestorOrSelf(a, b)) a = hypernodes_[a.index()].parent;
  return a.valid() ? a : top();  // above what is left out there is only the top
}

}  // namespace strata
