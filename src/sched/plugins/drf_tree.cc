#include "sched/plugins/drf_tree.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "base/ascii.h"

namespace strata {
namespace {

double ToWeight(std::string_view text) {
  double weight = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), weight);
  const bool good = error == std::errc{} && end == text.data() + text.size();
  return good && std::isfinite(weight) ? std::max(weight, 1.0) : 1.0;
}

DrfPath FromAnnotations(const QueueSpec& queue) {
  const std::vector<std::string_view> names = Split(queue.hierarchy, '/');
  const std::vector<std::string_view> weights = Split(queue.hierarchy_weights, '/');
  DrfPath path;
  for (std::size_t i = 1; i < names.size(); ++i) {
    path.names.emplace_back(names[i]);
    path.weights.push_back(i < weights.size() ? ToWeight(weights[i]) : 1.0);
  }
  return path;
}

}  // namespace

double DominantShare(const Amounts& allocated, const Amounts& total) {
  double share = 0;
  for (std::size_t i = 0; i < std::min(allocated.size(), total.size()); ++i) {
    if (total[i] >= kNothing) share = std::max(share, allocated[i] / total[i]);
  }
  return share;
}

DrfPath DrfPathOf(const ClusterState& state, const QueueSpec& queue) {
  DrfPath path;
  std::set<std::string_view> seen;
  const QueueSpec* at = &queue;
  while (at->name != kRootQueue) {
    if (!at->hierarchy.empty() && !at->hierarchy_weights.empty()) {
      DrfPath above = FromAnnotations(*at);
      std::reverse(path.names.begin(), path.names.end());
      std::reverse(path.weights.begin(), path.weights.end());
      above.names.insert(above.names.end(), path.names.begin(), path.names.end());
      above.weights.insert(above.weights.end(), path.weights.begin(), path.weights.end());
      return above;
    }
    const bool loops = !seen.insert(at->name).second;
    if (loops) return {.names = {queue.name}, .weights = {static_cast<double>(queue.weight)}};
    path.names.push_back(at->name);
    path.weights.push_back(static_cast<double>(at->weight));
    const auto parent = state.workload().FindQueue(at->parent);
    if (!parent) break;
    at = &state.workload().queue(*parent).spec;
  }
  std::reverse(path.names.begin(), path.names.end());
  std::reverse(path.weights.begin(), path.weights.end());
  return path;
}

DrfTree::DrfTree(Amounts total)
    : total_(std::move(total)), total_allocated_(total_.size(), 0.0), branches_(1) {}

void DrfTree::Add(const DrfPath& path, Leaf leaf) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < path.names.size(); ++i) {
    const auto it = branches_[at].children.find(path.names[i]);
    if (it != branches_[at].children.end()) {
      at = it->second;
      continue;
    }
    const std::size_t child = branches_.size();
    branches_[at].children.emplace(path.names[i], child);
    branches_.emplace_back().weight = path.weights[i];
    at = child;
  }
  for (std::size_t i = 0; i < std::min(total_.size(), leaf.allocated.size()); ++i) {
    total_allocated_[i] += leaf.allocated[i];
  }
  branches_[at].leaves.push_back(std::move(leaf));
}

// A job is saturated when it has all it asks for of a resource, or a resource it asks for is used
// up; only resources of which it has something count.
bool DrfTree::IsSaturated(const Leaf& leaf, const std::vector<bool>& wanted) const {
  for (std::size_t i = 0; i < total_.size(); ++i) {
    if (leaf.allocated[i] < kNothing || leaf.request[i] <= 0) continue;
    if (leaf.allocated[i] >= leaf.request[i] || !wanted[i]) return true;
  }
  return false;
}

void DrfTree::Combine(Branch& branch, const std::vector<Part>& parts) const {
  double least = 1;
  branch.saturated = true;
  for (const Part& part : parts) {
    if (part.share > 0 && !part.saturated) least = std::min(least, part.share);
    if (!part.saturated) branch.saturated = false;
  }
  branch.allocated.assign(total_.size(), 0.0);
  for (const Part& part : parts) {
    if (part.share <= 0) continue;
    const double scale = part.saturated ? 1.0 : least / part.share;
    for (std::size_t i = 0; i < total_.size(); ++i) {
      branch.allocated[i] += (*part.allocated)[i] * scale;
    }
  }
  branch.share = DominantShare(branch.allocated, total_);
}

void DrfTree::Finish() {
  std::vector<bool> wanted;
  for (std::size_t i = 0; i < total_.size(); ++i) {
    wanted.push_back(total_allocated_[i] < total_[i]);
  }
  for (auto branch = branches_.rbegin(); branch != branches_.rend(); ++branch) {
    std::vector<Part> parts;
    for (const auto& [name, child] : branch->children) {
      const Branch& below = branches_[child];
      parts.push_back({&below.allocated, below.share, below.saturated});
    }
    for (const Leaf& leaf : branch->leaves) {
      parts.push_back(
          {&leaf.allocated, DominantShare(leaf.allocated, total_), IsSaturated(leaf, wanted)});
    }
    Combine(*branch, parts);
  }
}

std::vector<const DrfTree::Branch*> DrfTree::Along(const DrfPath& path) const {
  std::vector<const Branch*> along{&branches_.front()};
  for (const std::string& name : path.names) {
    const auto it = along.back()->children.find(name);
    if (it == along.back()->children.end()) break;
    along.push_back(&branches_[it->second]);
  }
  return along;
}

int DrfTree::Compare(const DrfPath& a, const DrfPath& b) const {
  const std::vector<const Branch*> left = Along(a);
  const std::vector<const Branch*> right = Along(b);
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    if (left[i] == right[i]) continue;
    if (left[i]->saturated != right[i]->saturated) return left[i]->saturated ? 1 : -1;
    const double a_share = left[i]->share / left[i]->weight;
    const double b_share = right[i]->share / right[i]->weight;
    if (a_share != b_share) return a_share < b_share ? -1 : 1;
  }
  return 0;
}

double DrfTree::ShareOf(const DrfPath& path) const {
  const std::vector<const Branch*> along = Along(path);
  return along.size() == path.names.size() + 1 ? along.back()->share : 0;
}

}  // namespace strata
