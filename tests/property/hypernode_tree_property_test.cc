// A HyperNodeTree that lived through a random history is compared with one built afresh from what
// is there at its end, in another order and with other node ids, and with a slow, obvious model.
// Names are few, so that cycles, double parents, missing children and label moves happen all the
// time.
#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "model/hypernode_tree.h"
#include "tests/support/property.h"

namespace strata {
namespace {

using Kind = HyperNodeMember::Kind;
using testing::Below;

struct Step {
  enum class What : std::uint8_t { kUpsertHyperNode, kRemoveHyperNode, kUpsertNode, kRemoveNode };
  What what = What::kUpsertHyperNode;
  int name = 0;
  int tier = 0;  // of an untidy HyperNode; of a node, its label "number"
  bool tidy = true;
  std::string tier_name;
  std::vector<std::pair<int, int>> members;  // (which selector, which name)
  std::string rack;                          // label of a node, "" for none
  bool read = false;                         // whether the tree is read after this step
};

void showValue(const Step& step, std::ostream& os) {  // NOLINT(readability-identifier-naming)
  static constexpr const char* kWhat[] = {"upsert h", "remove h", "upsert n", "remove n"};
  os << kWhat[static_cast<std::size_t>(step.what)] << step.name << " tier=" << step.tier
     << (step.tidy ? " tidy" : "") << " tierName=" << step.tier_name << " rack=" << step.rack
     << " members=";
  for (const auto& [selector, name] : step.members) os << '(' << selector << ',' << name << ')';
  os << (step.read ? " read" : "") << '\n';
}

constexpr int kNames = 8;
constexpr int kSelectors = 11;

rc::Gen<Step> AnyStep() {
  // HyperNodes name HyperNodes half of the time (selector 0), else nodes in one of the other ways.
  const auto selector = rc::gen::oneOf(rc::gen::just(0), Below(kSelectors));
  const auto members = rc::gen::resize(
      5,
      rc::gen::container<std::vector<std::pair<int, int>>>(rc::gen::pair(selector, Below(kNames))));
  const auto what = rc::gen::weightedElement<Step::What>({{8, Step::What::kUpsertHyperNode},
                                                          {1, Step::What::kRemoveHyperNode},
                                                          {8, Step::What::kUpsertNode},
                                                          {1, Step::What::kRemoveNode}});
  return rc::gen::build<Step>(
      rc::gen::set(&Step::what, what),
      rc::gen::set(&Step::name, Below(kNames)),
      rc::gen::set(&Step::tier, Below(5)),
      rc::gen::set(&Step::tidy, rc::gen::weightedElement<bool>({{9, true}, {1, false}})),
      rc::gen::set(&Step::tier_name, rc::gen::element<std::string>("", "rack", "spine")),
      rc::gen::set(&Step::members, members),
      rc::gen::set(&Step::rack, rc::gen::element<std::string>("", "a", "b", "c")),
      rc::gen::set(&Step::read, rc::gen::element(false, false, true)));
}

LabelSelector Racks(SelectorOp op, std::vector<std::string> values = {}) {
  return {{{"rack", op, std::move(values)}}};
}

HyperNodeMember MemberOf(std::pair<int, int> choice) {
  const std::string number = std::to_string(choice.second);
  const std::string rack(1, static_cast<char>('a' + choice.second % 3));
  switch (choice.first) {
    case 0:
      return {Kind::kHyperNode, HyperNodeMember::Exact{"h" + number}};
    case 1:
      return {Kind::kNode, HyperNodeMember::Exact{"n" + number}};
    case 2:
      return {Kind::kNode, *NamePattern::Compile("^n[0-" + number + "]$")};
    case 3:
      return {Kind::kNode, *NamePattern::Compile(number)};
    case 4:
      return {Kind::kNode, Racks(SelectorOp::kIn, {rack})};
    case 5:
      return {Kind::kNode, Racks(SelectorOp::kIn, {"a", "c"})};
    case 6:
      return {Kind::kNode, Racks(SelectorOp::kNotIn, {rack})};
    case 7:
      return {Kind::kNode,
              LabelSelector{
                  {{"rack", SelectorOp::kExists, {}}, {"number", SelectorOp::kIn, {number, "x"}}}}};
    case 8:
      return {Kind::kNode, LabelSelector{}};
    case 9:
      return {Kind::kHyperNode, *NamePattern::Compile("h")};
    default:
      return {};
  }
}

// What is there, without any cleverness.
struct World {
  std::map<std::string, HyperNodeSpec> hypernodes;
  std::map<std::string, Labels> nodes;
};

// A tree and the node ids its owner gave out.
struct Owner {
  void Upsert(const std::string& name, const Labels& labels) {
    if (!ids.contains(name)) {
      const auto hole = std::find(names.begin(), names.end(), "");
      ids[name] = IdAt<NodeId>(static_cast<std::size_t>(hole - names.begin()));
      if (hole == names.end()) names.emplace_back();
      names[ids[name].index()] = name;
    }
    tree.UpsertNode(ids[name], name, labels);
  }
  void Remove(const std::string& name) {
    const auto known = ids.find(name);
    if (known == ids.end()) return;
    tree.RemoveNode(known->second);
    names[known->second.index()] = "";
    ids.erase(known);
  }

