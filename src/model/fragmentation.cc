#include "model/fragmentation.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace strata {
namespace {

constexpr std::size_t kBest = 100;

// ln((1 + z) / (1 - z)), by its series: the same on every machine. REQUIRES: |z| < 1.
double LogOdds(double z) {
  double sum = 0;
  double power = z;
  for (double n = 1; sum + power / n != sum; n += 2) {
    sum += power / n;
    power *= z * z;
  }
  return 2 * sum;
}

// For each score from 1 to 99 the gain in GPUs from which on it is reached: the x of which
// 100 / (1 + e^-x) is the score.
std::array<double, kBest> MakeThresholds() {
  constexpr double kHalf = static_cast<double>(kBest) / 2;
  std::array<double, kBest> thresholds{};
  for (std::size_t score = 1; score < kBest; ++score) {
    thresholds[score] = LogOdds((static_cast<double>(score) - kHalf) / kHalf);
  }
  return thresholds;
}

}  // namespace

std::int64_t WholeFgdScore(std::int64_t gained, std::int64_t weight) {
  static const std::array<double, kBest> thresholds = MakeThresholds();
  const double gpus = static_cast<double>(gained) / (static_cast<double>(weight) * 1000);
  const auto* above = std::upper_bound(thresholds.begin() + 1, thresholds.end(), gpus);
  return static_cast<std::int64_t>(above - thresholds.begin()) - 1;
}

std::int64_t PlaceableGangs(std::span<const std::int64_t> slots, std::int64_t k) {
  std::int64_t gangs = 0;
  for (const std::int64_t free : slots) gangs += free / k;
  return gangs;
}

double RackLoss(std::span<const std::int64_t> slots, std::int64_t k) {
  const std::int64_t free = std::accumulate(slots.begin(), slots.end(), std::int64_t{0});
  if (free == 0) return 0;
  const std::int64_t usable = k * PlaceableGangs(slots, k);
  return static_cast<double>(free - usable) / static_cast<double>(free);
}

double Gini(std::vector<std::int64_t> slots) {
  std::sort(slots.begin(), slots.end());
  const auto count = static_cast<std::int64_t>(slots.size());
  std::int64_t sum = 0;
  std::int64_t ranked = 0;  // of (2 i - n - 1) x_i, i from 1
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t free = slots[static_cast<std::size_t>(i)];
    sum += free;
    ranked += (2 * i + 1 - count) * free;
  }
  if (sum == 0) return 0;
  return static_cast<double>(ranked) / (static_cast<double>(count) * static_cast<double>(sum));
}

double StrandedShare(std::int64_t stranded, std::int64_t free) {
  return free > 0 ? static_cast<double>(stranded) / static_cast<double>(free) : 0;
}

}  // namespace strata
