#include "model/gpu_links.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/check.h"

namespace strata {
namespace {

constexpr std::int32_t kPerPcieLevel = 10;
constexpr std::int32_t kPerNvlink = 100;
constexpr std::int32_t kMaxNvlinks = 18;

constexpr std::array<std::string_view, 7> kLevelNames = {
    "?", "SYS", "NODE", "PHB", "PXB", "PIX", "BOARD"};

}  // namespace

std::optional<std::int32_t> ScoreOf(const GpuLink& link) {
  if (link.pcie == PcieLevel::kUnknown || !link.nvlinks) return std::nullopt;
  const bool counts = *link.nvlinks > 0 && *link.nvlinks <= kMaxNvlinks;
  return static_cast<std::int32_t>(link.pcie) * kPerPcieLevel +
         (counts ? *link.nvlinks * kPerNvlink : 0);
}

std::string ToString(const GpuLink& link) {
  const std::string level(kLevelNames[static_cast<std::size_t>(link.pcie)]);
  if (!link.nvlinks) return "NV?+" + level;
  return *link.nvlinks == 0 ? level : "NV" + std::to_string(*link.nvlinks) + "+" + level;
}

std::optional<GpuLink> LinkOfScore(std::int32_t score) {
  const std::int32_t nvlinks = score / kPerNvlink;
  const std::int32_t level = score % kPerNvlink / kPerPcieLevel;
  const bool in_table = score > 0 && score % kPerPcieLevel == 0 && nvlinks <= kMaxNvlinks &&
                        level >= 1 && level < static_cast<std::int32_t>(kLevelNames.size());
  if (!in_table) return std::nullopt;
  return GpuLink{.pcie = static_cast<PcieLevel>(level), .nvlinks = nvlinks};
}

std::string DescribeScore(std::int32_t score) {
  const auto link = LinkOfScore(score);
  return link ? ToString(*link) : std::to_string(score);
}

PairScores::PairScores(std::size_t size, const std::vector<std::optional<std::int32_t>>& directed)
    : size_(size), scores_(size * size, 0) {
  CHECK(directed.size() == size * size);
  std::optional<std::int32_t> worst;
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = i + 1; j < size; ++j) {
      const auto& there = directed[i * size + j];
      const auto& back = directed[j * size + i];
      if (!there || !back) {
        unknown_.emplace_back(i, j);
        continue;
      }
      if (*there != *back) asymmetric_.emplace_back(i, j);
      const std::int32_t lower = std::min(*there, *back);
      scores_[i * size + j] = scores_[j * size + i] = lower;
      worst = std::min(worst.value_or(lower), lower);
    }
  }
  for (const auto& [i, j] : unknown_) {
    scores_[i * size + j] = scores_[j * size + i] = worst.value_or(0);
  }
}

bool PairScores::IsKnown(std::size_t i, std::size_t j) const {
  return !std::binary_search(unknown_.begin(), unknown_.end(), Pair(std::minmax(i, j)));
}

PairScores LinkGraph::Scores() const {
  std::vector<std::optional<std::int32_t>> directed(links_.size());
  std::transform(links_.begin(), links_.end(), directed.begin(), ScoreOf);
  return {size_, directed};
}

std::vector<std::vector<std::size_t>> NvlinkIslands(const PairScores& scores,
                                                    const std::vector<std::size_t>& members) {
  std::vector<std::vector<std::size_t>> islands;
  std::vector<bool> seen(scores.size(), false);
  for (const std::size_t first : members) {
    if (seen[first]) continue;
    seen[first] = true;
    std::vector<std::size_t> island = {first};
    for (std::size_t next = 0; next < island.size(); ++next) {
      for (const std::size_t other : members) {
        const bool linked =
            scores.IsKnown(island[next], other) && scores.Get(island[next], other) >= kPerNvlink;
        if (seen[other] || !linked) continue;
        seen[other] = true;
        island.push_back(other);
      }
    }
    std::sort(island.begin(), island.end());
    islands.push_back(std::move(island));
  }
  return islands;
}

}  // namespace strata
