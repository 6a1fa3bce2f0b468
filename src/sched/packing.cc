#include "sched/packing.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace strata {
namespace {

// Every pod may go one call deeper per kind: what the stack of a thread has room for.
constexpr std::uint64_t kMaxCalls = 10000;

bool IsZero(const Packing::Counts& counts) {
  return std::all_of(counts.begin(), counts.end(), [](std::uint32_t n) { return n == 0; });
}

}  // namespace

Packing::Packing(const PackingProblem& problem, StepBudget& budget)
    : problem_(problem), budget_(budget) {
  const std::size_t nodes = problem.nodes.size();
  const std::size_t kinds = problem.requests.size();
  const std::size_t resources = kinds == 0 ? 0 : problem.requests.front().size();
  slots_.assign(nodes + 1, std::vector<std::uint64_t>(kinds, 0));
  sums_.assign(nodes + 1, std::vector<Amount>(resources, 0));
  for (std::size_t i = nodes; i-- > 0;) {
    const PackingProblem::Node& node = problem.nodes[i];
    bool any = false;
    for (std::size_t k = 0; k < kinds; ++k) {
      slots_[i][k] = slots_[i + 1][k] + node.slots[k];
      any = any || node.slots[k] > 0;
    }
    for (std::size_t r = 0; r < resources; ++r) {
      sums_[i][r] = sums_[i + 1][r];
      if (!any || node.free[r] <= 0) continue;
      // Thousands of the largest amounts could exceed 64 bits; the sum then says nothing.
      if (__builtin_add_overflow(sums_[i][r], node.free[r], &sums_[i][r])) {
        sums_[i][r] = std::numeric_limits<Amount>::max();
      }
    }
  }
}

std::optional<std::vector<Packing::Counts>> Packing::Solve(const Counts& wanted) {
  const auto pods = std::accumulate(wanted.begin(), wanted.end(), std::uint64_t{0});
  if (pods * (wanted.size() + 1) > kMaxCalls) {
    budget_.GiveUp();
    return std::nullopt;
  }
  free_.clear();
  for (const PackingProblem::Node& node : problem_.nodes) free_.push_back(node.free);
  placed_.assign(problem_.nodes.size(), Counts(wanted.size(), 0));
  Counts rest = wanted;
  if (!PlaceFrom(0, rest)) return std::nullopt;
  return placed_;
}

bool Packing::MayFit(std::size_t node, const Counts& rest) const {
  for (std::size_t k = 0; k < rest.size(); ++k) {
    if (rest[k] > slots_[node][k]) return false;
  }
  for (std::size_t r = 0; r < sums_[node].size(); ++r) {
    Amount asked = 0;
    for (std::size_t k = 0; k < rest.size(); ++k) {
      Amount more = 0;
      if (__builtin_mul_overflow(problem_.requests[k][r], Amount{rest[k]}, &more) ||
          __builtin_add_overflow(asked, more, &asked)) {
        return false;
      }
    }
    if (asked > sums_[node][r]) return false;
  }
  return true;
}

bool Packing::PlaceFrom(std::size_t node, Counts& rest) {
  if (IsZero(rest)) return true;
  // A node that takes none of what is left changes nothing.
  while (node < problem_.nodes.size() && !HasRoomForOneMore(node, rest)) ++node;
  if (!budget_.Spend(1) || node == problem_.nodes.size() || !MayFit(node, rest)) return false;
  auto key = std::pair(node, rest);
  if (in_vain_.contains(key)) return false;
  if (Fill(node, 0, rest)) return true;
  if (!budget_.cut()) in_vain_.insert(std::move(key));
  return false;
}

bool Packing::Fill(std::size_t node, std::size_t kind, Counts& rest) {
  if (!budget_.Spend(1)) return false;
  while (kind < rest.size() && (rest[kind] == 0 || problem_.nodes[node].slots[kind] == 0)) ++kind;
  if (kind == rest.size()) return !HasRoomForOneMore(node, rest) && PlaceFrom(node + 1, rest);
  const std::uint32_t most = std::min(rest[kind], Fits(node, kind));
  Take(node, kind, most);
  rest[kind] -= most;
  placed_[node][kind] = most;
  for (std::uint32_t count = most;; --count) {
    if (Fill(node, kind + 1, rest)) return true;
    if (count == 0) return false;
    Take(node, kind, -1);
    ++rest[kind];
    --placed_[node][kind];
    if (budget_.cut()) {
      Take(node, kind, -std::int64_t{count - 1});
      rest[kind] += count - 1;
      placed_[node][kind] = 0;
      return false;
    }
  }
}

bool Packing::HasRoomForOneMore(std::size_t node, const Counts& rest) const {
  for (std::size_t k = 0; k < rest.size(); ++k) {
    if (rest[k] > 0 && Fits(node, k) > 0) return true;
  }
  return false;
}

std::uint32_t Packing::Fits(std::size_t node, std::size_t kind) const {
  const PackingProblem::Node& of = problem_.nodes[node];
  Amount fits = Amount{of.slots[kind]} - placed_[node][kind];
  for (std::size_t r = 0; r < free_[node].size() && fits > 0; ++r) {
    const Amount request = problem_.requests[kind][r];
    if (request > 0) fits = std::min(fits, std::max<Amount>(free_[node][r], 0) / request);
  }
  return static_cast<std::uint32_t>(std::max<Amount>(fits, 0));
}

void Packing::Take(std::size_t node, std::size_t kind, std::int64_t count) {
  for (std::size_t r = 0; r < free_[node].size(); ++r) {
    free_[node][r] -= problem_.requests[kind][r] * count;
  }
}

}  // namespace strata
