#include "sched/never.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/plural.h"
#include "model/amount_format.h"
#include "model/gpu_amounts.h"
#include "sched/verdict_text.h"

namespace strata {
namespace {

constexpr std::string_view kPodLarger = "PodLargerThanNode";
constexpr std::string_view kLargerThanCluster = "GangLargerThanCluster";
constexpr std::string_view kLargerThanHyperNode = "GangLargerThanHyperNode";
constexpr std::size_t kShownResources = 3;
constexpr std::string_view kHeldByOwn = "HyperNodeHeldByOwnPods";

std::size_t MostGpusOfAContainer(const GpuRequest& pod) {
  std::int32_t most = 0;
  for (const ContainerGpuRequest& container : pod.containers) {
    most = std::max(most, container.count);
  }
  return static_cast<std::size_t>(std::max(most, 0));
}

// What a container wants of each GPU in MiB; 0 where none says it.
std::int64_t MostMemoryOfAGpu(const GpuRequest& pod) {
  std::int64_t most = 0;
  for (const ContainerGpuRequest& container : pod.containers) {
    if (container.count > 0) most = std::max(most, container.memory_mib);
  }
  return most;
}

std::uint64_t SharesWhenEmpty(const Gpu& gpu, const ContainerGpuRequest& container) {
  const auto times = [](std::int64_t room, std::int64_t each) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(room, 0) / each);
  };
  std::uint64_t shares = times(gpu.slots, 1);
  const std::int64_t memory = MemoryOf(container, gpu);
  if (memory > 0) shares = std::min(shares, times(gpu.memory_mib, memory));
  if (container.cores > 0) shares = std::min(shares, times(gpu.cores, container.cores));
  return shares;
}

// How many GPUs the containers want together that run together and want the same of each.
std::int64_t CountOfAlike(const GpuRequest& pod, const ContainerGpuRequest& one) {
  if (one.init) return one.count;
  std::int64_t count = 0;
  for (const ContainerGpuRequest& other : pod.containers) {
    const bool alike = !other.init && other.memory_mib == one.memory_mib &&
                       other.memory_percent == one.memory_percent && other.cores == one.cores;
    if (alike) count += std::max(other.count, 0);
  }
  return count;
}

// How many such pods the GPUs of a node hold by their amounts (shares, memory, cores) when nothing
// else is on them: never too few. Types, health and links do not count, and MIG GPUs hold any
// number.
std::uint64_t EmptyGpusHold(const NodeGpus& node, const GpuRequest& pod) {
  std::uint64_t pods = std::numeric_limits<std::uint64_t>::max();
  const bool has_mig =
      std::any_of(node.gpus.begin(), node.gpus.end(), [](const Gpu& gpu) { return gpu.IsMig(); });
  if (has_mig) return pods;
  for (const ContainerGpuRequest& container : pod.containers) {
    if (container.count <= 0) continue;
    std::uint64_t shares = 0;
    std::int64_t usable = 0;
    for (const Gpu& gpu : node.gpus) {
      const std::uint64_t more = SharesWhenEmpty(gpu, container);
      shares += more;
      if (more > 0) ++usable;
    }
    if (usable < container.count) return 0;  // the GPUs of a container are different ones
    pods = std::min(pods, shares / static_cast<std::uint64_t>(CountOfAlike(pod, container)));
  }
  return pods;
}

// One class on empty nodes.
class EmptyNodes {
 public:
  EmptyNodes(const ClusterState& state, ClassId class_id)
      : state_(state), spec_(state.classes().spec(class_id)) {
    for (const ResourceId id : NamedIn(state.resource_names(), spec_.request)) {
      if (spec_.request.Get(id) > 0) asked_.push_back(id);
    }
    if (spec_.gpus) gpus_ = MostGpusOfAContainer(*spec_.gpus);
  }

  // How many tasks the empty node holds, at most `max`.
  [[nodiscard]] std::uint64_t SlotsOn(NodeId node, std::uint64_t max) const {
    const Resources& room = state_.nodes().spec(node).allocatable;  // what its kubelet hands out
    const std::uint64_t slots = SlotsIn([&](ResourceId id) { return room.Get(id); }, max);
    const auto& gpus = state_.nodes().spec(node).gpus;
    if (slots == 0 || gpus_ == 0 || !gpus || gpus->gpus.empty()) return slots;
    return std::min(slots, EmptyGpusHold(*gpus, *spec_.gpus));
  }

  // No node holds more than this.
  [[nodiscard]] std::uint64_t MostOnANode() const {
    return SlotsIn([&](ResourceId id) { return MostOf(id); },
                   std::numeric_limits<std::uint32_t>::max());
  }