  HyperNodeTree tree;
  std::map<std::string, NodeId> ids;
  std::vector<std::string> names;
};

void Apply(const Step& step, World& world, Owner& owner) {
  const std::string hypernode = "h" + std::to_string(step.name);
  const std::string node = "n" + std::to_string(step.name);
  switch (step.what) {
    case Step::What::kUpsertHyperNode: {
      const int tier = step.tidy ? step.name : step.tier;
      HyperNodeSpec spec = {hypernode, tier, step.tier_name, {}};
      for (std::pair<int, int> choice : step.members) {
        if (step.tidy && choice.first == 0) choice.second %= std::max(step.name, 1);
        if (step.tidy && choice.first == 0 && step.name == 0) continue;
        spec.members.push_back(MemberOf(choice));
      }
      world.hypernodes[hypernode] = spec;
      owner.tree.UpsertHyperNode(std::move(spec));
      return;
    }
    case Step::What::kRemoveHyperNode:
      world.hypernodes.erase(hypernode);
      owner.tree.RemoveHyperNode(hypernode);
      return;
    case Step::What::kUpsertNode: {
      Labels labels = {{"number", std::to_string(step.tier)}};
      if (!step.rack.empty()) labels["rack"] = step.rack;
      world.nodes[node] = labels;
      owner.Upsert(node, labels);
      return;
    }
    case Step::What::kRemoveNode:
      world.nodes.erase(node);
      owner.Remove(node);
  }
}

Owner BuiltAfresh(const World& world, unsigned seed) {
  std::vector<std::string> names;
  for (const auto& [name, spec] : world.hypernodes) names.push_back(name);
  for (const auto& [name, labels] : world.nodes) names.push_back(name);
  std::shuffle(names.begin(), names.end(), std::minstd_rand(seed));
  Owner owner;
  for (const std::string& name : names) {
    const auto spec = world.hypernodes.find(name);
    if (spec != world.hypernodes.end()) owner.tree.UpsertHyperNode(spec->second);
    if (world.nodes.contains(name)) owner.Upsert(name, world.nodes.at(name));
  }
  return owner;
}

// ---- everything public, by names ----

class Dump {
 public:
  explicit Dump(const Owner& owner) : owner_(owner), tree_(owner.tree) {
    out_ << "ready " << tree_.ready() << " has " << tree_.has_hypernodes() << " tiers";
    for (const std::int32_t tier : tree_.tiers()) {
      out_ << ' ' << tier << ':';
      Names(tree_.OfTier(tier));
    }
    for (const std::string& name : tree_.TierNames()) {
      out_ << ' ' << name << '=' << tree_.TierOfName(name).value();
    }
    out_ << '\n';
    for (std::uint32_t i = 0; i < tree_.hypernodes().size(); ++i) HyperNode(HyperNodeId{i});
    for (const auto& [name, id] : owner.ids) Node(name, id);
    out_ << tree_.chain_count() << " chains\n";
    for (std::uint32_t i = 0; i < tree_.chain_count(); ++i) {
      out_ << i << ": leaf " << tree_.at(tree_.LeafOf(ChainId{i})).name << " of ";
      Names(tree_.HyperNodesOf(ChainId{i}));
      out_ << '\n';
    }
  }

