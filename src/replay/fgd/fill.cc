#include "replay/fgd/fill.h"

#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/random.h"

namespace strata::replay::fgd {
namespace {

class Filling {
 public:
  // `placer`: decides if it is not null.
  Filling(const PodList& list,
          const Fabric& fabric,
          Rule rule,
          Placer* placer,
          const FillOptions& options)
      : list_(list),
        rule_(rule),
        placer_(placer),
        options_(options),
        random_(options.seed),
        machines_(EmptyMachines(fabric, list)),
        capacity_(fabric.TotalGpus() * kWholeGpu),
        order_(machines_.size()),
        version_(machines_.size(), 1),
        known_(list.kinds.size()),
        fragmented_by_(machines_.size()) {
    std::iota(order_.begin(), order_.end(), 0);
    random_.Shuffle(order_);
    for (NodeIndex node = 0; node < machines_.size(); ++node) UpdateFragmented(node);
    if (options.check) placed_.resize(machines_.size());
  }

  FillResult Run() {
    for (const std::uint32_t kind : Arrivals(list_, capacity_, options_.target, options_.seed)) {
      asked_ += list_.kinds[kind].TotalMilli();
      ++result_.arrived;
      if (!Place(kind)) ++result_.dropped;
      Note();
      if (options_.check) Check();
    }
    for (FillPoint& point : result_.points) {
      const double weight = static_cast<double>(point.arrivals) * static_cast<double>(capacity_);
      if (point.arrivals == 0) continue;
      point.allocated /= weight;
      point.fragmented /= weight;
    }
    return std::move(result_);
  }

 private:
  // The score of a kind on a node, while the node is as it was.
  struct Known {
    std::uint32_t version = 0;
    Choice choice;
  };

  const Choice& ChoiceOf(std::uint32_t kind, NodeIndex node) {
    if (known_[kind].empty()) known_[kind].resize(machines_.size());
    Known& known = known_[kind][node];
    if (known.version != version_[node]) {
      known = {.version = version_[node],
               .choice = Score(rule_, list_.kinds[kind], machines_[node], list_)};
    }
    return known.choice;
  }

  bool Place(std::uint32_t kind) {
    const auto node_or_none = placer_ != nullptr ? PlaceElsewhere(kind) : PlaceByRule(kind);
    if (!node_or_none) return false;
    const NodeIndex node = *node_or_none;
    ++version_[node];
    allocated_ += list_.kinds[kind].TotalMilli();
    UpdateFragmented(node);
    if (options_.check) placed_[node].push_back(kind);
    return true;
  }

  std::optional<NodeIndex> PlaceElsewhere(std::uint32_t kind) {
    const auto placed = placer_->Place(kind);
    if (!placed) return std::nullopt;
    machines_[placed->node].TakeThese(list_.kinds[kind], placed->gpus);
    return placed->node;
  }

  std::optional<NodeIndex> PlaceByRule(std::uint32_t kind) {
    const auto node = rule_ == Rule::kRandom ? AnyNode(kind) : BestNode(kind);
    if (!node) return std::nullopt;
    const PodKind& pod = list_.kinds[kind];
    const bool draws = rule_ == Rule::kRandom && pod.Shares();
    machines_[*node].Take(pod, draws ? AnyGpu(pod, machines_[*node]) : ChoiceOf(kind, *node).gpu);
    return node;
  }

  std::optional<NodeIndex> BestNode(std::uint32_t kind) {
    std::optional<NodeIndex> best;
    std::int64_t score = Choice::kDoesNotFit;
    for (const NodeIndex node : order_) {
      const Choice& choice = ChoiceOf(kind, node);
      if (choice.score <= score) continue;
      score = choice.score;
      best = node;
    }
    return best;
  }

  std::optional<NodeIndex> AnyNode(std::uint32_t kind) {
    fitting_.clear();
    for (NodeIndex node = 0; node < machines_.size(); ++node) {
      if (machines_[node].Fits(list_.kinds[kind])) fitting_.push_back(node);
    }
    if (fitting_.empty()) return std::nullopt;
    return fitting_[random_.Below(fitting_.size())];
  }