  // How many the HyperNode holds, at most `max`.
  [[nodiscard]] std::uint64_t SlotsBelow(HyperNodeId domain, std::uint64_t max) const {
    const std::span<const NodeId> nodes = state_.tree().NodesOf(domain);
    if (AllAreLargest(domain, nodes.size())) return std::min(max, nodes.size() * MostOnANode());
    std::uint64_t slots = 0;
    for (const NodeId node : nodes) {
      slots += SlotsOn(node, max - slots);
      if (slots >= max) break;
    }
    return slots;
  }

  // "9 nvidia.com/gpu requested, the largest node has 8".
  [[nodiscard]] std::string WhyNoNode() const {
    std::vector<std::string> parts;
    std::vector<std::string> asked;
    for (const ResourceId id : asked_) {
      const std::string& name = state_.resource_names().name(id);
      const Amount wanted = spec_.request.Get(id);
      asked.push_back(FormatAmount(name, wanted));
      const Amount most = MostOf(id);
      if (wanted <= most) continue;
      parts.push_back(most == 0 ? fmt::format("no node has {}", name)
                                : fmt::format("{} requested, the largest node has {}",
                                              FormatAmount(name, wanted),
                                              FormatNumber(name, most)));
      if (parts.size() == kShownResources) break;
    }
    if (!parts.empty()) return fmt::format("{}", fmt::join(parts, "; "));
    if (gpus_ > 0) {
      const Registered most = MostRegistered();
      if (gpus_ > most.gpus && most.gpus > 0) {
        return fmt::format(
            "{} requested, the largest node has {}", Plural(gpus_, "GPU"), most.gpus);
      }
      const std::int64_t memory = MostMemoryOfAGpu(*spec_.gpus);
      if (memory > most.memory_mib && most.gpus > 0) {
        return fmt::format(
            "{} MiB of a GPU's memory requested, the largest GPU has {}", memory, most.memory_mib);
      }
    }
    return fmt::format("{} requested, no node has all of that", fmt::join(asked, ", "));
  }

 private:
  // How many tasks fit into a room that has `has(id)` of each resource, at most `max`.
  template <typename Has>
  [[nodiscard]] std::uint64_t SlotsIn(const Has& has, std::uint64_t max) const {
    std::uint64_t slots = max;
    for (const ResourceId id : asked_) {
      const Amount each = std::max<Amount>(spec_.request.Get(id), 1);
      slots = std::min(slots, static_cast<std::uint64_t>(std::max<Amount>(has(id), 0) / each));
      if (slots == 0) break;
    }
    return slots;
  }

  // Whether the sums say that each node has as much as the largest one of what is asked for: most
  // clusters are of one kind of node. Not where GPUs are registered, of which sums count others
  // than kubelets hand out.
  [[nodiscard]] bool AllAreLargest(HyperNodeId domain, std::size_t nodes) const {
    const std::optional<ResourceId> registered = state_.nodes().RegisteredGpus();
    const std::span<const Amount> sums = state_.sums().Allocatable(domain);
    return gpus_ == 0 && std::all_of(asked_.begin(), asked_.end(), [&](ResourceId id) {
             return id != registered && id.index() < sums.size() &&
                    sums[id.index()] / static_cast<Amount>(std::max<std::size_t>(nodes, 1)) ==
                        MostOf(id);
           });
  }

  [[nodiscard]] std::span<const NodeId> All() const {
    return state_.tree().NodesOf(state_.tree().top());
  }

  struct Registered {
    std::size_t gpus = 0;         // of one node
    std::int64_t memory_mib = 0;  // of one GPU
  };
  [[nodiscard]] Registered MostRegistered() const {
    Registered most;
    for (const NodeId node : All()) {
      const auto& gpus = state_.nodes().spec(node).gpus;
      if (!gpus) continue;
      most.gpus = std::max(most.gpus, gpus->gpus.size());
      for (const Gpu& gpu : gpus->gpus) most.memory_mib = std::max(most.memory_mib, gpu.memory_mib);
    }
    return most;
  }

  [[nodiscard]] Amount MostOf(ResourceId id) const {
    const std::span<const Amount> largest = state_.nodes().Largest();
    return IsAbsent(id) || id.index() >= largest.size() ? 0 : largest[id.index()];
  }

  const ClusterState& state_;
  const ClassSpec& spec_;
  std::vector<ResourceId> asked_;
  std::size_t gpus_ = 0;  // of the container that wants most
};