  [[nodiscard]] std::string ToString() const { return out_.str(); }

 private:
  void Names(std::span<const HyperNodeId> ids) {
    for (const HyperNodeId id : ids) out_ << tree_.at(id).name << ',';
  }

  void HyperNode(HyperNodeId id) {
    const HyperNodeTree::HyperNode& hypernode = tree_.at(id);
    out_ << hypernode.name << " found " << (tree_.Find(hypernode.name) == id) << " tier "
         << hypernode.tier << hypernode.tier_name << " depth " << hypernode.depth << " in "
         << hypernode.in_tree << " ready " << hypernode.ready << " [" << hypernode.reason
         << "] children ";
    Names(hypernode.children);
    out_ << " ancestors ";
    Names(tree_.AncestorsOf(id));
    out_ << " nodes ";
    for (const NodeId node : tree_.NodesOf(id)) out_ << owner_.names[node.index()] << ',';
    out_ << " lca ";
    for (std::uint32_t i = 0; i < tree_.hypernodes().size(); ++i) {
      out_ << tree_.at(tree_.Lca(id, HyperNodeId{i})).name
           << tree_.IsAncestorOrSelf(id, HyperNodeId{i}) << ',';
    }
    out_ << '\n';
  }

  void Node(const std::string& name, NodeId id) {
    out_ << name << " rank " << tree_.NameRank(id) << " chain " << tree_.ChainOf(id).value
         << " in ";
    for (std::uint32_t i = 0; i < tree_.hypernodes().size(); ++i) {
      out_ << tree_.Contains(HyperNodeId{i}, id);
    }
    out_ << '\n';
  }

  const Owner& owner_;
  const HyperNodeTree& tree_;
  std::ostringstream out_;
};

std::string Dumped(const Owner& owner) {
  return Dump(owner).ToString();
}

// ---- the model ----

class Model {
 public:
  explicit Model(const World& world) : world_(world) {
    for (const auto& [name, spec] : world.hypernodes) {
      Reach(name, reached_[name]);
    }
    for (const auto& [name, spec] : world.hypernodes) {
      for (const std::string& child : Listed(name)) {
        const bool may = !OnCycle(name) && !OnCycle(child) && spec.tier > TierOf(child);
        if (may) parent_.try_emplace(child, name);  // names ascend, so the lowest is first
      }
    }
  }

  [[nodiscard]] bool OnCycle(const std::string& name) const {
    return reached_.at(name).contains(name);
  }
  // "" for roots and for what is left out.
  [[nodiscard]] std::string ParentOf(const std::string& name) const {
    const auto parent = parent_.find(name);
    return parent == parent_.end() ? "" : parent->second;
  }
  [[nodiscard]] bool Ready(const std::string& name) const {
    if (OnCycle(name)) return false;
    const std::set<std::string> listed = Listed(name);
    return std::all_of(listed.begin(), listed.end(), [&](const std::string& child) {
      return OnCycle(child) || ParentOf(child) == name;
    });
  }
  [[nodiscard]] std::set<std::string> HyperNodesOf(const std::string& node) const {
    std::set<std::string> result;
    for (const auto& [name, spec] : world_.hypernodes) {
      if (OnCycle(name) || !Takes(spec, node)) continue;
      for (std::string above = name; !above.empty(); above = ParentOf(above)) result.insert(above);
    }
    return result;
  }

 private:
  [[nodiscard]] std::int32_t TierOf(const std::string& name) const {
    return world_.hypernodes.at(name).tier;
  }
  [[nodiscard]] std::set<std::string> Listed(const std::string& name) const {
    std::set<std::string> children;
    for (const HyperNodeMember& member : world_.hypernodes.at(name).members) {
      const auto* exact = std::get_if<HyperNodeMember::Exact>(&member.selector);
      if (member.kind != Kind::kHyperNode || exact == nullptr) continue;
      if (world_.hypernodes.contains(exact->name)) children.insert(exact->name);
    }
    return children;
  }
  void Reach(const std::string& name, std::set<std::string>& reached) const {
    for (const std::string& child : Listed(name)) {
      if (reached.insert(child).second) Reach(child, reached);
    }
  }
  [[nodiscard]] bool Takes(const HyperNodeSpec& spec, const std::string& node) const {
    return std::any_of(spec.members.begin(), spec.members.end(), [&](const auto& member) {
      if (member.kind != Kind::kNode) return false;
      if (const auto* exact = std::get_if<HyperNodeMember::Exact>(&member.selector)) {
        return exact->name == node;
      }
      if (const auto* pattern = std::get_if<NamePattern>(&member.selector)) {
        return pattern->Matches(node);
      }
      const auto* labels = std::get_if<LabelSelector>(&member.selector);
      return labels != nullptr && !labels->empty() && labels->Matches(world_.nodes.at(node));
    });
  }

