#include <algorithm>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/plural.h"
#include "objects/sort_by_name.h"
#include "whatif/changes.h"
#include "whatif/edit_parts.h"

namespace strata {
namespace {

constexpr std::string_view kAddShape =
    "nodes=N[,racks=R][,like=NODE][,under=HYPERNODE][,gpus=G][,cpu=C][,memory=M]";
constexpr std::string_view kGpu = "nvidia.com/gpu";
constexpr std::int64_t kMaxAdded = 100'000;
constexpr const char* kHostname = "kubernetes.io/hostname";

Status ReadNumber(std::string_view key,
                  std::string_view value,
                  std::int64_t min,
                  std::int64_t& out) {
  const auto number = WholeNumber(value, kMaxAdded);
  if (!number || *number < min) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("{}: want a number from {} to {}, not \"{}\"", key, min, kMaxAdded, value));
  }
  out = *number;
  return {};
}

Status ReadAmount(std::string_view key, std::string_view value, std::optional<Quantity>& out) {
  Result<Quantity> amount = Quantity::Parse(value);
  if (!amount) return tl::unexpected(std::move(amount).error().Context(std::string(key)));
  if (amount->IsNegative()) {
    return Fail(Code::kInvalidArgument, fmt::format("{}: want an amount of at least 0", key));
  }
  out = *amount;
  return {};
}

Status ReadPart(std::string_view key, std::string_view value, AddSpec& spec) {
  if (key == "nodes") return ReadNumber(key, value, 1, spec.nodes);
  if (key == "racks") return ReadNumber(key, value, 1, spec.racks.emplace());
  if (key == "gpus") return ReadNumber(key, value, 0, spec.gpus.emplace());
  if (key == "cpu") return ReadAmount(key, value, spec.cpu);
  if (key == "memory") return ReadAmount(key, value, spec.memory);
  if (key == "like") {
    spec.like = value;
  } else if (key == "under") {
    spec.under = value;
  } else {
    return Fail(Code::kInvalidArgument,
                fmt::format("unknown key \"{}\" (want {})", key, kAddShape));
  }
  return {};
}

Quantity AmountOf(const objects::Node& node, std::string_view resource) {
  const auto it = node.allocatable.find(resource);
  return it == node.allocatable.end() ? Quantity() : it->second;
}

// The node to be copied: the named one, else that with most GPUs, then CPUs, the first by name.
Result<objects::Node> Pattern(const AddSpec& spec, const objects::ObjectSet& objects) {
  std::vector<std::string> known;
  const objects::Node* best = nullptr;
  const auto size = [](const objects::Node& node) {
    return std::tuple(AmountOf(node, kGpu), AmountOf(node, "cpu"));
  };
  for (const objects::Node& node : objects.nodes) {
    known.push_back(node.meta.name);
    if (node.meta.name == spec.like) return node;
    if (best == nullptr || size(*best) < size(node)) best = &node;
  }
  if (!spec.like.empty()) return UnknownName("node", spec.like, known);
  if (best != nullptr) return *best;
  objects::Node node;
  node.meta.kind = "Node";
  node.allocatable = {{"cpu", Quantity::Parse("96").value()},
                      {"memory", Quantity::Parse("1Ti").value()},
                      {"pods", Quantity::Parse("110").value()}};
  node.capacity = node.allocatable;
  return node;
}

void SetCapacity(std::string_view resource, const Quantity& amount, objects::Node& node) {
  node.allocatable.insert_or_assign(std::string(resource), amount);
  node.capacity.insert_or_assign(std::string(resource), amount);
}