  std::int32_t AnyGpu(const PodKind& kind, const Machine& machine) {
    auto left = static_cast<std::int32_t>(
        random_.Below(static_cast<std::uint64_t>(machine.GpusWith(kind.milli))));
    for (std::size_t i = 0; i < machine.idle.size(); ++i) {
      if (machine.idle[i] >= kind.milli && left-- == 0) return static_cast<std::int32_t>(i);
    }
    return 0;
  }

  void UpdateFragmented(NodeIndex node) {
    fragmented_ -= fragmented_by_[node];
    fragmented_by_[node] = WeightedFragmentation(machines_[node], list_);
    fragmented_ += fragmented_by_[node];
  }

  void Note() {
    if (capacity_ == 0 || list_.typical_weight == 0) return;
    const double load = static_cast<double>(asked_) / static_cast<double>(capacity_);
    const auto per_cent = static_cast<std::size_t>(std::lround(load * 100));
    if (result_.points.size() <= per_cent) result_.points.resize(per_cent + 1);
    FillPoint& point = result_.points[per_cent];
    ++point.arrivals;
    point.allocated += static_cast<double>(allocated_);
    point.fragmented +=
        static_cast<double>(fragmented_) / static_cast<double>(list_.typical_weight);
  }

  void Fault(std::string text) {
    constexpr std::size_t kMax = 100;
    if (result_.faults.size() < kMax) result_.faults.push_back(std::move(text));
  }

  // Counts again what is on every node.
  void Check() {
    std::int64_t allocated = 0;
    std::int64_t fragmented = 0;
    for (NodeIndex node = 0; node < machines_.size(); ++node) {
      const Machine& machine = machines_[node];
      std::int64_t on_node = 0;
      for (const std::uint32_t kind : placed_[node]) {
        on_node += list_.kinds[kind].TotalMilli();
        if (!list_.kinds[kind].Accepts(machine.model)) {
          Fault(fmt::format("node {} has a pod of another model", node));
        }
      }
      std::int64_t idle = 0;
      for (const std::int32_t here : machine.idle) {
        idle += here;
        if (here < 0 || here > kWholeGpu) Fault(fmt::format("node {} has a GPU over", node));
      }
      const auto whole = static_cast<std::int64_t>(machine.idle.size()) * kWholeGpu;
      if (idle != machine.idle_sum || idle + on_node != whole) {
        Fault(fmt::format("node {}: {} idle and {} in use of {}", node, idle, on_node, whole));
      }
      allocated += on_node;
      fragmented += WeightedFragmentation(machine, list_);
    }
    if (allocated != allocated_) Fault(fmt::format("{} in use, {} counted", allocated, allocated_));
    if (fragmented != fragmented_) Fault("fragmentation differs from a recount");
  }

  const PodList& list_;
  Rule rule_;
  Placer* placer_;
  const FillOptions& options_;
  Random random_;
  std::vector<Machine> machines_;
  std::int64_t capacity_;
  std::vector<NodeIndex> order_;
  std::vector<std::uint32_t> version_;     // by node: how often it changed, from 1
  std::vector<std::vector<Known>> known_;  // by kind and node
  std::vector<std::int64_t> fragmented_by_;
  std::int64_t fragmented_ = 0;
  std::int64_t asked_ = 0;
  std::int64_t allocated_ = 0;
  std::vector<NodeIndex> fitting_;                  // scratch
  std::vector<std::vector<std::uint32_t>> placed_;  // by node, for the check
  FillResult result_;
};

}  // namespace

std::vector<NodeIndex> NodeOrder(const Fabric& fabric, std::uint64_t seed) {
  std::vector<NodeIndex> order(fabric.nodes.size());
  std::iota(order.begin(), order.end(), 0);
  Random random(seed);
  random.Shuffle(order);
  return order;
}

FillResult Fill(const PodList& list, const Fabric& fabric, Rule rule, const FillOptions& options) {
  return Filling(list, fabric, rule, nullptr, options).Run();
}

FillResult Fill(const PodList& list,
                const Fabric& fabric,
                Placer& placer,
                const FillOptions& options) {
  return Filling(list, fabric, Rule::kCore, &placer, options).Run();
}

}  // namespace strata::replay::fgd