  const World& world_;
  std::map<std::string, std::set<std::string>> reached_;
  std::map<std::string, std::string> parent_;
};

void CheckStructure(const Model& model, const World& world, const HyperNodeTree& tree) {
  RC_ASSERT(tree.hypernodes().size() == world.hypernodes.size() + 1);
  for (const auto& [name, spec] : world.hypernodes) {
    const HyperNodeTree::HyperNode& hypernode = tree.at(tree.Find(name).value());
    RC_ASSERT(hypernode.in_tree == !model.OnCycle(name));
    RC_ASSERT(hypernode.ready == model.Ready(name));
    if (!hypernode.in_tree) {
      RC_ASSERT(!hypernode.parent.valid());
      RC_ASSERT(tree.NodesOf(tree.Find(name).value()).empty());
      continue;
    }
    const std::string parent = model.ParentOf(name);
    RC_ASSERT(tree.at(hypernode.parent).name ==
              (parent.empty() ? std::string(kTopHyperNodeName) : parent));
  }
}

void CheckNodes(const Model& model, const World& world, const Owner& owner) {
  std::map<std::string, std::set<std::string>> nodes_of;
  std::map<std::set<std::string>, ChainId> chain_of;
  for (const auto& [node, labels] : world.nodes) {
    std::set<std::string> holders = model.HyperNodesOf(node);
    holders.insert(std::string(kTopHyperNodeName));
    for (const std::string& holder : holders) nodes_of[holder].insert(node);
    const ChainId chain = owner.tree.ChainOf(owner.ids.at(node));
    std::set<std::string> found;
    for (const HyperNodeId id : owner.tree.HyperNodesOf(chain)) {
      found.insert(owner.tree.at(id).name);
    }
    RC_ASSERT(found == holders);
    RC_ASSERT(chain_of.try_emplace(holders, chain).first->second == chain);
  }
  RC_ASSERT(owner.tree.chain_count() == chain_of.size());
  for (std::uint32_t i = 0; i < owner.tree.hypernodes().size(); ++i) {
    std::set<std::string> found;
    std::vector<std::pair<std::uint32_t, std::string>> order;
    for (const NodeId node : owner.tree.NodesOf(HyperNodeId{i})) {
      RC_ASSERT(found.insert(owner.names[node.index()]).second);
      order.emplace_back(owner.tree.ChainOf(node).value, owner.names[node.index()]);
    }
    RC_ASSERT(found == nodes_of[owner.tree.at(HyperNodeId{i}).name]);
    RC_ASSERT(std::is_sorted(order.begin(), order.end()));
  }
}

void CheckHistory(const std::vector<Step>& steps, unsigned seed) {
  World world;
  Owner owner;
  std::string last_dump = Dumped(owner);
  std::uint64_t last_version = owner.tree.version();
  for (const Step& step : steps) {
    Apply(step, world, owner);
    if (!step.read && &step != &steps.back()) continue;
    const Model model(world);
    CheckStructure(model, world, owner.tree);
    CheckNodes(model, world, owner);
    const std::string dump = Dumped(owner);
    RC_ASSERT(dump == Dumped(BuiltAfresh(world, ++seed)));
    RC_ASSERT(owner.tree.version() != last_version || dump == last_dump);
    last_dump = dump;
    last_version = owner.tree.version();
  }
}

TEST(HyperNodeTreeProperty, IsAFunctionOfWhatIsThereNow) {
  testing::CheckProperty(400, [] {
    const auto steps =
        *rc::gen::resize(60, rc::gen::container<std::vector<Step>>(AnyStep())).as("steps");
    CheckHistory(steps, *rc::gen::arbitrary<unsigned>().as("seed"));
  });
}

}  // namespace
}  // namespace strata