// The classes of a gang, each as if it were alone on empty nodes: too many at worst.
class EmptyCluster {
 public:
  EmptyCluster(const ClusterState& state, const Wanted& all) : state_(state) {
    for (const auto& [class_id, count] : all) {
      EmptyNodes nodes(state, class_id);
      const std::uint64_t most = nodes.MostOnANode();
      parts_.push_back({std::move(nodes), count, most});
    }
  }

  // How many fit below the HyperNode. COST: its nodes.
  [[nodiscard]] std::uint64_t FitsBelow(HyperNodeId domain) const {
    std::uint64_t fits = 0;
    for (const Part& part : parts_) fits += part.nodes.SlotsBelow(domain, part.count);
    return fits;
  }
  // No fewer than that. COST: none.
  [[nodiscard]] std::uint64_t FitsAtMost(HyperNodeId domain) const {
    const std::uint64_t nodes = state_.tree().NodesOf(domain).size();
    std::uint64_t fits = 0;
    for (const Part& part : parts_) fits += std::min(part.count, nodes * part.most_on_a_node);
    return fits;
  }

 private:
  struct Part {
    EmptyNodes nodes;
    std::uint64_t count = 0;
    std::uint64_t most_on_a_node = 0;
  };
  const ClusterState& state_;
  std::vector<Part> parts_;
};

Wanted Both(const Wanted& wanted, const Wanted& own) {
  Wanted all = wanted;
  for (const auto& [class_id, count] : own) Add(all, class_id, count);
  return all;
}

// The HyperNode in which most of them fit, of those within the limit; none when one holds them all.
struct Largest {
  HyperNodeId hypernode;
  std::uint64_t fits = 0;
};
std::optional<Largest> LargestTooSmall(const HyperNodeTree& tree,
                                       const NeverQuery& query,
                                       const EmptyCluster& empty,
                                       std::uint64_t total) {
  std::optional<Largest> largest;
  for (const std::int32_t tier : tree.tiers()) {
    if (tier > query.tier) break;
    for (const HyperNodeId id : tree.OfTier(tier)) {
      if (!tree.IsAncestorOrSelf(query.within, id)) continue;
      if (largest && empty.FitsAtMost(id) <= largest->fits) continue;
      const std::uint64_t fits = empty.FitsBelow(id);
      if (fits >= total) return std::nullopt;
      if (!largest || fits > largest->fits) largest = {id, fits};
    }
  }
  return largest;
}

}  // namespace

std::optional<Refusal> FindNever(const ClusterState& state, const NeverQuery& query) {
  const HyperNodeTree& tree = state.tree();
  const HyperNodeId top = tree.top();
  if (tree.NodesOf(top).empty() || query.wanted->empty()) return std::nullopt;
  for (const auto& [class_id, count] : *query.wanted) {
    const EmptyNodes nodes(state, class_id);
    if (nodes.SlotsBelow(top, 1) == 0) {
      return Refusal{std::string(kPodLarger),
                     "no node is large enough for one pod: " + nodes.WhyNoNode()};
    }
  }
  const Wanted all = Both(*query.wanted, query.own);
  const std::uint64_t total = Total(all);
  const EmptyCluster empty(state, all);
  const std::uint64_t in_all = empty.FitsBelow(top);
  if (in_all < total) {
    return Refusal{std::string(kLargerThanCluster),
                   fmt::format("{} larger than the whole cluster, which takes {} of {} when it is "
                               "empty",
                               query.own.empty() ? "the gang is" : "with its other pods it is",
                               in_all,
                               Plural(total, "pod"))};
  }
  if (!query.bounded) return std::nullopt;
  const auto largest = LargestTooSmall(tree, query, empty, total);
  if (!largest) return std::nullopt;
  if (!query.own.empty()) {
    return Refusal{
        std::string(kHeldByOwn),
        fmt::format("its other pods run there, and even without other jobs {} takes {} of "
                    "its {}",
                    NameOf(tree, largest->hypernode),
                    largest->fits,
                    Plural(total, "pod"))};
  }
  return Refusal{std::string(kLargerThanHyperNode),
                 fmt::format("the gang is larger than any HyperNode of tier {} or below: {}, the "
                             "largest, takes {} when it is empty",
                             query.tier_to_say,
                             tree.at(largest->hypernode).name,
                             Plural(largest->fits, "pod"))};
}

bool IsNever(const Refusal& refusal) {
  constexpr std::array kReasons = {
      kPodLarger, kLargerThanCluster, kLargerThanHyperNode, kHeldByOwn};
  return std::find(kReasons.begin(), kReasons.end(), refusal.reason) != kReasons.end();
}

}  // namespace strata