// What a new node of this kind has: it takes pods, and is in no HyperNode by its labels.
objects::Node MakeBlank(const AddSpec& spec,
                        const objects::ObjectSet& objects,
                        objects::Node node) {
  node.unschedulable = false;
  std::erase_if(node.taints,
                [](const Taint& taint) { return IsCordon(taint) || IsUnready(taint); });
  std::erase_if(node.conditions, [](const auto& condition) { return condition.type == "Ready"; });
  node.internal_ips.clear();
  node.meta.deleted.reset();
  node.meta.owners.clear();
  for (const objects::HyperNode& hypernode : objects.hypernodes) {
    for (const HyperNodeMember& member : hypernode.spec.members) {
      const auto* labels = std::get_if<LabelSelector>(&member.selector);
      if (labels == nullptr) continue;
      for (const Requirement& one : labels->requirements) node.meta.labels.erase(one.key);
    }
  }
  if (spec.cpu) SetCapacity("cpu", *spec.cpu, node);
  if (spec.memory) SetCapacity("memory", *spec.memory, node);
  if (!spec.gpus) return node;
  node.meta.annotations.clear();  // GPUs that the copied node has registered
  SetCapacity(kGpu, Quantity::Parse(std::to_string(*spec.gpus)).value(), node);
  return node;
}

HyperNodeMember MemberNamed(HyperNodeMember::Kind kind, const std::string& name) {
  return {.kind = kind, .selector = HyperNodeMember::Exact{name}};
}

objects::HyperNode* FindHyperNode(objects::ObjectSet& objects, std::string_view name) {
  for (objects::HyperNode& one : objects.hypernodes) {
    if (one.meta.name == name) return &one;
  }
  return nullptr;
}

// Where the new nodes, or the new racks, are put: "" is nowhere. Racks have the tier of `rack`.
struct NewPlace {
  std::string hypernode;
  std::string rack;
};

Result<NewPlace> FindPlace(const AddSpec& spec,
                           const std::string& like,
                           const CompletedObjects& objects) {
  TRY_ASSIGN(const LoadedCluster cluster, LoadCompleted(objects));
  const HyperNodeTree& tree = cluster.state->tree();
  const auto name = [&](HyperNodeId id) { return id == tree.top() ? "" : tree.at(id).name; };
  NewPlace place;
  HyperNodeId leaf = tree.top();
  const auto node = cluster.state->nodes().Find(like);
  if (node) leaf = tree.LeafOf(tree.ChainOf(*node));
  place.rack = name(leaf);
  place.hypernode = place.rack;
  if (spec.racks && leaf != tree.top()) {
    const HyperNodeId parent = tree.at(leaf).parent;
    place.hypernode = parent.valid() ? name(parent) : "";
  }
  if (spec.under.empty()) return place;
  std::vector<std::string> known;
  for (const objects::HyperNode& one : objects.objects.hypernodes) known.push_back(one.meta.name);
  if (std::find(known.begin(), known.end(), spec.under) == known.end()) {
    return UnknownName("HyperNode", spec.under, known);
  }
  place.hypernode = spec.under;
  return place;
}

// Nodes are members of HyperNodes of nodes, racks of those of HyperNodes.
Status CheckMembers(const AddSpec& spec, const objects::HyperNode& hypernode) {
  using Kind = HyperNodeMember::Kind;
  const Kind wanted = spec.racks ? Kind::kHyperNode : Kind::kNode;
  const bool fits = std::all_of(hypernode.spec.members.begin(),
                                hypernode.spec.members.end(),
                                [&](const HyperNodeMember& one) { return one.kind == wanted; });
  if (fits) return {};
  return Fail(Code::kInvalidArgument,
              spec.racks ? fmt::format("under={}: its members are nodes; leave out racks",
                                       hypernode.meta.name)
                         : fmt::format("under={}: its members are HyperNodes; add racks=1, or name "
                                       "one of them",
                                       hypernode.meta.name));
}

// A name that nobody has yet: "added-0".
class FreshNames {
 public:
  explicit FreshNames(const objects::ObjectSet& objects) {
    for (const auto& node : objects.nodes) taken_.insert(node.meta.name);
    for (const auto& one : objects.hypernodes) taken_.insert(one.meta.name);
  }
  std::string Next(std::string_view stem) {
    for (std::int64_t i = 0;; ++i) {
      std::string name = fmt::format("{}-{}", stem, i);
      if (taken_.insert(name).second) return name;
    }
  }

 private:
  std::set<std::string> taken_;
};

