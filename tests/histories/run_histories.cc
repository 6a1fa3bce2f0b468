// The histories of a range of seeds:
//
//   strata_run_histories FIRST LAST    sums, and the seeds that broke a promise
//   strata_run_histories SEED          one, with everything that happened
//   strata_run_histories --evict ...   those with evictions
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "tests/histories/history.h"

namespace strata::histories {
namespace {

std::optional<std::uint64_t> ReadNumber(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

int RunOne(std::uint64_t seed, Plot plot) {
  const Report report = RunHistory(seed, plot);
  fmt::print("{}", report.trace);
  for (const std::string& problem : report.problems) fmt::print("BROKEN {}\n", problem);
  return report.problems.empty() ? 0 : 1;
}

int RunRange(std::uint64_t first, std::uint64_t last, Plot plot) {
  const auto begin = std::chrono::steady_clock::now();
  Broken sum;
  std::uint64_t binds = 0;
  std::uint64_t evictions = 0;
  std::uint64_t broken = 0;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const Report report = RunHistory(seed, plot);
    sum += report.broken;
    binds += static_cast<std::uint64_t>(report.binds);
    evictions += static_cast<std::uint64_t>(report.evictions);
    if (report.problems.empty()) continue;
    ++broken;
    fmt::print("seed {} ({} histories): {}\n", seed, seed - first + 1, report.problems.front());
    std::fflush(stdout);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const auto histories = static_cast<double>(last - first + 1);
  fmt::print(
      "histories {}-{}: {} broken, {} binds: {} lost, {} bound twice, {} half gangs, {} "
      "over-committed, {} created twice, {} without a lease; {} evictions: {} half, {} in vain; "
      "{:.1f} histories per second\n",
      first,
      last,
      broken,
      binds,
      sum.lost,
      sum.bound_twice,
      sum.half_gangs,
      sum.over_committed,
      sum.created_twice,
      sum.without_lease,
      evictions,
      sum.half_evicted,
      sum.in_vain,
      histories / took.count());
  return broken == 0 ? 0 : 1;
}

int Main(std::vector<std::string_view> arguments) {
  std::vector<std::uint64_t> seeds;
  const bool evicts = !arguments.empty() && arguments[0] == "--evict";
  const Plot plot = evicts ? Plot::kEvictions : Plot::kUsual;
  if (evicts) arguments.erase(arguments.begin());
  for (const std::string_view argument : arguments) {
    if (const auto number = ReadNumber(argument)) seeds.push_back(*number);
  }
  const bool read = seeds.size() == arguments.size();
  if (read && seeds.size() == 1) return RunOne(seeds[0], plot);
  if (read && seeds.size() == 2 && seeds[0] <= seeds[1]) return RunRange(seeds[0], seeds[1], plot);
  fmt::print(stderr, "usage: strata_run_histories [--evict] SEED, or FIRST LAST\n");
  return 2;
}

}  // namespace
}  // namespace strata::histories

int main(int argc, char** argv) {
  return strata::histories::Main({argv + 1, argv + argc});
}
