#include "model/gpu_kinds.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "model/constraints.h"
#include "model/gpu_amounts.h"
#include "model/node_table.h"

namespace strata {
namespace {

// Whether pods of the class may use a GPU of the kind on the node by its UUID and the node's
// labels.
template <typename Less>
bool MayUse(const ClassSpec& spec, const NodeSpec& node, const Gpu& kind, const Less& less) {
  if (!MatchesNode(spec.node_selector, spec.affinity, node.name, node.labels)) return false;
  return std::any_of(node.gpus->gpus.begin(), node.gpus->gpus.end(), [&](const Gpu& gpu) {
    return IsWantedUuid(*spec.gpus, gpu) && !less(gpu, kind) && !less(kind, gpu);
  });
}

bool HaveSameUuids(const NodeSpec& a, const NodeSpec& b) {
  const auto& one = a.gpus->gpus;
  const auto& other = b.gpus->gpus;
  return std::equal(
      one.begin(), one.end(), other.begin(), other.end(), [](const Gpu& x, const Gpu& y) {
        return x.uuid == y.uuid;
      });
}

}  // namespace

bool GpuKinds::Less::operator()(const Gpu& a, const Gpu& b) const {
  const auto key = [](const Gpu& gpu) {
    return std::tie(gpu.type,
                    gpu.mode,
                    gpu.memory_mib,
                    gpu.cores,
                    gpu.mig_profiles,
                    gpu.in_hami,
                    gpu.in_volcano);
  };
  return key(a) < key(b);
}

GpuKinds::Kinds GpuKinds::KindsOf(const NodeSpec* spec) {
  if (spec == nullptr || !spec->gpus) return {};
  return {spec->gpus->gpus.begin(), spec->gpus->gpus.end()};
}

void GpuKinds::Replace(NodeId node, const NodeSpec* before, const NodeSpec* after) {
  const Kinds had = KindsOf(before);
  const Kinds has = KindsOf(after);
  if (had.empty() && has.empty()) return;
  const Less less;
  const auto same = [&](const Gpu& a, const Gpu& b) { return !less(a, b) && !less(b, a); };
  const bool same_kinds = std::equal(had.begin(), had.end(), has.begin(), has.end(), same);
  if (same_kinds && before->labels == after->labels && HaveSameUuids(*before, *after)) return;
  for (const Gpu& kind : had) {
    const auto it = nodes_of_.find(kind);
    it->second.erase(node);
    if (it->second.empty()) nodes_of_.erase(it);
  }
  for (const Gpu& kind : has) nodes_of_[kind].insert(node);
  ++version_;
}

std::optional<Amount> GpuKinds::LargestAmount(const GpuRequest& request) const {
  std::optional<Amount> largest;
  for (const auto& [kind, on] : nodes_of_) {
    if (const auto amount = AmountOn(request, kind)) {
      largest = std::max(largest.value_or(0), *amount);
    }
  }
  return largest;
}

std::optional<Amount> GpuKinds::LargestAmount(const ClassSpec& spec, const NodeTable& nodes) const {
  using Nodes = decltype(nodes_of_)::value_type;
  std::vector<std::pair<Amount, const Nodes*>> kinds;
  for (const Nodes& entry : nodes_of_) {
    if (const auto amount = AmountOn(*spec.gpus, entry.first)) kinds.emplace_back(*amount, &entry);
  }
  std::stable_sort(
      kinds.begin(), kinds.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& kind : kinds) {
    const auto& [gpu, on] = *kind.second;
    const bool found = std::any_of(on.begin(), on.end(), [&, &one = gpu](NodeId node) {
      return MayUse(spec, nodes.spec(node), one, Less());
    });
    if (found) return kind.first;
  }
  return std::nullopt;
}

}  // namespace strata