std::vector<std::string> AddCopies(const objects::Node& blank,
                                   std::int64_t count,
                                   FreshNames& fresh,
                                   objects::ObjectSet& objects) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < count; ++i) {
    objects::Node node = blank;
    node.meta.name = fresh.Next("added");
    node.meta.uid = node.meta.name;
    node.meta.labels.insert_or_assign(kHostname, node.meta.name);
    names.push_back(node.meta.name);
    objects.nodes.push_back(std::move(node));
  }
  return names;
}

void Join(const std::vector<std::string>& names,
          HyperNodeMember::Kind kind,
          HyperNodeSpec& hypernode) {
  for (const std::string& name : names) hypernode.members.push_back(MemberNamed(kind, name));
}

std::string AddRack(const std::string& like,
                    const std::vector<std::string>& nodes,
                    FreshNames& fresh,
                    objects::ObjectSet& objects) {
  objects::HyperNode rack;
  rack.meta.kind = "HyperNode";
  rack.meta.name = fresh.Next("added-rack");
  rack.meta.uid = rack.meta.name;
  rack.spec.name = rack.meta.name;
  rack.spec.tier = 1;
  if (const objects::HyperNode* pattern = FindHyperNode(objects, like)) {
    rack.spec.tier = pattern->spec.tier;
    rack.spec.tier_name = pattern->spec.tier_name;
  }
  Join(nodes, HyperNodeMember::Kind::kNode, rack.spec);
  objects.hypernodes.push_back(std::move(rack));
  return objects.hypernodes.back().meta.name;
}

}  // namespace

Result<AddSpec> ParseAdd(std::string_view text) {
  AddSpec spec;
  std::set<std::string_view> given;
  for (const std::string_view part : Split(text, ',')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      return Fail(Code::kInvalidArgument, fmt::format("\"{}\": want {}", part, kAddShape));
    }
    const std::string_view key = part.substr(0, equals);
    if (!given.insert(key).second) {
      return Fail(Code::kInvalidArgument, fmt::format("{}: given twice", key));
    }
    TRY(ReadPart(key, part.substr(equals + 1), spec));
  }
  if (spec.nodes == 0) {
    return Fail(Code::kInvalidArgument, fmt::format("nodes: missing (want {})", kAddShape));
  }
  if (spec.nodes * spec.racks.value_or(1) > kMaxAdded) {
    return Fail(Code::kInvalidArgument, fmt::format("more than {} nodes", kMaxAdded));
  }
  return spec;
}

Result<std::string> AddNodes(const AddSpec& spec, CompletedObjects& completed) {
  objects::ObjectSet& objects = completed.objects;
  TRY_ASSIGN(objects::Node pattern, Pattern(spec, objects));
  const std::string like = pattern.meta.name;
  TRY_ASSIGN(const NewPlace place, FindPlace(spec, like, completed));
  if (const objects::HyperNode* above = FindHyperNode(objects, place.hypernode)) {
    TRY(CheckMembers(spec, *above));
  }
  const objects::Node blank = MakeBlank(spec, objects, std::move(pattern));
  FreshNames fresh(objects);
  std::vector<std::string> joined;
  if (!spec.racks) joined = AddCopies(blank, spec.nodes, fresh, objects);
  for (std::int64_t i = 0; i < spec.racks.value_or(0); ++i) {
    const auto nodes = AddCopies(blank, spec.nodes, fresh, objects);
    joined.push_back(AddRack(place.rack, nodes, fresh, objects));
  }
  using Kind = HyperNodeMember::Kind;
  if (objects::HyperNode* above = FindHyperNode(objects, place.hypernode)) {
    Join(joined, spec.racks ? Kind::kHyperNode : Kind::kNode, above->spec);
  }
  objects::SortByName(objects.nodes);
  objects::SortByName(objects.hypernodes);
  const std::string where = place.hypernode.empty() ? "" : " under " + place.hypernode;
  const std::string kind = like.empty() ? "" : " like " + like;
  const auto nodes = static_cast<std::uint64_t>(spec.nodes);
  if (!spec.racks) return fmt::format("{}{} added{}", Plural(nodes, "node"), kind, where);
  return fmt::format("{} of {}{} added{}",
                     Plural(static_cast<std::uint64_t>(*spec.racks), "rack"),
                     Plural(nodes, "node"),
                     kind,
                     where);
}

}  // namespace strata
